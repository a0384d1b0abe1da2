"""/console/sources/ID: one source. How it stands and why, its runs, URLs, documents and templates."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.hosts import decision_of_robots, robots_named
from headwater.errors import HeadwaterError, NotFound
from headwater.reports.discovery import DiscoveryOverview, Run, RunFilter, list_runs
from headwater.reports.explaining import SourceStory, story_of_source
from headwater.reports.freshness import DAYS, Delay, SourceFreshness
from headwater.reports.rollups import hours_of_sources
from headwater.serve.access.gate import Viewer
from headwater.serve.console.charts import heat_row, legend, week_map
from headwater.serve.console.components import (
    TableColumn,
    columns,
    empty_state,
    facts,
    notice,
    panel,
    table,
    tabs,
    way_on,
)
from headwater.serve.console.forms import action_button, button, form, hidden
from headwater.serve.console.overview import event_kind
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import (
    NOTHING,
    cut,
    due,
    duration,
    foreign,
    foreign_link,
    host_and_path,
    moment,
    number,
    percent,
    quantity,
    state,
)
from headwater.serve.console.source_list import SOURCES, next_run, push_state, source_path, told_interval
from headwater.serve.console.source_policy import policy_drawer
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic
from headwater.shapes.sources import scope_of
from headwater.sources.source import Source, SourceStatus
from headwater.sources.store import ChannelState, Happened

router = APIRouter(include_in_schema=False)

ONE = f"{SOURCES}/{{named}}"
ROWS, DOCUMENTS_SHOWN, POLLS_SHOWN, DAYS_OF_WEEK = 50, 25, 60, 28
RUN_TONES = {"ok": "h1", "warn": "warn", "fail": "fail"}
POLL_LEGEND = {"c1": "new items", "h1": "nothing new", "warn": "warning", "fail": "failed"}
RUN_RESULTS = (("", "All"), ("ok", "Fine"), ("warn", "With warnings"), ("fail", "Failed"))


def source_tabs(visit: PageVisit, source: Source) -> Markup:
    base = source_path(source.id)
    names = ("Runs", "URLs", "Documents", "Template", "Settings")
    return tabs([("Status", base), *((one, f"{base}/{one.lower()}") for one in names)], visit.query.path, "Source")


def source_actions(visit: PageVisit, source: Source) -> Markup:
    """What is done most, each a form of its own."""
    if not visit.may(Role.OPERATOR):
        return Markup("")
    verbs = (
        [("Pause", "pause", "p")] if source.status is SourceStatus.ACTIVE else [("Resume", "resume", "p")]
    )  # fmt: skip
    if source.status is SourceStatus.ACTIVE:
        verbs.insert(0, ("Run now", "run", "r"))
    made = [
        form(
            source_path(source.id, "do"),
            visit.csrf_token,
            hidden("do", verb),
            button(told, key=key),
            class_="one-button",
        )
        for told, verb, key in verbs
    ]
    tried = [
        action_button(source_path(source.id, "test"), visit.csrf_token, "Test fetch"),
        action_button(source_path(source.id, "simulate"), visit.csrf_token, "Simulate extract"),
    ]
    gone = source.status is SourceStatus.DELETED
    delete = action_button(source_path(source.id, "do"), visit.csrf_token, "Delete …", {"do": "delete"}, kind="danger")
    return joined(*made, *tried, "" if gone else delete)


async def page_of_source(
    visit: PageVisit, source: Source, main: Markup, *topics: Topic, status: int = 200
) -> HTMLResponse:
    """Its name, what is done to it, and its tabs, above a part of it."""
    lead = f"{source.profile.kind}, {source.profile.ingestion_mode}: {cut(source.profile.url, 200)}"
    actions = source_actions(visit, source)
    body = PageBody(cut(source.name, 200), joined(source_tabs(visit, source), main), lead, actions, topics)
    return await visit.page(body, status=status)


@router.get(ONE)
async def source_page(caller: Viewer, visit: Visited, named: str) -> Response:
    """Show how a source stands, and why it runs when it runs."""
    story = await story_of_source(visit.services.database, named)
    overview, source = story.overview, story.overview.source
    if named != str(source.id):
        return see_other(source_path(source.id))
    database = visit.services.database
    runs = await list_runs(database, RunFilter(source.id), POLLS_SHOWN)
    hours = (await hours_of_sources(database, [source.id], DAYS_OF_WEEK))[source.id]
    week = panel(
        "Its week",
        week_map(hours.week(), "New items by day of the week and hour of the day"),
        note=f"new items by the hour in UTC, the last {DAYS_OF_WEEK} days",
        id_="week",
    )
    main = joined(
        _problems(story),
        columns(_standing(visit, overview, runs), _schedule(visit, overview)),
        _channels(visit, overview),
        columns(week, _freshness(story.freshness)),
        columns(await _robots(visit, overview), await policy_drawer(visit, source.profile.address.host)),
        _events(visit, story.events),
    )
    return await page_of_source(visit, source, main, Topic.RUNS, Topic.STATS)


def _problems(story: SourceStory) -> Markup:
    told = [
        notice("fail" if one.grade == "error" else "warn", foreign(one.what, 300), " ", way_on(one.fix, 300))
        for one in story.overview.health.problems
    ]
    told += [notice("warn", foreign(one, 400)) for one in story.limits]
    return element("div", *told, class_="live stack", id="problems") if told else Markup("")


def _standing(visit: PageVisit, one: DiscoveryOverview, runs: Sequence[Run]) -> Markup:
    source, now = one.source, visit.now
    strip = [_poll_cell(run) for run in reversed(runs)]
    fine = sum(run.status == "ok" for run in runs)
    told = facts([
        ("Health", joined(state(one.health.word), element("span", foreign(one.health.reason, 300), class_="under"))),
        ("Last run", moment(source.last_run_at, now)),
        ("Said", foreign(source.last_run_message or "–", 300)),
        ("Errors in a row", number(one.errors)),
        ("Followed since", moment(source.created_at, now)),
        ("Which pages", foreign(scope_of(one), 400)),
    ])  # fmt: skip
    polls = (
        joined(
            element("p", f"{quantity(len(runs), 'poll')}, {percent(fine, len(runs))} of them fine", class_="note"),
            heat_row(strip, f"Its last {len(runs)} polls, the newest at the right"),
            legend(POLL_LEGEND),
        )
        if runs
        else element("p", "It was not polled yet.", class_="note")
    )
    return panel("How it stands", told, element("div", polls, class_="polls"), note="now", id_="standing")


def _poll_cell(run: Run) -> tuple[str, str]:
    tone = "c1" if run.status == "ok" and run.inserted else RUN_TONES.get(run.status, "h1")
    return tone, f"{run.at:%d %b %H:%M} UTC: {cut(run.message, 120)}"


def _schedule(visit: PageVisit, one: DiscoveryOverview) -> Markup:
    """Why it runs when it runs."""
    profile, following = one.source.profile, one.next
    window = f"{profile.time_window} {cut(profile.timezone or 'UTC', 60)}" if profile.time_window else "any time"
    why = foreign(following.next_reason, 400) if following else foreign(one.health.reason, 300)
    return panel(
        "Why it runs when it runs",
        facts([
            ("Next run", next_run(one, visit)),
            ("Because", why),
            ("Interval now", told_interval(one)[0]),
            ("Interval set", duration(profile.poll_every) if profile.poll_every else Markup("none: it is learned")),
            ("Policy", Markup(str(profile.policy or "the usual one"))),
            ("Crawl frequency", Markup(f"{profile.crawl_frequency_days:g} days") if profile.crawl_frequency_days
             else NOTHING),
            ("Time window", Markup(window)),
            ("Priority", number(profile.priority)),
        ]),
        note="now",
        id_="schedule",
    )  # fmt: skip


def _channels(visit: PageVisit, one: DiscoveryOverview) -> Markup:
    now = visit.now
    made = [
        TableColumn[ChannelState]("Channel", _channel_named, "main"),
        TableColumn[ChannelState]("State", lambda it: _channel_state(one, it), "tight"),
        TableColumn[ChannelState]("Items", lambda it: number(it.last_item_count), "number"),
        TableColumn[ChannelState]("Errors", lambda it: number(it.consecutive_errors), "number"),
        TableColumn[ChannelState]("Interval", lambda it: duration(it.poll_interval), "tight"),
        TableColumn[ChannelState]("Next", lambda it: due(it.next_poll_at, now) if it.is_active else NOTHING, "tight"),
        TableColumn[ChannelState]("Last new", lambda it: moment(it.last_new_at, now), "tight"),
        TableColumn[ChannelState]("Push", lambda it: push_state(it.push, now) if it.push else NOTHING, "tight"),
    ]
    empty = empty_state("It has no channel yet: a poller looks for them.")
    return panel("Channels", table(made, one.channels, "Channels", empty=empty), note="what is polled", id_="channels")


def _channel_named(it: ChannelState) -> Markup:
    reason = it.next_reason if it.is_enabled else it.disabled_reason or ""
    told = it.last_error or reason
    return joined(
        element("span", str(it.kind), class_="badge"), " ", foreign_link(it.url),
        element("span", foreign(told, 240), class_="under"),
    )  # fmt: skip


def _channel_state(one: DiscoveryOverview, it: ChannelState) -> Markup:
    if it.is_running:
        return state("running")
    if one.is_taken_down(it):
        return state("taken down")
    if not it.is_enabled:
        return state("paused", "switched off")
    if not it.is_active:
        return state("paused", "rests")
    return state("warn", "failing") if it.consecutive_errors else state("ok", "polled")


def _freshness(found: SourceFreshness) -> Markup:
    """How late it is found and delivered, and what its polls cost."""
    rows = [
        ("Publication to discovery", found.discovery),
        *((f"Change to {one.sink}", one.delay) for one in found.sinks),
    ]
    made = [
        TableColumn[tuple[str, Delay]]("Delay", lambda it: foreign(it[0], 80), "main"),
        TableColumn[tuple[str, Delay]]("Of", lambda it: number(it[1].count), "number"),
        TableColumn[tuple[str, Delay]]("Half within", lambda it: duration(it[1].p50), "number"),
        TableColumn[tuple[str, Delay]]("95 % within", lambda it: duration(it[1].p95), "number"),
    ]
    polls = f"{found.polls:.0f} polls lately, {found.vain_polls:.0f} of them brought nothing new"
    each = f"; {found.polls_per_item:g} for each new item" if found.polls_per_item is not None else ""
    note = element("p", f"{polls}{each}. Lately: fading with half of 14 days.", class_="note")
    return panel("Freshness", table(made, rows, "Delays"), note, note=f"items of the last {DAYS} days", id_="freshness")


async def _robots(visit: PageVisit, one: DiscoveryOverview) -> Markup:
    """By what is stored of robots.txt now; what it does not say yet is asked before the first page."""
    urls = dict.fromkeys((one.source.profile.url, *(it.url for it in one.channels if it.is_enabled)))
    rows = [(url, await _allowed(visit, url)) for url in list(urls)[:10]]
    made = [element("tr", element("th", host_and_path(url), scope="row"), element("td", told)) for url, told in rows]
    heads = element("thead", element("tr", element("th", "Address", scope="col"), element("th", "Now", scope="col")))
    caption = element("caption", "What robots.txt allows", class_="unseen")
    listed = element("table", caption, heads, element("tbody", *made))
    return panel("robots.txt", element("div", listed, class_="table-frame"),
                 note="as it was last asked", id_="robots")  # fmt: skip


async def _allowed(visit: PageVisit, url: str) -> Markup:
    try:
        rows = await robots_named(visit.services, url.partition("://")[2].partition("/")[0])
        decision = decision_of_robots(visit.services, rows, url)
    except NotFound:
        return state("unknown", "not asked yet")
    except HeadwaterError as error:
        return state("unknown", cut(error.what, 120))
    asked = joined("asked ", moment(rows[0]["fetched_at"], visit.now))
    if decision.allowed:
        return joined(state("ok", "allowed"), element("span", asked, class_="under"))
    line = f"line {decision.line_number}: {cut(decision.rule_text, 120)}" if decision.rule_text else "by its answer"
    return joined(state("blocked", "forbidden"), element("span", line, class_="under"))


def _events(visit: PageVisit, events: Sequence[Happened]) -> Markup:
    made = [
        TableColumn[Happened]("When", lambda one: moment(one.at, visit.now), "tight"),
        TableColumn[Happened]("Kind", event_kind, "tight"),
        TableColumn[Happened]("What", lambda one: foreign(one.event.message, 240), "main"),
        TableColumn[Happened]("By", lambda one: foreign(one.event.actor, 40), "tight"),
    ]
    listed = table(made, events, "Events", empty=empty_state("Nothing has happened to it."))
    return panel("What happened to it", listed, note=f"the newest {len(events)}", id_="events")
