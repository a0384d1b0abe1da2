"""/console/crawl: who works, what is due, what ran; and a switch for everything."""

from collections.abc import Sequence
from datetime import timedelta

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater import __version__
from headwater.accounts.role import Role
from headwater.actions.pausing import pause_everything, resume_everything
from headwater.actions.workers import DRAINED, drain_worker, resume_worker
from headwater.errors import HeadwaterError
from headwater.frontier.pause import LONGEST_REASON, read_pause
from headwater.reports.discovery import DiscoverySummary, Run, RunFilter, Scheduled, schedule, summary, upcoming_polls
from headwater.reports.frontier import HostsNow
from headwater.reports.operations import Operations, RoleProcess, WorkerState, operations_now
from headwater.reports.paging import ListPage, page_of_runs
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api.crawl import begin_run_due
from headwater.serve.console.charts import ChartLine, ChartOfTime, bar_chart
from headwater.serve.console.components import (
    TableColumn,
    columns,
    empty_state,
    facts,
    filter_bar,
    link,
    pager,
    panel,
    segments,
    table,
)
from headwater.serve.console.forms import Fields, action_button, button, confirm_form, form, hidden, text_field
from headwater.serve.console.keeping import lately
from headwater.serve.console.log_page import CRAWL, crawl_tabs
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import (
    cut,
    due,
    duration,
    foreign,
    milliseconds,
    moment,
    number,
    quantity,
    state,
)
from headwater.serve.console.strip import KEPT_SECONDS, totals_lately
from headwater.serve.console.visit import PageVisit, Visited, local_path, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork
from headwater.serve.topics import Topic
from headwater.sources.finding import find_source

router = APIRouter(include_in_schema=False)

PAUSE, RESUME, RUN_DUE = f"{CRAWL}/pause", f"{CRAWL}/resume", f"{CRAWL}/run-due"
DRAIN_WORKER, RESUME_WORKER = f"{CRAWL}/drain", f"{CRAWL}/work-again"
PROCESS_TONES = {
    WorkerState.ALIVE: "ok",
    WorkerState.FAILING: "warn",
    WorkerState.DRAINING: "warn",
    WorkerState.DRAINED: "paused",
    WorkerState.SILENT: "fail",
}
RUNS_SHOWN, UPCOMING_SHOWN = 50, 5
UPCOMING_MINUTES = 60
RESULTS = (("", "All"), ("ok", "Fine"), ("warn", "With warnings"), ("fail", "Failed"))
AGES = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7)}
NOTHING = Markup("")


@router.get(CRAWL)
async def crawl_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """The roles at work, what is due, and the log of runs."""
    database = visit.services.database
    app = visit.request.app
    found = await lately(app, "summary", KEPT_SECONDS, lambda: summary(database))
    hosts, now = (await totals_lately(app, database)).hosts, await operations_now(database)
    runs, wrong = await _runs(visit)
    upcoming = await lately(app, "upcoming", KEPT_SECONDS, lambda: upcoming_polls(database, UPCOMING_MINUTES))
    body = joined(
        crawl_tabs(CRAWL),
        columns(_work(found, hosts, now, visit), _upcoming(upcoming, await schedule(database, UPCOMING_SHOWN), visit)),
        _roles(now, visit),
        _log(runs, wrong, visit),
    )
    # A page of older runs stays as it is.
    topics = () if visit.query.get("cursor") else (Topic.RUNS, Topic.STATS)
    lead = "Who works, what is due, and what ran."
    return await visit.page(PageBody("Crawl", body, lead, _switches(now, visit), topics))


def _switches(now: Operations, visit: PageVisit) -> Markup:
    if not visit.may(Role.OPERATOR):
        return NOTHING
    if now.pause:
        return action_button(RESUME, visit.csrf_token, "Resume everything", kind="primary")
    return joined(
        action_button(RUN_DUE, visit.csrf_token, "Run due now"),
        action_button(PAUSE, visit.csrf_token, "Pause everything"),
    )


def _work(found: DiscoverySummary, hosts: HostsNow, now: Operations, visit: PageVisit) -> Markup:
    pool = f" of {visit.services.settings.poll.jobs_pool:,} for job sources"
    asked = sum(now.requests.values())
    return panel(
        "Work",
        facts(
            [
                ("Channels due", number(found.due)),
                ("Channels being polled", joined(number(found.polling), pool)),
                ("Hosts being asked", number(hosts.busy)),
                ("Hosts that may be asked", link(quantity(hosts.open, "host"), "/console/hosts?state=open")),
                ("Hosts within their delay", number(hosts.waiting)),
                ("Next host", joined("in ", duration(hosts.next_in)) if hosts.next_in is not None else "–"),
                ("Requests, last hour", number(asked)),
                (
                    "Polls, 24 h",
                    joined(number(found.runs), f", {found.failed_runs:,} failed, {found.found:,} new items"),
                ),
            ]
        ),
        note="now",
        id_="work",
    )


