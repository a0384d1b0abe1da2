"""/console/crawl/log: what processes warned of lately, on whichever machine they run."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from headwater.errors import HeadwaterError
from headwater.phrases import spelt_out
from headwater.reports.log_lines import LEVELS, LineFilter, LogLine, page_of_lines
from headwater.serve.access.gate import Viewer
from headwater.serve.console.components import (
    TableColumn,
    empty_state,
    filter_bar,
    link,
    notice,
    pager,
    segments,
    table,
    tabs,
    way_on,
)
from headwater.serve.console.forms import text_field
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, moment, state
from headwater.serve.console.visit import PageQuery, PageVisit, Visited
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic

router = APIRouter(include_in_schema=False)

CRAWL, LOG = "/console/crawl", "/console/crawl/log"
ROWS = 100
TONES = {"warning": "warn"}


def crawl_tabs(path: str) -> Markup:
    return tabs((("Now", CRAWL), ("Log of processes", LOG)), path, "Crawl")


@router.get(LOG)
async def log_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List lines of the log that warn, newest first."""
    query, pid = visit.query, visit.query.get("pid")
    wanted = LineFilter(
        query.get("level") if query.get("level") in LEVELS else None,
        query.get("event").replace(" ", "_") or None,
        query.get("role") or None,
        int(pid) if pid.isdecimal() and len(pid) < 10 else None,
    )
    try:
        page = await page_of_lines(visit.services.database, wanted, ROWS, query.get("cursor") or None)
    except HeadwaterError as error:
        body = joined(crawl_tabs(LOG), _bar(query), notice("fail", cut(error.what), " ", way_on(error.fix)))
        return await visit.page(PageBody("Log", body), status=422)
    main = joined(crawl_tabs(LOG), _bar(query), _lines(page.items, visit), pager(query, len(page.items), page.cursor))
    topics = () if query.get("cursor") else (Topic.STATS,)
    lead = "What processes warned of in the last day, within seconds. All they say stands in their own logs."
    return await visit.page(PageBody("Log of processes", main, lead, topics=topics))


def _bar(query: PageQuery) -> Markup:
    levels = [("", "All", None), *((one, f"{one.capitalize()}s", None) for one in LEVELS)]
    return element(
        "div",
        segments(query, "level", levels, "Level"),
        filter_bar(
            query,
            text_field("event", "Event", query.get("event"), placeholder="poll_failed", maxlength="100"),
            text_field("role", "Role", query.get("role"), placeholder="fetch", maxlength="100"),
            text_field("pid", "Process number", query.get("pid"), inputmode="numeric", maxlength="10"),
            keeps=("level",),
        ),
        class_="bar",
    )


def _lines(found: Sequence[LogLine], visit: PageVisit) -> Markup:
    rows = [
        TableColumn[LogLine]("When", lambda one: moment(one.at, visit.now), "tight"),
        TableColumn[LogLine]("Level", lambda one: state(one.level, tone=TONES.get(one.level, "fail")), "tight"),
        TableColumn[LogLine]("What", _what, "main"),
        TableColumn[LogLine](
            "Process",
            lambda one: joined(
                foreign(one.role, 40), element("span", f"{cut(one.host, 60)}, {one.pid}", class_="under")
            ),
            "tight",
        ),
    ]
    ways = link("Clear the filters", LOG, class_="button") if visit.query.values else Markup("")
    empty = empty_state("Of such lines there are none in the last day.", ways)
    return table(rows, found, "Lines of the log", empty=empty, id_="lines")


def _what(one: LogLine) -> Markup:
    """Without the name of the event, which stands below: its sentence begins with it."""
    begins = spelt_out(one.event).replace("_", " ")
    told = one.told.removeprefix(begins).removeprefix(": ")
    about = joined(", ", link("its source", f"/console/sources/{one.source_id}")) if one.source_id else ""
    return joined(
        element("strong", f"{begins[:1].upper()}{begins[1:]}"),
        " ",
        foreign(told, 400),
        element("span", element("code", cut(one.event, 100)), about, class_="under"),
    )
