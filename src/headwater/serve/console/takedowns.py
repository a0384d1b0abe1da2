"""/console/settings/takedowns: what is never visited again, and whether every sink has let go of it."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.takedowns import SinkRemoval, covered_in_words, reach_in_words, takedown_story
from headwater.errors import HeadwaterError
from headwater.ingest.taking_down import lift_everywhere, reach_of, record, sweep
from headwater.politeness.takedown import parse_takedown
from headwater.reports.paging import page_of_takedowns
from headwater.serve.access.gate import Admin, Operator, Viewer
from headwater.serve.console.components import TableColumn, empty_state, facts, link, pager, panel, table
from headwater.serve.console.forms import Fields, action_button, button, confirm_form, error_summary, form, text_field
from headwater.serve.console.operations import see_operation
from headwater.serve.console.places import settings_tabs
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, moment, number, state
from headwater.serve.console.visit import PageQuery, PageVisit, Visited, see_other
from headwater.serve.operations import Progress
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork

router = APIRouter(include_in_schema=False)

PATH = "/console/settings/takedowns"
ROWS = 50
LONGEST_PATTERN, LONGEST_REASON = 2_083, 2_000
Row = Mapping[str, Any]


def one_path(name: str) -> str:
    return PageQuery(f"{PATH}/one", {}).to(name=name)


@router.get(PATH)
async def takedowns_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List what is taken down."""
    page = await page_of_takedowns(visit.services.database, ROWS, visit.query.get("cursor") or None)
    made = [
        TableColumn[Row](
            "Taken down", lambda one: link(foreign(one["domain_or_url"], 120), one_path(one["domain_or_url"])), "main"
        ),
        TableColumn[Row]("Why", lambda one: foreign(one["reason"] or "", 200)),
        TableColumn[Row]("Since", lambda one: moment(one["created_at"], visit.now)),
        TableColumn[Row]("Applied", lambda one: moment(one["swept_at"], visit.now, never="being applied")),
    ]
    listed = table(made, page.items, "Takedowns", empty=empty_state("Nothing is taken down."), id_="takedowns")
    asked = _form(visit, visit.query.get("pattern"), "") if visit.may(Role.OPERATOR) else ""
    main = joined(settings_tabs(PATH), asked, listed, pager(visit.query, len(page.items), page.cursor))
    lead = "A takedown holds at once: nothing of it is requested, stored or delivered any more."
    return await visit.page(PageBody("Takedowns", main, lead))


def _form(visit: PageVisit, pattern: str, reason: str, *errors: str) -> Markup:
    hint = "example.org with all below it, example.org:8080 for that port, or URLs that begin so."
    return panel(
        "Take down",
        form(
            PATH,
            visit.csrf_token,
            error_summary(*errors) if errors else "",
            text_field("pattern", "Domain or URL", cut(pattern, LONGEST_PATTERN), required="required", hint=hint),
            text_field("reason", "Why", reason, hint="Who asked, and why."),
            element("div", button("Take down", kind="danger"), class_="buttons"),
            class_="form",
        ),
    )


@router.post(PATH)
async def take_down_by_form(caller: Operator, visit: Visited, work: LongWork, fields: Fields) -> Response:
    """Never visit a domain or URLs again, and withdraw what is stored of them."""
    pattern, reason = fields.get("pattern"), fields.get("reason")[:LONGEST_REASON]
    try:
        takedown = parse_takedown(pattern)
    except HeadwaterError as error:
        body = joined(settings_tabs(PATH), _form(visit, pattern, reason, f"{error.what} {error.fix}"))
        return await visit.page(PageBody("Takedowns", body), status=422)
    if not fields.is_confirmed:
        reach = reach_in_words(await reach_of(visit.services.database, takedown))
        asked = confirm_form(
            PATH, visit.csrf_token, fields.again(), covered_in_words(takedown), f"{reach} would be removed.",
            "Its documents and vacancies are withdrawn from search and from every sink, its stored pages deleted.",
            "Lifting it later brings none of them back by itself.", verb="Take it down", back=PATH,
        )  # fmt: skip
        return await visit.page(PageBody(f"Take down {cut(takedown.name, 120)}?", asked))
    await record(visit.services.database, takedown, reason)

    async def apply(progress: Progress) -> Mapping[str, Any]:
        done = await sweep(visit.services.database, takedown)
        progress(done.entries)
        return done._asdict()

    return see_operation(await work.begin("takedowns.apply", caller.name, apply))


@router.get(f"{PATH}/one")
async def takedown_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """Show a takedown, and whether each sink has let go of it."""
    name = visit.query.get("name")
    if not name:
        unnamed = empty_state("No takedown is named.", link("All takedowns", PATH))
        return await visit.page(PageBody("Takedown", joined(settings_tabs(PATH), unnamed)))
    story = await takedown_story(visit.services, name)
    told = facts([
        ("Covers", foreign(covered_in_words(story.takedown), 300)),
        ("Why", foreign(story.reason or "not said", 300)),
        ("Since", moment(story.created_at, visit.now)),
        ("Applied", moment(story.swept_at, visit.now, never="being applied")),
    ])  # fmt: skip
    made = [
        TableColumn[SinkRemoval](
            "Sink", lambda one: link(one.sink.name, f"/console/settings/sinks/{one.sink.name}"), "main"
        ),
        TableColumn[SinkRemoval]("Removal", _removal),
        TableColumn[SinkRemoval]("Held still", lambda one: number(one.held), "number"),
        TableColumn[SinkRemoval]("", lambda one: foreign(one.forgets_not or "", 200)),
    ]
    sinks = table(made, list(story.sinks), "Sinks", empty=empty_state("There are no sinks."), id_="removals")
    lift = action_button(f"{PATH}/lift", visit.csrf_token, "Lift it", {"name": story.takedown.name}, kind="danger")
    main = joined(settings_tabs(PATH), panel("Takedown", told), panel("Sinks", sinks))
    actions = lift if visit.may(Role.ADMIN) else Markup("")
    return await visit.page(PageBody(cut(story.takedown.name, 120), main, actions=actions))


def _removal(one: SinkRemoval) -> Markup:
    return state("confirmed", tone="ok") if one.is_confirmed else state("not confirmed", tone="warn")


@router.post(f"{PATH}/lift")
async def lift_takedown_by_form(caller: Admin, visit: Visited, fields: Fields) -> Response:
    """Lift a takedown."""
    takedown = parse_takedown(fields.get("name"))
    if not fields.is_confirmed:
        fact = "Its channels are polled at once; URLs that it ended are queued again when a channel lists them."
        asked = confirm_form(
            f"{PATH}/lift", visit.csrf_token, fields.again(), fact, verb="Lift it", back=one_path(takedown.name)
        )
        return await visit.page(PageBody(f"Lift {cut(takedown.name, 120)}?", asked))
    await lift_everywhere(visit.services.database, takedown)
    return see_other(PATH, f"The takedown of {cut(takedown.name, 120)} is lifted.")