def _upcoming(minutes: Sequence[int], coming: Sequence[Scheduled], visit: PageVisit) -> Markup:
    start = visit.now.replace(second=0, microsecond=0)
    window = "the next hour by the minute"
    line = [ChartLine("channels due", "c1", minutes)]
    rows = [
        TableColumn[Scheduled](
            "Source", lambda one: link(foreign(one.source, 60), f"/console/sources/{one.source_id}"), "main"
        ),
        TableColumn[Scheduled]("Kind", lambda one: one.kind, "tight"),
        TableColumn[Scheduled]("Due", lambda one: due(one.next_poll_at, visit.now), "tight"),
    ]
    listed = table(rows, coming, "Next polls", empty=empty_state("No channel is polled."))
    chart = bar_chart(ChartOfTime("Upcoming polls", window, start, timedelta(minutes=1), line))
    return panel("Upcoming", chart, listed, note=window, id_="upcoming")


def _roles(now: Operations, visit: PageVisit) -> Markup:
    rows = [
        TableColumn[RoleProcess](
            "Process",
            lambda one: joined(
                element("strong", one.role), element("span", f"{cut(one.host, 60)}, {one.pid}", class_="under")
            ),
            "main",
        ),
        TableColumn[RoleProcess]("State", _process_state),
        TableColumn[RoleProcess]("Does", lambda one: ", ".join(one.does)),
        TableColumn[RoleProcess]("Version", version_of),
        TableColumn[RoleProcess]("Fails at", lambda one: foreign(", ".join(one.failing), 80) if one.failing else "–"),
        TableColumn[RoleProcess]("In hand", lambda one: number(one.under_way), "number"),
        TableColumn[RoleProcess]("Started", lambda one: moment(one.started_at, visit.now), "tight"),
        TableColumn[RoleProcess]("Heartbeat", lambda one: moment(one.beat_at, visit.now), "tight"),
    ]
    if visit.may(Role.OPERATOR):
        rows.append(TableColumn[RoleProcess]("Change", lambda one: _drain_button(one, visit)))
    empty = empty_state("No process works.", element("code", "headwater up"))
    alive = len(now.alive)
    return panel(
        "Roles",
        table(rows, now.processes, "Processes", empty=empty),
        note=f"{quantity(alive, 'process', 'processes')} alive, now",
        id_="roles",
    )


def _process_state(one: RoleProcess) -> Markup:
    asked = f"by {cut(one.drain_asked_by, 60)}" if one.drain_asked_by else ""
    told = state(one.state, tone=PROCESS_TONES[one.state])
    return joined(told, element("span", asked, class_="under")) if asked else told


def _drain_button(one: RoleProcess, visit: PageVisit) -> Markup:
    if not one.is_alive or not DRAINED & set(one.does):
        return NOTHING
    place, told = (RESUME_WORKER, "Let it work") if one.drain_asked_at else (DRAIN_WORKER, "Drain")
    return action_button(place, visit.csrf_token, told, {"worker": str(one.id)}, about=f"{one.role} {one.pid}")


def version_of(one: RoleProcess) -> Markup:
    """Of another version than this role: a roll-out that is under way, or was forgotten."""
    if one.version == __version__:
        return Markup(cut(one.version, 40))
    return state("warn", f"{cut(one.version, 40)}, here {__version__}")


async def _runs(visit: PageVisit) -> tuple[ListPage[Run], str]:
    """And what was wrong with the filters."""
    query = visit.query
    wanted_status = query.get("status") if query.get("status") in {word for word, _ in RESULTS} else ""
    age = AGES.get(query.get("since"))
    try:
        named = query.get("source")
        source_id = (await find_source(visit.services.database, named)).id if named else None
        wanted = RunFilter(source_id, wanted_status or None, visit.now - age if age else None)
        return await page_of_runs(visit.services.database, wanted, RUNS_SHOWN, query.get("cursor") or None), ""
    except HeadwaterError as error:
        return ListPage([]), error.what


