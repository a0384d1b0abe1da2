"""/console/hosts: whom we visit, how fast, who decided that, and what their robots.txt says."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.hosts import (
    HostStory,
    clear_host_policy,
    decision_of_robots,
    page_of_hosts,
    refetch_robots,
    rights_of_host,
    robots_named,
    set_host_policy,
    story_of_host,
)
from headwater.errors import HeadwaterError, NotFound, UsageError
from headwater.politeness.hosts import HostPolicy, host_named
from headwater.reports.frontier import HostState, health_of_host
from headwater.rights.record import rights_in_words
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import (
    TableColumn,
    columns,
    empty_state,
    facts,
    filter_bar,
    folded,
    link,
    notice,
    pager,
    panel,
    segments,
    table,
)
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    action_button,
    button,
    choice_field,
    confirm_form,
    error_summary,
    form,
    text_field,
)
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import (
    NOTHING,
    cut,
    due,
    foreign,
    foreign_lines,
    foreign_link,
    milliseconds,
    moment,
    number,
    percent,
    state,
)
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic
from headwater.shapes.hosts import policy_as_dict, robots_as_dict

router = APIRouter(include_in_schema=False)

PATH = "/console/hosts"
ROWS = 50
LONGEST_ROBOTS = 60_000
STATES = (
    ("", "All"),
    *(
        ("open", "Open"),
        ("waiting", "Waiting"),
        ("asked", "Being asked"),
        ("closed", "Closed"),
        ("doubted", "In doubt"),
    ),
    *(("slowed", "Slowed down"), ("policy", "With a policy"), ("crawl_delay", "With a Crawl-delay"), ("idle", "Idle")),
)
Row = Mapping[str, Any]
NUMBERS = {
    "max_concurrency": "Requests at once",
    "min_request_interval_ms": "Milliseconds between requests",
    "burst": "Requests at once after a pause",
    "max_pages": "Pages of one run",
    "max_kb_per_page": "Largest page, kB",
}


def host_path(host: str) -> str:
    return f"{PATH}/{quote(host, safe='')}"


@router.get(PATH)
async def hosts_page(caller: Viewer, visit: Visited) -> Response:
    """List hosts; a name leads to its page."""
    if visit.query.get("host"):
        return see_other(host_path(host_named(visit.query.get("host"))))
    state_ = visit.query.get("state")
    wanted = HostState(state_) if state_ in {*HostState} else None
    page = await page_of_hosts(visit.services, ROWS, visit.query.get("cursor") or None, wanted)
    made = [
        TableColumn[Row]("Host", lambda one: link(foreign(one["host"], 100), host_path(one["host"])), "main"),
        TableColumn[Row]("Health", lambda one: state(health_of_host(one))),
        TableColumn[Row]("State", _state),
        TableColumn[Row]("Delay", lambda one: milliseconds(one["delay_ms"]), "number"),
        TableColumn[Row]("Now", lambda one: Markup(f"{one['in_flight']} of {one['max_concurrency']}"), "number"),
        TableColumn[Row]("Last fetch", lambda one: moment(one["last_fetch_at"], visit.now)),
        TableColumn[Row]("Requests", lambda one: number(one["requests"]), "number"),
        TableColumn[Row]("Failed", lambda one: number(one["failed"]), "number"),
        TableColumn[Row]("429 and 503", lambda one: number(one["rate_limited"]), "number"),
        TableColumn[Row]("HTTP", lambda one: Markup(str(one["last_status"] or "–")), "number"),
    ]
    empty = (
        empty_state("No host is in this state." if page.cursor is None else "None of the hosts looked at so far.")
        if wanted
        else empty_state("Hosts appear when their first URL is found.", link("Add a source", "/console/sources/add"))
    )
    named = text_field("host", "Host", "", placeholder="harbour.example", required="required")
    main = joined(
        segments(visit.query, "state", [(word, told, None) for word, told in STATES], "State"),
        filter_bar(visit.query, named, verb="Open"),
        table(made, page.items, "Hosts", empty=empty, id_="hosts"),
        pager(visit.query, len(page.items), page.cursor),
    )
    lead = "In the order of their keys. Each is asked at its own pace, by all processes together."
    return await visit.page(PageBody("Hosts", main, lead, topics=(Topic.FRONTIER,)))


def _state(one: Row) -> Markup:
    if one["closed_by"]:
        return state(cut(one["closed_by"], 60), tone="paused")
    if one["in_flight"]:
        return state("asked now", tone="ok")
    if one["is_open"]:
        return state("open", tone="ok")
    return state("has not answered", tone="warn") if one["is_doubted"] else state("waiting or idle", tone="paused")


@router.get(f"{PATH}/{{host}}")
async def host_page(caller: Viewer, visit: Visited, host: str) -> HTMLResponse:
    """Show a host: pace, policy, robots.txt."""
    story = await story_of_host(visit.services, host)
    name = str(story.row["host"])
    main = joined(
        columns(_now(story), _requests(story)),
        _closures(story),
        _policy(visit, story, policy_as_dict(story)["own"]),
        await _robots(visit, name),
        _rights(await rights_of_host(visit.services, name)),
    )
    urls = link("Its URLs", f"/console/frontier?host={quote(name, safe='')}", class_="button")
    taken = link("Take down", f"/console/settings/takedowns?pattern={quote(name, safe='')}", class_="button")
    actions = joined(urls, taken if visit.may(Role.OPERATOR) else "")
    return await visit.page(PageBody(cut(name, 100), main, actions=actions, topics=(Topic.FRONTIER,)))


def _now(story: HostStory) -> Markup:
    row = story.row
    told = facts([
        ("Delay now", paced(story.pace.delay.total_seconds() * 1000, story.pace.decided_by)),
        ("Penalty", milliseconds(row["penalty_ms"]) if row["penalty_ms"] else NOTHING),
        ("Being asked", Markup(f"{row['in_flight']} of {row['max_concurrency']}")),
        ("Next slot", _from_now(row["next_slot_at"], story.now)),
        ("Wakes", _from_now(row["wake_at"], story.now) if row["wake_at"] else Markup("nothing waits")),
        ("Last fetch", moment(row["last_fetch_at"], story.now)),
        ("Address", foreign(row["address"] or "–", 60)),
    ])  # fmt: skip
    return panel("Pace", told, note="now", id_="pace")


def _from_now(at: datetime | None, now: datetime) -> Markup:
    """What is past could be now."""
    return due(at, now) if at and at > now else Markup("now")


def paced(delay_ms: float, decided_by: str) -> Markup:
    return joined(milliseconds(delay_ms), f", by the {cut(decided_by)}")


def _requests(story: HostStory) -> Markup:
    row = story.row
    asked, went_well = row["requests"] or 0, row["succeeded"] or 0
    told = facts([
        ("Requests", number(asked)),
        ("Went well", joined(number(went_well), f", {percent(went_well, asked)}")),
        ("Failed", number(row["failed"] or 0)),
        ("429 and 503", number(row["rate_limited"] or 0)),
        ("Last answer", Markup(str(row["last_status"] or "–"))),
        ("In doubt", state("did not answer at the last try", tone="warn") if row["is_doubted"] else Markup("no")),
    ])  # fmt: skip
    return panel("Requests", told, note="since it is known")


def _closures(story: HostStory) -> Markup:
    if not story.closures:
        return Markup("")
    made = [
        TableColumn[Any]("Why", lambda one: foreign(one["reason"], 120), "main"),
        TableColumn[Any]("Until", lambda one: due(one["until"], story.now)),
    ]
    return panel("Closed", table(made, list(story.closures), "Reasons for which it is closed"), id_="closed")


def _policy(visit: PageVisit, story: HostStory, own: Mapping[str, Any], *errors: str) -> Markup:
    """What a person set, beside the value that holds."""
    holds = policy_as_dict(story)
    name = str(story.row["host"])
    rows = [
        ("Time between requests", paced(holds["effective_delay_ms"], holds["decided_by"])),
        *((told, number(holds[key])) for key, told in NUMBERS.items() if key != "min_request_interval_ms"),
        ("Pages rendered in a browser", Markup("yes" if holds["allow_js"] else "no")),
    ]  # fmt: skip
    if not visit.may(Role.OPERATOR):
        return panel("Policy", facts(rows), note="as it holds now", id_="policy")
    renders = "" if own["allow_js"] is None else "yes" if own["allow_js"] else "no"
    fields = [
        text_field(
            key, told, "" if own[key] is None else str(own[key]), inputmode="numeric", placeholder=str(holds[key])
        )
        for key, told in NUMBERS.items()
    ]
    asked = form(
        f"{host_path(name)}/policy",
        visit.csrf_token,
        error_summary(*errors) if errors else "",
        *fields,
        choice_field("allow_js", "Render pages", [("", "usual"), ("yes", "yes"), ("no", "no")], renders),
        element("div", button("Set", kind="primary"), class_="buttons"),
        class_="form",
    )
    note = element("p", "An empty field stays as it is. No policy is quicker than robots.txt allows.", class_="note")
    clear = action_button(f"{host_path(name)}/policy/clear", visit.csrf_token, "Take back all of it", kind="quiet")
    change = folded("Change it", note, asked, clear, is_open=bool(errors))
    return panel("Policy", facts(rows), change, note="as it holds now", id_="policy")


@router.post(f"{PATH}/{{host}}/policy")
async def set_policy_by_form(caller: Operator, visit: Visited, host: str, fields: Fields) -> Response:
    """Set what is given of a host's policy."""
    story = await story_of_host(visit.services, host)
    try:
        await set_host_policy(visit.services, host, policy_in(fields))
    except UsageError as error:
        own = {key: fields.get(key) or None for key in NUMBERS} | {"allow_js": _choice(fields)}
        body = _policy(visit, story, own, f"{error.what} {error.fix}")
        return await visit.page(PageBody(cut(host, 100), body), status=422)
    return see_other(host_path(str(story.row["host"])), "The policy is set: the next request obeys it.")


