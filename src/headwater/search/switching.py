"""PostgreSQL's search columns and their indexes, switched off and on again: in batches, and to be gone on with.

`switch_to` is the function to read first. Whoever writes a page asks the state while it writes, so from the first step
on the columns are written, or not, as they will be at the end.
"""

from collections.abc import Callable, Mapping

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.errors import Busy
from headwater.record_kind import RecordKind
from headwater.search.column import ColumnState, column_in, queries, search_column

# To empty a row is little work; its words are read again to fill it.
BATCH = {ColumnState.EMPTYING: 1_000, ColumnState.FILLING: 200}
ENDS_AS = {ColumnState.EMPTYING: ColumnState.AWAY, ColumnState.FILLING: ColumnState.KEPT}
WRITERS_ASKED_EVERY = 0.2
# An index of a large archive takes hours to build; dropping one waits for whoever reads it.
PATIENCE_SECONDS = 24 * 3600.0
# As migrations made them.
INDEXES = {
    "documents_search": ("documents", "search"),
    "jobs_search": ("jobs", "search_tsv"),
}

SwitchProgress = Callable[[str, int], None]


async def switch_to(
    database: Database,
    clock: Clock,
    goal: ColumnState,
    told: SwitchProgress = lambda step, rows: None,
    batch: Mapping[ColumnState, int] = BATCH,
) -> None:
    """To AWAY or to KEPT; one that was begun goes on where it stopped. `told` is called with a step and its rows."""
    way = next(state for state, end in ENDS_AS.items() if end is goal)
    if (await search_column(database)).state is goal:
        return
    await database.execute(queries.begin_switch, str(way))
    told("waiting for pages that are being written", 0)
    await _outwait_writers(database, clock)
    if way is ColumnState.EMPTYING:
        await _drop_indexes(database)
        told("emptying", 0)
    while (rows := await _do_batch(database, way, batch[way])) is not None:
        told(str(way), rows)
    if way is ColumnState.FILLING:
        told("building the indexes", 0)
        await _build_indexes(database)
    await database.execute(queries.end_switch, str(way), str(goal))


async def _outwait_writers(database: Database, clock: Clock) -> None:
    """Those that may have asked before the state changed; whoever begins now sees it."""
    early = await _writers(database)
    while early := early & await _writers(database):
        await clock.sleep(WRITERS_ASKED_EVERY)


async def _writers(database: Database) -> set[str]:
    return {row["virtualtransaction"] for row in await database.fetch(queries.writers_now)}


async def _do_batch(database: Database, way: ColumnState, size: int) -> int | None:
    """How many rows were looked at; None after the last."""
    async with database.transaction() as connection:
        now = column_in(await connection.fetchrow(queries.lock_switch))
        if now.state is not way:
            raise Busy(
                f"Somebody else has begun to switch: the search columns are {now.state}.",
                fix="See how it stands: headwater db search-engine",
            )
        if not now.kind:
            return None
        kind = RecordKind(now.kind)
        row = await connection.fetchrow(_statement(way, kind), now.bucket, now.hash, size)
        if row is not None:
            await connection.execute(queries.note_switch, str(kind), row["bucket"], row["hash"], row["looked"])
            return int(row["looked"])
        following = str(RecordKind.JOB) if kind is RecordKind.DOCUMENT else ""
        await connection.execute(queries.note_switch, following, -1, b"", 0)
        return 0


def _statement(way: ColumnState, kind: RecordKind) -> str:
    if way is ColumnState.EMPTYING:
        return queries.empty_documents if kind is RecordKind.DOCUMENT else queries.empty_jobs
    return queries.fill_documents if kind is RecordKind.DOCUMENT else queries.fill_jobs


async def _drop_indexes(database: Database) -> None:
    for index in INDEXES:
        await _patiently(database, f"DROP INDEX CONCURRENTLY IF EXISTS {database.qualified(index)}")


async def _build_indexes(database: Database) -> None:
    """One whose building was broken off is there, and good for nothing."""
    for index, (table, column) in INDEXES.items():
        is_whole = await database.fetchval(queries.is_index_whole, database.qualified(index))
        if is_whole:
            continue
        if is_whole is False:
            await _patiently(database, f"DROP INDEX CONCURRENTLY {database.qualified(index)}")
        await _patiently(
            database,
            f"CREATE INDEX CONCURRENTLY {index} ON {database.qualified(table)} USING gin ({column}) "
            "WITH (gin_pending_list_limit = 1024)",
        )


async def _patiently(database: Database, statement: str) -> None:
    await database.execute_patiently(statement, PATIENCE_SECONDS)
