"""/console: how everything is, and what needs a person."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from headwater.actions.standing import all_problems
from headwater.database.pool import Database
from headwater.deliver.store import SinkReport
from headwater.phrases import spelt_out
from headwater.reports.delays import delays_in, summed
from headwater.reports.discovery import SourceFilter, list_sources
from headwater.reports.frontier import HostsNow, errors_by_host
from headwater.reports.paging import EventFilter, list_events
from headwater.reports.problems import Problems
from headwater.reports.rollups import HOUR, Series, SourceHours, hours_of_sources, series_of
from headwater.reports.sinks import DeliveryNow, delivery_now, health_of_sink, state_word
from headwater.reports.totals import FAILED
from headwater.serve.access.gate import Viewer
from headwater.serve.console.charts import (
    ChartLine,
    ChartOfTime,
    bar_chart,
    heat_row,
    legend,
    line_chart,
    share_bar,
    stacked_chart,
)
from headwater.serve.console.components import (
    TableColumn,
    columns,
    empty_state,
    facts,
    link,
    panel,
    segments,
    table,
)
from headwater.serve.console.keeping import lately
from headwater.serve.console.problems_list import PROBLEMS, problem_list
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, duration, foreign, moment, number, quantity, state
from headwater.serve.console.strip import totals_lately
from headwater.serve.console.visit import PageVisit, Visited
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.topics import Topic
from headwater.sources.store import Happened, Level

router = APIRouter(include_in_schema=False)

PROBLEMS_SHOWN, EVENTS_SHOWN, HOSTS_SHOWN, SOURCES_SHOWN = 5, 12, 10, 12
PROBLEMS_KEPT_SECONDS = 5.0
DAYS_OF_HEAT = 2
HEAT_HOURS = 48
OUTCOMES: Mapping[str, frozenset[str]] = {
    "fetched": frozenset({"fetched", "moved"}),
    "unchanged": frozenset({"unchanged"}),
    "failed": FAILED,
}
STATUS_TONES = {"pending": "c2", "fetching": "c3", "failed": "c6", "fetched": "c1", "dead": "c4"}
CLASS_TONES = {
    "4xx": "c3",
    "5xx": "c6",
    "429": "c2",
    "timeout": "c4",
    "dns": "c1",
    "robots": "c5",
    "extract": "c5",
    "other": "c5",
}
HEAT_TONES = {
    "c1": "new items",
    "h1": "polled, nothing new",
    "warn": "some polls failed",
    "fail": "all failed",
    "none": "not polled",
}
LEVEL_TONES = {Level.WARN: "warn", Level.ERROR: "fail"}


class ChartWindow(NamedTuple):
    word: str
    span: timedelta
    step: timedelta
    told: str


WINDOWS = (
    ChartWindow("1h", timedelta(hours=1), timedelta(minutes=1), "the last hour by the minute"),
    ChartWindow("24h", timedelta(hours=24), timedelta(minutes=15), "the last 24 h by 15 m"),
    ChartWindow("7d", timedelta(days=7), timedelta(hours=2), "the last 7 days by 2 h"),
)


USUAL = WINDOWS[1]
TIMES = [(one.word, one.word, None) for one in WINDOWS]


class FiguresOfTime(NamedTuple):
    fetches: Series
    delays: Series
    waits: Series
    frontier: Series


@router.get("/console")
async def overview_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """The home page."""
    database = visit.services.database
    if not await list_sources(database, SourceFilter(), 1):
        return await visit.page(PageBody("Overview", first_steps()))
    problems = await lately(
        visit.request.app, "problems", PROBLEMS_KEPT_SECONDS, lambda: all_problems(visit.services, is_hint=True)
    )
    window = window_in(visit.query.get("window"))
    figures = await _figures(database, window, visit.now)
    body = joined(
        _problems(problems, visit),
        segments(visit.query, "window", TIMES, "Time shown", otherwise=window.word),
        columns(*_charts(figures, window)),
        columns(
            _politeness((await totals_lately(visit.request.app, database)).hosts),
            _delivery(await delivery_now(database), visit),
        ),
        columns(await _heat(visit, problems), await _errors(database)),
        _events(await list_events(database, EventFilter(), EVENTS_SHOWN), visit),
    )
    return await visit.page(PageBody("Overview", body, topics=(Topic.STATS, Topic.PROBLEMS)))


def window_in(word: str) -> ChartWindow:
    return next((one for one in WINDOWS if one.word == word), USUAL)


def first_steps() -> Markup:
    """Where nothing is followed yet."""
    add = link("Add a source", "/console/sources/add", class_="button primary")
    load = link("Import a list", "/console/sources/import", class_="button")
    return element(
        "div",
        element(
            "section",
            element("h2", "Follow a site"),
            element("p", "Give its address: its feeds, sitemap and pages are found."),
            add,
        ),
        element("section", element("h2", "Bring a list"), element("p", "OPML, CSV, or addresses line by line."), load),
        element(
            "section",
            element("h2", "Look around first"),
            element("p", "A simulated web on this machine, which asks nobody outside."),
            element("p", element("code", "headwater demo")),
        ),
        class_="cards",
    )


async def _figures(database: Database, window: ChartWindow, now: datetime) -> FiguresOfTime:
    start = now - window.span
    names = ("fetches", "discovery_delay", "politeness_wait", "frontier")
    return FiguresOfTime(*[await series_of(database, name, start, now, window.step) for name in names])


def _problems(found: Problems, visit: PageVisit) -> Markup:
    count, shown = len(found.found), found.found[:PROBLEMS_SHOWN]
    told = f"{len(shown)} of {count:,}{' or more' * found.is_cut}, the worst first. "
    rest = element("p", told, link("All problems", PROBLEMS), class_="note") if count > len(shown) else ""
    note = "nothing" if not count else quantity(count, "problem")
    return panel("Needs a person", problem_list(shown, visit), rest, note=note, id_="problems")


def _charts(found: FiguresOfTime, window: ChartWindow) -> list[Markup]:
    by_outcome = summed(found.fetches, OUTCOMES)
    tones = {"fetched": "c1", "unchanged": "c2", "failed": "c6"}
    throughput = [ChartLine(name, tones[name], points) for name, points in by_outcome.items() if points]
    return [
        panel(
            "Throughput",
            bar_chart(_chart("Pages", window, found.fetches, throughput)),
            note=window.told,
            id_="throughput",
        ),
        panel(
            "Discovery delay",
            line_chart(_delays("Delay", window, found.delays), has_gaps=True),
            note=f"publication to discovery, {window.told}",
            id_="delay",
        ),
        panel(
            "Frontier",
            stacked_chart(_chart("URLs by status", window, found.frontier, _statuses(found.frontier))),
            note=window.told,
            id_="frontier-levels",
        ),
        panel(
            "Politeness waits",
            line_chart(_delays("Wait", window, found.waits), has_gaps=True),
            note=f"for a slot at the host, {window.told}",
            id_="waits",
        ),
    ]


def _chart(title: str, window: ChartWindow, series: Series, lines: Sequence[ChartLine]) -> ChartOfTime:
    return ChartOfTime(title, window.told, series.start, series.step, lines)


def _delays(title: str, window: ChartWindow, series: Series) -> ChartOfTime:
    found = delays_in(series)
    lines = [ChartLine("half within", "c1", found.p50), ChartLine("95 % within", "c3", found.p95)]
    return ChartOfTime(title, window.told, series.start, series.step, lines, in_seconds)


def in_seconds(value: float) -> str:
    return str(duration(timedelta(seconds=value))) if value else "–"


def _statuses(series: Series) -> list[ChartLine]:
    return [ChartLine(name, tone, series.points[name]) for name, tone in STATUS_TONES.items() if name in series.points]


def _politeness(hosts: HostsNow) -> Markup:
    """Why nothing more is fetched: few requests are seldom a fault."""
    told = facts(
        [
            ("May be asked now", link(quantity(hosts.open, "host"), "/console/hosts?state=open")),
            ("Within their delay", link(quantity(hosts.waiting, "host"), "/console/hosts?state=waiting")),
            ("Being asked", number(hosts.busy)),
            ("Have not answered", number(hosts.doubted)),
            ("The next one opens", joined("in ", duration(hosts.next_in)) if hosts.next_in is not None else "–"),
        ]
    )
    return panel("Why no more is fetched", told, note="hosts with URLs, now", id_="politeness")


def _delivery(found: DeliveryNow, visit: PageVisit) -> Markup:
    rows = [
        TableColumn[SinkReport]("Sink", lambda one: foreign(one.name, 60), "main"),
        TableColumn[SinkReport]("Health", lambda one: state(health_of_sink(one))),
        TableColumn[SinkReport]("State", state_word, "tight"),
        TableColumn[SinkReport]("Behind", lambda one: number(one.behind), "number"),
        TableColumn[SinkReport]("Parked", lambda one: number(one.parked), "number"),
        TableColumn[SinkReport]("Last success", lambda one: moment(one.last_success_at, visit.now)),
    ]
    listed = table(rows, found.sinks, "Sinks", empty=empty_state("No sink takes documents elsewhere."))
    return panel("Sinks", listed, note="changes not sent yet, now", id_="sinks")


async def _heat(visit: PageVisit, problems: Problems) -> Markup:
    """Of sources with problems first: so many hours, each a cell."""
    database = visit.services.database
    named = list(dict.fromkeys(one.source_id for one in problems.found if one.source_id))[:SOURCES_SHOWN]
    ailing = {one.source.id: one for one in await list_sources(database, SourceFilter(ids=named), SOURCES_SHOWN)}
    shown = [ailing[one] for one in named if one in ailing]
    if len(shown) < SOURCES_SHOWN:
        others = await list_sources(database, SourceFilter(), SOURCES_SHOWN)
        shown += [one for one in others if one.source.id not in ailing][: SOURCES_SHOWN - len(shown)]
    hours = await hours_of_sources(database, [one.source.id for one in shown], DAYS_OF_HEAT + 1)
    rows = [
        element(
            "tr",
            element("th", link(foreign(name, 40), f"/console/sources/{one.source.id}"), scope="row"),
            element("td", state(one.health.word), class_="word"),
            element("td", heat_row(heat_cells(hours[one.source.id]), f"{cut(name, 40)}: its last {HEAT_HOURS} hours")),
        )
        for one in shown
        for name in [one.source.name]
    ]
    made = element("table", element("tbody", *rows), class_="heatmap")
    return panel("Health of feeds", made, legend(HEAT_TONES), note=f"by the hour, the last {HEAT_HOURS}", id_="heat")


def heat_cells(hours: SourceHours) -> list[tuple[str, str]]:
    """Pure."""
    told = list(zip(hours.items, hours.polls, hours.errors, strict=True))
    start = max(0, len(told) - HEAT_HOURS)
    return [_cell(hours.start + place * HOUR, *told[place]) for place in range(start, len(told))]


def _cell(at: datetime, items: int, polls: int, errors: int) -> tuple[str, str]:
    tone = "none" if not polls else "fail" if errors >= polls else "warn" if errors else "c1" if items else "h1"
    return tone, f"{at:%d %b %H:00} UTC: {quantity(polls, 'poll')}, {errors} failed, {quantity(items, 'new item')}"


async def _errors(database: Database) -> Markup:
    found = await errors_by_host(database, HOSTS_SHOWN)
    if not found:
        return panel("Errors by host", empty_state("No request failed."), note="the last hour", id_="errors")
    most = max(sum(one.values()) for one in found.values())
    rows = [
        element(
            "tr",
            element("th", link(foreign(host, 60), f"/console/hosts/{quote(host, safe='')}"), scope="row"),
            element("td", share_bar([(CLASS_TONES[name], count) for name, count in classes.items()], most, told)),
            element("td", number(sum(classes.values())), class_="number"),
        )
        for host, classes in found.items()
        for told in [", ".join(f"{count:,} {name}" for name, count in classes.items())]
    ]
    made = element("table", element("tbody", *rows), class_="heatmap")
    tones: dict[str, str] = {}
    for name, tone in CLASS_TONES.items():
        tones[tone] = f"{tones[tone]}, {name}" if tone in tones else name
    return panel(
        "Errors by host", made, legend(tones), note="of the latest 20,000 requests, the last hour", id_="errors"
    )


def _events(found: Sequence[Happened], visit: PageVisit) -> Markup:
    rows = [
        TableColumn[Happened]("When", lambda one: moment(one.at, visit.now), "tight"),
        TableColumn[Happened]("Kind", event_kind, "tight"),
        TableColumn[Happened]("What", lambda one: foreign(one.event.message, 240), "main"),
        TableColumn[Happened]("By", lambda one: foreign(one.event.actor, 40), "tight"),
    ]
    listed = table(rows, found, "Recent events", empty=empty_state("Nothing has happened yet."))
    return panel("Recent events", listed, note=f"the newest {len(found)}", id_="events")


def event_kind(one: Happened) -> Markup:
    """With a sign where somebody should look."""
    tone = LEVEL_TONES.get(one.event.level)
    return state(tone, one.event.kind) if tone else element("span", spelt_out(one.event.kind), class_="calm")