def policy_in(fields: FormFields) -> HostPolicy:
    """Raises UsageError."""
    given = {key: _number(told, fields.get(key)) for key, told in NUMBERS.items()}
    policy = HostPolicy(**given, allow_js=_choice(fields))
    if policy == HostPolicy():
        raise UsageError("Nothing was asked for.", fix="Fill in one of the fields.")
    return policy


def _choice(fields: FormFields) -> bool | None:
    return {"yes": True, "no": False}.get(fields.get("allow_js"))


def _number(told: str, text: str) -> int | None:
    if text and not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise UsageError(f"{told}: {cut(text, 40)!r} is no whole number.")
    return int(text) if text else None


@router.post(f"{PATH}/{{host}}/policy/clear")
async def clear_policy_by_form(caller: Operator, visit: Visited, host: str, fields: Fields) -> Response:
    """Take back a host's policy: the defaults hold again."""
    path = host_path(host)
    if not fields.is_confirmed:
        asked = confirm_form(
            f"{path}/policy/clear", visit.csrf_token, fields.again(), f"The policy of {cut(host, 100)}",
            "The defaults hold again, with what robots.txt says.", verb="Take it back", back=path,
        )  # fmt: skip
        return await visit.page(PageBody("Take back the policy?", asked))
    await clear_host_policy(visit.services, host)
    return see_other(path, "The defaults hold again.")


