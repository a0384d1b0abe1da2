"""The list of problems: what is wrong, since when, and one thing to do about each. Pure, but for its buttons."""

from collections.abc import Sequence
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.delivery import resume_sink, retry_sink
from headwater.actions.sources import poll_sources, stop_sources
from headwater.actions.standing import all_problems
from headwater.reports.operations import MACHINERY, QUEUE
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import empty_state, link, way_on
from headwater.serve.console.crawl_page import RESUME
from headwater.serve.console.forms import Fields, action_button
from headwater.serve.console.keeping import lately
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, moment, state
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.sources.health import HealthProblem, Severity
from headwater.sources.source import SourceStatus

router = APIRouter(include_in_schema=False)

HOME, PROBLEMS = "/console", "/console/problems"
HOSTS = "/console/hosts/"
MOST_SHOWN, KEPT_SECONDS = 200, 15.0
RESUME_SINK, RETRY_SINK = "/console/problems/resume-sink", "/console/problems/retry-sink"
RESUME_SOURCE, POLL_SOURCE = "/console/problems/resume-source", "/console/problems/poll-source"
SINK = "sink "
SINK_ACTIONS = {
    "sink_down": (RESUME_SINK, "Go on now"),
    "sink_disabled": (RESUME_SINK, "Resume"),
    "sink_left_behind": (RESUME_SINK, "Go on now"),
    "sink_parked": (RETRY_SINK, "Retry"),
}
# A poll may mend them, or say more.
POLLED = frozenset({"failing", "refused", "quiet", "empty", "no_items", "truncated", "page_unread", "crawl_start"})
OF_HOSTS = frozenset({"breaker", "robots_unreachable"})


@router.get(PROBLEMS)
async def problems_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List all that is wrong, as `headwater problems` does."""
    found = await lately(visit.request.app, "all_problems", KEPT_SECONDS, lambda: all_problems(visit.services))
    shown, count = found.found[:MOST_SHOWN], len(found.found)
    told = f"{len(shown)} of {count:,}{' or more' * found.is_cut} shown, the worst first. Looked at "
    note = element("p", told, moment(found.now, visit.now), ".", class_="note")
    main = joined(problem_list(shown, visit), note)
    return await visit.page(PageBody("Problems", main, "What needs a person, with one thing to do about each."))


def problem_list(problems: Sequence[HealthProblem], visit: PageVisit) -> Markup:
    if not problems:
        return empty_state("Nothing is wrong.")
    return element("ul", *(_line(one, visit) for one in problems), class_="problems")


def _line(one: HealthProblem, visit: PageVisit) -> Markup:
    since = joined(" since ", moment(one.since, visit.now)) if one.since else ""
    what = element(
        "div",
        element("div", element("strong", _about(one)), element("span", since, class_="window"), class_="about"),
        element("div", cut(one.what, 600), class_="what"),
        element("div", way_on(one.fix), class_="fix"),
    )
    is_error = one.grade is Severity.ERROR
    grade = state("fail" if is_error else "warn", "Error" if is_error else "Warning")
    return element("li", grade, what, element("div", action_for(one, visit), class_="act"))


def _about(one: HealthProblem) -> Markup:
    """With the way to its page, where it has one of its own."""
    told = foreign(one.about, 80)
    href = place_of(one)[0]
    return link(told, href) if one.source_id or href.startswith(HOSTS) else told


def action_for(one: HealthProblem, visit: PageVisit) -> Markup:
    """A button for who may press it; else the way to the page of what it is about."""
    about = cut(one.about, 60)
    if visit.may(Role.OPERATOR) and (pressed := button_for(one)):
        place, word, fields = pressed
        return action_button(place, visit.csrf_token, word, fields, about=about)
    href, told = place_of(one)
    return element("a", told, element("span", f" {about}", class_="unseen"), href=href, class_="button")


def button_for(one: HealthProblem) -> tuple[str, str, dict[str, str]] | None:
    """Where it is sent, its word, and what is sent."""
    if one.kind == "paused":
        return RESUME, "Resume", {"next": HOME}
    if one.kind in SINK_ACTIONS and one.about.startswith(SINK):
        return (*SINK_ACTIONS[one.kind], {"sink": one.about.removeprefix(SINK)})
    if one.source_id and one.kind == "auto_paused":
        return RESUME_SOURCE, "Resume", {"source": str(one.source_id)}
    if one.source_id and one.kind in POLLED:
        return POLL_SOURCE, "Poll now", {"source": str(one.source_id)}
    return None


def place_of(one: HealthProblem) -> tuple[str, str]:
    if one.source_id:
        return f"/console/sources/{one.source_id}", "Open"
    if one.kind in OF_HOSTS or (one.kind == "refused" and one.about):
        return f"{HOSTS}{quote(one.about, safe='')}", "Open"
    if one.kind in ("suspects", "poison"):
        return "/console/frontier?status=dead" if one.kind == "poison" else "/console/frontier", "Look"
    if one.kind == "takedown_asked":
        return "/console/requests", "Decide"
    if one.about in (MACHINERY, QUEUE):
        return "/console/crawl", "Look"
    return "/console/settings", "Look"


@router.post(RESUME_SINK)
async def resume_sink_of_problem(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Try a sink again at once."""
    found = await resume_sink(visit.services, fields.get("sink"))
    return see_other(HOME, f"The sink {found.name} goes on.")


@router.post(RETRY_SINK)
async def retry_sink_of_problem(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Send parked records of a sink once more."""
    found, _ = await retry_sink(visit.services, fields.get("sink"))
    return see_other(HOME, f"What the sink {found.name} had refused is sent once more.")


@router.post(RESUME_SOURCE)
async def resume_source_of_problem(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Poll a source again that was paused."""
    ((found, _),) = await stop_sources(visit.services, [fields.get("source")], SourceStatus.ACTIVE, None, caller.name)
    return see_other(HOME, f"{cut(found.name, 80)} is polled again.")


@router.post(POLL_SOURCE)
async def poll_source_of_problem(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Poll a source now."""
    ((found, channels),) = await poll_sources(visit.services, [fields.get("source")])
    told = "is polled as soon as its hosts allow" if channels else "has no channel that may be polled"
    return see_other(HOME, f"{cut(found.source.name, 80)} {told}.")
