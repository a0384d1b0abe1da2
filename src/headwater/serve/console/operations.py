"""/console/operations: long work that somebody began, how far it is, and how it ended."""

from datetime import datetime
from uuid import UUID

import orjson
from fastapi import APIRouter
from starlette.responses import HTMLResponse, RedirectResponse

from headwater.serve.access.gate import Viewer
from headwater.serve.console.components import TableColumn, empty_state, facts, link, notice, pager, panel, table
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, foreign_lines, moment, number, state
from headwater.serve.console.visit import Visited, see_other
from headwater.serve.operations import StoredOperation, list_operations, read_operation
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic

router = APIRouter(include_in_schema=False)

PATH = "/console/operations"
ROWS = 50
LONGEST_RESULT = 20_000
STATES = {"running": "ok", "done": "ok", "failed": "fail", "interrupted": "warn"}
WORDS = {
    "frontier.retry": "Queue URLs again",
    "frontier.kill": "Kill URLs",
    "frontier.remove": "Forget URLs",
    "sources.import": "Import sources",
    "sources.bulk": "Change sources",
}


def see_operation(begun: StoredOperation) -> RedirectResponse:
    """After long work was begun: the page that follows it."""
    return see_other(f"{PATH}/{begun.id}", f"{work_of(begun)}: begun.")


def work_of(one: StoredOperation) -> str:
    return WORDS.get(one.kind, one.kind.replace(".", ", "))


@router.get(PATH)
async def operations_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List long work, newest first."""
    page = await list_operations(visit.services.database, ROWS, visit.query.get("cursor") or None)
    columns = [
        TableColumn[StoredOperation]("Work", lambda one: link(work_of(one), f"{PATH}/{one.id}"), "main"),
        TableColumn[StoredOperation]("State", _state),
        TableColumn[StoredOperation]("Done", lambda one: number(one.done), "number"),
        TableColumn[StoredOperation]("By", lambda one: foreign(one.actor, 60)),
        TableColumn[StoredOperation]("Begun", lambda one: moment(one.created_at, visit.now)),
        TableColumn[StoredOperation]("Ended", lambda one: moment(one.ended_at, visit.now, never="not yet")),
    ]
    empty = empty_state("No long work was begun in the last week.")
    listed = table(columns, page.items, "Long work", empty=empty, id_="operations")
    lead = "Work that takes longer than a request. It is kept for a week."
    main = joined(listed, pager(visit.query, len(page.items), page.cursor))
    return await visit.page(PageBody("Operations", main, lead, topics=(Topic.STATS,)))


@router.get(f"{PATH}/{{work_id}}")
async def operation_page(caller: Viewer, visit: Visited, work_id: UUID) -> HTMLResponse:
    """Show how far a piece of long work is."""
    found = await read_operation(visit.services.database, work_id)
    of = f" of {found.total:,}" if found.total else ""
    told = facts([
        ("State", _state(found)),
        ("Done", f"{found.done:,}{of}"),
        ("By", foreign(found.actor, 60)),
        ("Begun", moment(found.created_at, visit.now)),
        ("Ended", _end(found.ended_at, visit.now)),
    ])  # fmt: skip
    # One live part around all: the script puts in only what has a place already.
    main = element("div", _trouble(found), panel("Progress", told), _result(found), class_="live stack", id="operation")
    back = link("All operations", PATH)
    return await visit.page(PageBody(work_of(found), main, actions=back, topics=(Topic.STATS, Topic.FRONTIER)))


def _end(at: datetime | None, now: datetime) -> Markup:
    return moment(at, now, never="not yet: this page follows it")


def _state(one: StoredOperation) -> Markup:
    return state(one.state, tone=STATES.get(one.state, "unknown"))


def _trouble(found: StoredOperation) -> Markup:
    if not found.problem:
        return Markup("")
    fix = cut(found.problem.get("fix", ""), 400)
    return notice("fail", cut(found.problem.get("detail", "It failed."), 400), f" {fix}" if fix else "")


def _result(found: StoredOperation) -> Markup:
    if not found.result:
        return Markup("")
    plain = [(name, value) for name, value in found.result.items() if isinstance(value, str | int | float)]
    rest = {name: value for name, value in found.result.items() if not isinstance(value, str | int | float)}
    told = facts((name.replace("_", " ").capitalize(), foreign(f"{value}", 300)) for name, value in plain)
    more = foreign_lines(orjson.dumps(rest, option=orjson.OPT_INDENT_2).decode(), LONGEST_RESULT) if rest else ""
    shown = panel("Result", told if plain else "", element("div", more) if more else "")
    return element("div", shown, id="result")
