"""How it stands with searches: who answers them, and what keeps the sink that does, or would, from it."""

from collections.abc import Iterator
from dataclasses import dataclass

from headwater.clock import SystemClock
from headwater.deliver.answering import InstalledEngine
from headwater.deliver.search_engine import OPENSEARCH
from headwater.deliver.search_sink import OpenContexts, SearchSink, search_sink
from headwater.deliver.sink import Fence, SinkDown
from headwater.deliver.sinks.elasticsearch import ElasticsearchSink
from headwater.deliver.store import SinkReport, sink_named
from headwater.errors import SettingError
from headwater.search.column import ColumnState, SearchColumn, search_column
from headwater.search.search import POSTGRESQL

# A sink is always a little behind while pages come.
MOST_BEHIND = 1_000
TRY_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why answers are none, or not whole. `is_fatal`: there are none."""

    what: str
    fix: str
    is_fatal: bool = False


@dataclass(frozen=True, slots=True)
class EngineStanding:
    """`sink` is the one that answers, where PostgreSQL does not; `server` is what its server says of itself."""

    answers: str
    column: SearchColumn
    sink: SinkReport | None = None
    server: str = ""
    hindrances: tuple[Hindrance, ...] = ()


async def standing_of_engine(engine: InstalledEngine) -> EngineStanding:
    """Its server is asked."""
    database, settings = engine.database, engine.settings
    column = await search_column(database)
    begun = tuple(_begun(column))
    if settings.engine == "postgresql" and column.is_kept:
        return EngineStanding(POSTGRESQL, column)
    try:
        chosen = await search_sink(database, settings.sink)
    except SettingError as error:
        return EngineStanding(OPENSEARCH, column, None, "", (Hindrance(error.what, error.fix, is_fatal=True), *begun))
    report = await sink_named(database, chosen.name)
    server, down = await _ask_server(chosen, engine.contexts)
    return EngineStanding(OPENSEARCH, column, report, server, (*down, *hindrances_of(report), *begun))


def hindrances_of(sink: SinkReport) -> Iterator[Hindrance]:
    """What keeps a sink from holding the whole archive as it is now. Pure."""
    told = f"The sink '{sink.name}', which searches are put to,"
    if sink.state != "active":
        yield Hindrance(f"{told} is {sink.state}: what changes is not found", f"headwater sinks resume {sink.name}")
    if sink.failures:
        yield Hindrance(f"{told} failed last: {sink.last_error}", f"Try it: headwater sinks test {sink.name}")
    if sink.backfill_reason is not None:
        share = f", {sink.backfill_share:.0%} done" if sink.backfill_share is not None else ""
        yield Hindrance(f"{told} is being filled{share}", f"Wait, while `headwater run deliver` runs: {_see(sink)}")
    if sink.parked:
        yield Hindrance(f"{told} refused {sink.parked:,} records", f"See why: {_see(sink)}")
    if sink.behind > MOST_BEHIND:
        yield Hindrance(f"{told} is {sink.behind:,} changes behind the log", f"See that `deliver` runs: {_see(sink)}")


def _see(sink: SinkReport) -> str:
    return f"headwater sinks show {sink.name}"


def _begun(column: SearchColumn) -> Iterator[Hindrance]:
    if column.state in (ColumnState.EMPTYING, ColumnState.FILLING):
        goal = "opensearch" if column.state is ColumnState.EMPTYING else "postgresql"
        yield Hindrance(
            f"PostgreSQL's search columns are {column.state}: {column.done:,} rows were looked at",
            f"Unless a command is at it, go on with it: headwater db search-engine {goal}",
        )


async def _ask_server(chosen: SearchSink, contexts: OpenContexts) -> tuple[str, tuple[Hindrance, ...]]:
    clock = SystemClock()
    async with contexts() as context:
        try:
            sink = ElasticsearchSink(chosen.options, context(chosen.name))
            return await sink.test(Fence(clock, "try", clock.monotonic() + TRY_SECONDS)), ()
        except (SinkDown, SettingError) as down:
            return "", (Hindrance(down.what, down.fix, is_fatal=True),)