def _log(page: ListPage[Run], wrong: str, visit: PageVisit) -> Markup:
    query = visit.query
    rows = [
        TableColumn[Run](
            "Source",
            lambda one: joined(
                link(foreign(one.source, 60), f"/console/sources/{one.source_id}"),
                element("span", foreign(one.message, 160), class_="under"),
            ),
            "main",
        ),
        TableColumn[Run](
            "Result",
            lambda one: state(
                one.status, {"ok": "fine", "warn": "warning", "fail": "failed"}.get(one.status, one.status)
            ),
        ),
        TableColumn[Run]("When", lambda one: moment(one.at, visit.now), "tight"),
        TableColumn[Run]("Kind", lambda one: joined(one.kind, element("span", one.trigger, class_="under")), "tight"),
        TableColumn[Run]("Found", lambda one: number(one.found), "number"),
        TableColumn[Run]("New", lambda one: number(one.inserted), "number"),
        TableColumn[Run]("Updated", lambda one: number(one.updated), "number"),
        TableColumn[Run]("Skipped", lambda one: number(one.skipped), "number"),
        TableColumn[Run]("Errors", lambda one: number(one.errors), "number"),
        TableColumn[Run]("Took", lambda one: milliseconds(one.duration_ms), "number"),
    ]
    ages = [("", "Ever", None), *((word, f"Last {word}", None) for word in AGES)]
    empty = empty_state(wrong or "No run matches.", link("Clear filters", CRAWL) if query.values else NOTHING)
    listed = table(rows, page.items, "Runs", empty=empty, id_="runs")
    return element(
        "section",
        element("h2", "Runs"),
        element(
            "div",
            segments(query, "status", [(word, told, None) for word, told in RESULTS], "Result"),
            segments(query, "since", ages, "Time"),
            filter_bar(
                query, text_field("source", "Source", query.get("source"), error=wrong), keeps=("status", "since")
            ),
            class_="bar",
        ),
        listed,
        pager(query, len(page.items), page.cursor),
        class_="stack",
    )


@router.post(PAUSE)
async def pause_all(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Ask for a reason, then pause everything."""
    if not fields.is_confirmed:
        return await visit.page(PageBody("Pause everything?", _pause_form(visit)))
    await pause_everything(visit.services.database, caller.name, fields.get("reason"))
    return see_other(CRAWL, "Everything is paused. What is under way ends.")


def _pause_form(visit: PageVisit) -> Markup:
    return form(
        PAUSE,
        visit.csrf_token,
        element(
            "p",
            "Nothing new is polled or fetched, by any process, until somebody resumes it. Sinks are still filled.",
        ),
        text_field("reason", "Why", maxlength=str(LONGEST_REASON), hint="For those who wonder."),
        hidden("confirmed", "yes"),
        element("div", button("Pause everything", kind="danger"), link("Cancel", CRAWL), class_="buttons"),
        class_="confirm",
    )


@router.post(DRAIN_WORKER)
async def drain_worker_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Let a process take on no more work."""
    if not fields.is_confirmed:
        facts_ = ("It hears so within ten seconds, ends what it has in hand, and keeps running.", "Others do its work.")
        asked = confirm_form(DRAIN_WORKER, visit.csrf_token, fields.again(), *facts_, verb="Drain it", back=CRAWL)
        return await visit.page(PageBody("Drain this process?", asked))
    found = await drain_worker(visit.services, fields.get("worker"), caller.name)
    return see_other(CRAWL, f"The process {found.pid} on {cut(found.host, 60)} takes on no more within ten seconds.")


@router.post(RESUME_WORKER)
async def resume_worker_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Let a drained process take on work again."""
    found = await resume_worker(visit.services, fields.get("worker"), caller.name)
    return see_other(CRAWL, f"The process {found.pid} on {cut(found.host, 60)} works again within ten seconds.")


@router.post(RESUME)
async def resume_all(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Let everything go on."""
    was_paused = await resume_everything(visit.services.database, caller.name)
    told = "Everything goes on within seconds." if was_paused else "Nothing was paused."
    return see_other(local_path(fields.get("next"), CRAWL), told)


@router.post(RUN_DUE)
async def run_due_now(caller: Operator, visit: Visited, work: LongWork) -> Response:
    """Poll every channel that is due, once."""
    if await read_pause(visit.services.database):
        return see_other(CRAWL, "Everything is paused: nothing was polled.")
    await begin_run_due(visit.services, work, caller.name)
    return see_other(CRAWL, "What is due is polled now, beside the pollers that run.")