async def _robots(visit: PageVisit, host: str) -> Markup:
    anew = (
        action_button(f"{host_path(host)}/robots", visit.csrf_token, "Fetch it anew")
        if visit.may(Role.OPERATOR)
        else Markup("")
    )
    try:
        rows = await robots_named(visit.services, host)
    except NotFound as error:
        return panel("robots.txt", empty_state(f"{error.what} It is asked for before the first page."), actions=anew)
    check = visit.query.get("check")
    place = text_field("check", "May we fetch this URL or path?", cut(check, 2_000))
    asked = filter_bar(visit.query, place, verb="Check")
    told = [_robots_of(visit, row) for row in rows]
    return panel("robots.txt", asked, _decided(visit, rows, check), *told, actions=anew, id_="robots")


@router.post(f"{PATH}/{{host}}/robots")
async def refetch_robots_by_form(caller: Operator, visit: Visited, host: str) -> Response:
    """Ask a host for its robots.txt anew."""
    done = await refetch_robots(visit.services, host)
    if done.asked:
        return see_other(host_path(host_named(host)), "Its robots.txt was asked for anew.")
    return see_other(host_path(host_named(host)), "Its pace allows it later: it is asked for before the next request.")


def _decided(visit: PageVisit, rows: Sequence[Any], check: str) -> Markup:
    if not check:
        return Markup("")
    try:
        decision = decision_of_robots(visit.services, rows, check)
    except HeadwaterError as error:
        return notice("warn", cut(error.what), f" {cut(error.fix)}")
    by = f"line {decision.line_number}: {cut(decision.rule_text)}" if decision.rule_text else "no line is about it"
    return notice("ok" if decision.allowed else "blocked", "Allowed, " if decision.allowed else "Forbidden, ", by)


def _rights(found: Mapping[str, Any]) -> Markup:
    """What holds for its start page; a page may say more of itself."""
    said = found["statements"]
    if not said:
        told = element("p", "It says nothing about uses of its pages, as far as it was asked.", class_="note")
        return panel("Rights", told)
    made = [
        TableColumn[Row]("Said in", lambda one: foreign(one["place"], 60), "main"),
        TableColumn[Row]("Words", lambda one: foreign(one["said"], 300)),
        TableColumn[Row]("Allows", lambda one: Markup(", ".join(one["allowed"]) or "–")),
        TableColumn[Row]("Refuses", lambda one: Markup(", ".join(one["refused"]) or "–")),
        TableColumn[Row]("Licence", lambda one: foreign_link(one["licence"]) if one["licence"] else NOTHING),
    ]
    told = element("p", rights_in_words(found) or "Nothing that we know of.")
    return panel("Rights", told, table(made, said, "What it says about uses of its pages"), note="of its start page")


def _robots_of(visit: PageVisit, row: Row) -> Markup:
    told = robots_as_dict(row)
    wait = timedelta(milliseconds=told["crawl_delay_ms"]) if told["crawl_delay_ms"] else None
    shown = facts([
        ("Origin", foreign(f"{told['scheme']}://{told['host']}:{told['port']}", 120)),
        ("Fetched", moment(told["fetched_at"], visit.now)),
        ("Crawl-delay", milliseconds(wait.total_seconds() * 1000) if wait else NOTHING),
    ])  # fmt: skip
    text = (
        foreign_lines(told["text"], LONGEST_ROBOTS) if told["text"] else element("p", "It is empty, or there is none.")
    )
    return joined(shown, folded("The text", text))
