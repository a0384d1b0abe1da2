"""/console/style: the visual language on one page, to be looked at when something of it is changed."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import sin

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from headwater.serve.access.gate import Viewer
from headwater.serve.console.charts import (
    ChartLine,
    ChartOfTime,
    bar_chart,
    heat_row,
    legend,
    line_chart,
    share_bar,
    sparkline,
    stacked_chart,
    week_map,
)
from headwater.serve.console.components import (
    TableColumn,
    bulk_bar,
    columns,
    cut_note,
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
    tabs,
)
from headwater.serve.console.forms import (
    button,
    check_field,
    choice_field,
    confirm_form,
    error_summary,
    form,
    text_area,
    text_field,
)
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import (
    due,
    duration,
    foreign,
    foreign_link,
    host_and_path,
    moment,
    number,
    size,
    state,
)
from headwater.serve.console.visit import PageVisit, Visited
from headwater.serve.pages.markup import Markup, element, joined

router = APIRouter(include_in_schema=False)

PATH = "/console/style"
BEGIN = datetime(2026, 5, 4, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> \u202egnp.exe\u202c {{7*7}} \x1b[31m " + "long " * 60


@dataclass(frozen=True, slots=True)
class SampleRow:
    name: str
    health: str
    errors: int
    wait: timedelta
    new: tuple[int, ...]


SAMPLES = (
    SampleRow("Harbour News", "ok", 0, timedelta(minutes=12), (3, 5, 2, 8, 6, 1, 0, 4)),
    SampleRow("Gazette", "warning", 2, timedelta(minutes=-4), (0, 0, 1, 0, 2, 0, 0, 1)),
    SampleRow("Mirror of Bornholm", "struggling", 12, timedelta(hours=6), (9, 7, 4, 2, 0, 0, 0, 0)),
    SampleRow("Careers at the Institute for Tides", "paused", 0, timedelta(days=3), (1, 1, 0, 1, 1, 0, 1, 1)),
    SampleRow("Members only", "blocked", 1, timedelta(days=9), (0,) * 8),
    SampleRow(HOSTILE, "unknown", 1_204, timedelta(seconds=3), (0, 0, 0, 0, 0, 0, 0, 1)),
)


@router.get(PATH)
async def style_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """Everything that pages are made of, with made-up values."""
    actions = joined(button("Pause"), button("Add source", kind="primary"))
    banner = notice("warn", "Fetching is paused by ann since 12 m. ", link("Resume", PATH))
    body = PageBody(
        "Visual language",
        joined(_type(), _states(visit), _tables(visit), _forms(visit), _charts(), _nothing(visit)),
        "What pages are made of. Look at it in both colours, on a phone and on a wide screen, when it is changed.",
        element("form", actions, class_="actions", action=PATH),
        banners=(banner,),
    )
    return await visit.page(body)


def _type() -> Markup:
    shown = joined(
        element("h3", "A heading of the third kind"),
        element(
            "p",
            "Text of 14 on 20 pixels. ",
            link("A link", PATH),
            ", ",
            element("code", "headwater up"),
            ", 1,204,877.",
        ),
        element("p", "Calm text explains, and gives the window of a number.", class_="note"),
        element("pre", element("code", "headwater sources add https://harbour.example"), tabindex="0"),
    )
    return columns(panel("Type", shown), panel("Colours", _colours()))


def _colours() -> Markup:
    return joined(
        legend({"c1": "first", "c2": "second", "c3": "third", "c4": "fourth", "c5": "rest", "c6": "bad"}),
        legend({"h0": "none", "h1": "", "h2": "", "h3": "", "h4": "most"}),
        notice("ok", "Three sources are polled again."),
        notice("fail", "The sink archive takes nothing: connection refused."),
    )


def _states(visit: PageVisit) -> Markup:
    words = ("ok", "warning", "failing", "paused", "blocked", "unknown")
    shown = joined(*(element("p", state(one)) for one in words))
    now = visit.now
    values = facts(
        [
            ("Number", number(1_204_877)),
            ("Nothing", number(None)),
            ("Size", size(41_300_000)),
            (
                "Durations",
                joined(duration(timedelta(milliseconds=380)), ", ", duration(timedelta(hours=26, minutes=4))),
            ),
            ("Times", joined(moment(now - timedelta(minutes=4), now), ", ", due(now - timedelta(hours=2), now))),
            ("A link of others", foreign_link("https://bücher.example/a?b=<c>")),
            ("An address in a table", host_and_path("https://harbour.example/tides/today")),
            ("Not a link", foreign_link("javascript:alert(1)")),
        ]
    )
    return columns(panel("States", shown), panel("Values", values))


def _tables(visit: PageVisit) -> Markup:
    made = [
        TableColumn[SampleRow](
            "Source",
            lambda one: joined(link(foreign(one.name, 120), PATH), element("span", "harbour.test", class_="under")),
            "main",
            "name",
        ),
        TableColumn[SampleRow]("Health", lambda one: state(one.health)),
        TableColumn[SampleRow]("Errors", lambda one: number(one.errors), "number", "errors"),
        TableColumn[SampleRow]("Next run", lambda one: due(visit.now + one.wait, visit.now)),
        TableColumn[SampleRow]("New, 8 d", lambda one: sparkline(one.new, f"{sum(one.new)} new items in 8 days")),
    ]
    query = visit.query
    choices = [("", "All", 1_240), ("failing", "Failing", 12), ("paused", "Paused", 5), ("blocked", "Blocked", 3)]
    listed = table(made, SAMPLES, "Sources, made up", query=query, chosen_by=lambda one: one.name[:20], id_="sample")
    bulk = bulk_bar(1_240, "", button("Pause", name="do", value="pause"), button("Delete", kind="danger"))
    return joined(
        tabs([("Status", PATH), ("Runs", f"{PATH}?tab=runs"), ("URLs", f"{PATH}?tab=urls")], PATH, "Parts of a source"),
        segments(query, "status", choices),
        filter_bar(query, text_field("text", "Name begins with", query.get("text")), keeps=("status",)),
        element("form", listed, bulk, action=PATH),
        pager(query, 6, "cursor", 1_240),
    )


def _forms(visit: PageVisit) -> Markup:
    inside = form(
        PATH,
        visit.csrf_token,
        error_summary("The interval is no duration: 15 minuts."),
        text_field(
            "url", "Address", "https://harbour.example", required="required", hint="Of the site or of its feed."
        ),
        text_field("every", "Interval", "15 minuts", error="Such as 15m, 6h or 1d."),
        choice_field("kind", "Kind", [("", "Any"), ("news", "News"), ("jobs", "Jobs")], "news"),
        check_field("robots", "Ask before each page", is_set=True, hint="Costs a request."),
        text_area("list", "List", "https://a.example\nhttps://b.example", rows=3),
        element("div", button("Save", kind="primary"), button("Delete", kind="danger"), class_="buttons"),
        class_="form",
    )
    asked = confirm_form(
        PATH,
        visit.csrf_token,
        [],
        "12 sources and their 4,301 URLs",
        "1,204 documents stay",
        verb="Delete 12 sources",
        back=PATH,
        typed="delete",
    )
    return columns(panel("Forms", inside), panel("Asking again", asked))


def _charts() -> Markup:
    hour = timedelta(minutes=30)
    wave = [round(40 + 30 * sin(one / 6)) for one in range(48)]
    small = [round(10 + 8 * sin(one / 4)) for one in range(48)]
    few = [one % 5 for one in range(48)]
    three = [ChartLine("fetched", "c1", wave), ChartLine("unchanged", "c2", small), ChartLine("failed", "c6", few)]
    window = "the last 24 h by 30 m"
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", heat_row([(tone, f"poll {n}") for n, tone in enumerate(tones)], f"{name}: 48 polls")),
        )
        for name, tones in (
            ("harbour.test", ("c1", "h1", "h1", "h1") * 12),
            ("gazette.test", ("h1", "warn", "fail") * 16),
        )
    ]
    bars = element(
        "p",
        share_bar([("c3", 40), ("c6", 25), ("c4", 10)], 90, "75 errors"),
        share_bar([("c3", 9), ("c4", 4)], 90, "13 errors"),
    )
    return joined(
        columns(
            panel("Bars", bar_chart(ChartOfTime("Throughput", window, BEGIN, hour, three)), note=window),
            panel("Lines", line_chart(ChartOfTime("Delay", window, BEGIN, hour, three[:2])), note=window),
            panel("Areas", stacked_chart(ChartOfTime("Frontier", window, BEGIN, hour, three)), note=window),
            panel(
                "Week", week_map([[(day * hour_) % 9 for hour_ in range(24)] for day in range(7)], "New items by hour")
            ),
        ),
        columns(
            panel(
                "Heatmap",
                element("table", element("tbody", *rows), class_="heatmap"),
                legend({"c1": "new", "h1": "nothing new", "warn": "warning", "fail": "failed"}),
            ),
            panel("Shares", bars, legend({"c3": "5xx", "c6": "no answer", "c4": "robots"})),
        ),
    )


def _nothing(visit: PageVisit) -> Markup:
    empty = empty_state(
        "No sources yet.",
        link("Add a source", PATH, class_="button primary"),
        link("Import a list", PATH, class_="button"),
    )
    return columns(
        panel("Empty", empty, cut_note(20, 143, "source", PATH)),
        panel("Folded", folded("Advanced", element("p", "Shown when somebody asks."))),
    )
