"""The frontier kept in order: small pieces, each safe to run anywhere at any time, by several at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.frontier.control import EntryKey, change, let_go, set_aside
from headwater.frontier.entry import EntryStatus
from headwater.frontier.submit import LOWEST
from headwater.urls.domains import registrable_domain

queries = load_queries("headwater.frontier")

BATCH = 500
MOST_BATCHES = 20
PATIENCE_SECONDS = 3600
HOT_TABLES = ("hosts", "slots", "counter_deltas", "url_frontier")


@dataclass(frozen=True, slots=True)
class Rescue:
    rescued: int
    poisoned: int
    suspected: int = 0


@dataclass(frozen=True, slots=True)
class OldSnapshot:
    """An open transaction keeps vacuum from removing dead rows."""

    age: timedelta
    pid: int
    application: str
    state: str


async def rescue(database: Database, now: datetime | None = None, lease: timedelta | None = None) -> Rescue:
    """Take back leases that ran out, until none is left.

    `lease` is how long workers lease: with it is known who of them lives and what a dead one had begun. Without it
    everything that a dead one held counts as begun.
    """
    rescued = suspected = poisoned = 0
    while True:
        row = await database.fetchrow(queries.rescue_expired, BATCH, now, lease)
        assert row is not None
        rescued, suspected = rescued + row["rescued"], suspected + row["suspected"]
        poisoned += row["poisoned"]
        if row["rescued"] < BATCH:
            return Rescue(rescued, poisoned, suspected)


async def promote(database: Database, now: datetime | None = None) -> int:
    """Let hosts move up for which something better has fallen due while they waited."""
    count = 0
    while rows := await database.fetch(queries.promote_hosts, now, BATCH):
        buckets, hosts = [row["bucket"] for row in rows], [row["host"] for row in rows]
        async with database.transaction() as connection:
            await connection.execute(queries.lock_hosts, buckets, hosts)
            await connection.execute(queries.refresh_hosts, buckets, hosts, now)
        count += len(rows)
        if len(rows) < BATCH:
            break
    return count


async def queue_revisits(database: Database, now: datetime | None = None) -> int:
    """A bounded number at a time: others stay due. Each page waits once, however late it is."""
    count = 0
    for _ in range(MOST_BATCHES):
        rows = await database.fetch(queries.due_revisits, now, BATCH)
        if rows:
            count += await _queue_again(database, rows, now)
        if len(rows) < BATCH:
            break
    return count


async def _queue_again(database: Database, rows: Sequence[Any], now: datetime | None) -> int:
    buckets, hashes, hosts = ([row[name] for row in rows] for name in ("bucket", "url_hash", "host"))
    async with database.transaction() as connection:
        await connection.execute(queries.lock_hosts, buckets, hosts)
        prepared = await connection.fetch(queries.prepare_revisits, buckets, hashes, LOWEST)
        keys = [EntryKey(row["bucket"], row["url_hash"]) for row in prepared if not row["is_left"]]
        return (
            await change(connection, keys, before=(EntryStatus.FETCHED,), status=EntryStatus.PENDING, now=now)
            if keys
            else 0
        )


async def name_domains(database: Database) -> int:
    """Give hosts their registrable domain that were made by a process without the list of public suffixes."""
    count = 0
    while rows := await database.fetch(queries.hosts_without_domain, BATCH):
        buckets, hosts = [row["bucket"] for row in rows], [row["host"] for row in rows]
        async with database.transaction() as connection:
            await connection.execute(queries.lock_hosts, buckets, hosts)
            await connection.execute(queries.name_domains, buckets, hosts, list(map(registrable_domain, hosts)))
        count += len(rows)
    return count


async def follow_source_status(database: Database) -> int:
    """Pause or resume the entries that were submitted or given back in the moment of a pause or a resume."""
    count = 0
    for row in await database.fetch(queries.recently_stopped_sources):
        count += await set_aside(database, row["id"])
    for row in await database.fetch(queries.sources_with_held_entries):
        count += await let_go(database, row["id"])
    return count


async def fold_counters(database: Database) -> bool:
    """False if another process is at it."""
    async with database.transaction() as connection:
        if not await connection.fetchval(queries.try_to_be_alone, "fold_counters"):
            return False
        await connection.execute(queries.fold_counters)
        return True


async def fold_statistics(database: Database) -> bool:
    """Requests by host and by the minute, runs by the minute; False if another process is at it."""
    async with database.transaction() as connection:
        if not await connection.fetchval(queries.try_to_be_alone, "fold_statistics"):
            return False
        mark = await connection.fetchrow(queries.statistics_to_fold)
        assert mark is not None
        await connection.execute(queries.fold_statistics, mark["folded_until"], mark["until"])
        await connection.execute(queries.fold_requests, mark["folded_until"], mark["until"])
        await connection.execute(queries.fold_runs, mark["runs_folded_until"], mark["until"])
        return True


async def vacuum_hot_tables(database: Database) -> None:
    """More often than autovacuum would come round: dead rows at the head of the queue cost every claim."""
    for table in HOT_TABLES:
        vacuum = f"VACUUM (ANALYZE, SKIP_LOCKED) {database.qualified(table)}"
        await database.execute_patiently(vacuum, PATIENCE_SECONDS)


async def forget_sleepers(database: Database) -> None:
    await database.execute(queries.forget_sleepers)


async def forget_new_hosts(database: Database) -> None:
    await database.execute(queries.forget_new_hosts)


async def oldest_snapshot(database: Database) -> OldSnapshot | None:
    row = await database.fetchrow(queries.oldest_snapshot)
    if row is None:
        return None
    return OldSnapshot(timedelta(seconds=row["age_seconds"]), row["pid"], row["application_name"], row["state"])
