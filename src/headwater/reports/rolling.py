"""The log of requests, the log of runs and the archive counted by the minute, for charts and for Prometheus.

Minutes are counted again and again while rows of them may still be committed, and only what is new in them is added to
hours and totals: a count that is broken off, repeated or late changes nothing. Totals never go back, whatever the
tables forget.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.reports")

# After so long every row of a minute is committed: a poll says when it ended before it can be stored, and may wait for
# a database that is away for as long as its lease.
LATE = timedelta(minutes=10)
# Counted in one transaction, where maintenance was away for longer.
MOST_AT_ONCE = timedelta(minutes=20)
MINUTES_KEPT = timedelta(hours=48)
HOUR = timedelta(hours=1)
BATCH = 5_000

# Milliseconds up to which durations and delays are counted together.
FETCH_BOUNDS = (100, 300, 1_000, 3_000, 10_000, 30_000, 60_000)
DISCOVERY_BOUNDS = (60_000, 300_000, 900_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000, 86_400_000)
# Polls are spared against one that comes round so often.
SPARED_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class RollupDays:
    hours: int = 400
    sources: int = 35


async def roll_up(database: Database) -> bool:
    """All that was logged since the last time, in pieces; False if another process is at it."""
    async with database.transaction() as connection:
        if not await _is_alone(connection):
            return False
        await connection.execute(queries.roll_counted)
        await connection.execute(queries.note_levels)
    while await _roll_a_piece(database):
        pass
    return True


async def _roll_a_piece(database: Database) -> bool:
    """Whether there is more."""
    async with database.transaction() as connection:
        if not await _is_alone(connection):
            return False
        mark = await connection.fetchrow(queries.rolled_until)
        assert mark is not None
        start, until = next_piece(mark["rolled_until"], mark["now"])
        counted = [tuple(row) for row in await recount(connection, start, until)]
        columns = [list(column) for column in zip(*counted, strict=True)] or [[], [], [], []]
        await connection.execute(queries.write_rollups, *columns)
        await connection.execute(queries.move_rollup_mark, until)
        return bool(until < mark["now"])


def next_piece(rolled_until: datetime, now: datetime) -> tuple[datetime, datetime]:
    """From a whole minute, with those before the mark that may have got more rows. A clock may have been set back."""
    start = (min(rolled_until, now) - LATE).replace(second=0, microsecond=0)
    return start, min(now, start + LATE + MOST_AT_ONCE)


async def recount(connection: Connection, start: datetime, until: datetime) -> list[Any]:
    """Minute, figure, label and count, from the tables that have it."""
    return [
        *await connection.fetch(queries.recount_requests, start, until, list(FETCH_BOUNDS)),
        *await connection.fetch(queries.recount_polls, start, until, SPARED_EVERY),
        *await connection.fetch(queries.recount_discoveries, start, until, list(DISCOVERY_BOUNDS)),
        *await connection.fetch(queries.recount_archive, start, until),
    ]


async def roll_up_sources(database: Database) -> int:
    """Hours that are over, each in a transaction of its own; how many."""
    count = 0
    while await _roll_an_hour(database):
        count += 1
    return count


async def _roll_an_hour(database: Database) -> bool:
    async with database.transaction() as connection:
        if not await _is_alone(connection):
            return False
        mark = await connection.fetchrow(queries.rolled_until)
        assert mark is not None
        hour = next(hours_that_are_over(mark["sources_rolled_until"], mark["now"]), None)
        if hour is None:
            return False
        await connection.execute(queries.roll_source_hour, hour, hour.hour + 1)
        await connection.execute(queries.move_source_mark, hour + HOUR)
        return True


def hours_that_are_over(mark: datetime, now: datetime) -> Iterator[datetime]:
    """Since the mark, as far as no row of them comes late any more."""
    hour = mark
    while hour + HOUR + LATE <= now:
        yield hour
        hour += HOUR


async def forget_rollups(database: Database, days: RollupDays) -> None:
    await database.execute(queries.forget_rollups, MINUTES_KEPT, days.hours)
    for forget in (queries.forget_source_days, queries.forget_source_delays):
        while await database.execute(forget, days.sources, BATCH) == f"DELETE {BATCH}":
            pass


async def _is_alone(connection: Connection) -> bool:
    return bool(await connection.fetchval(queries.roll_alone))
