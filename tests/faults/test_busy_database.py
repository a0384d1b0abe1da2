"""A database that others use hard: readers that hold old snapshots, and nobody who vacuums but us."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from statistics import median

import asyncpg
import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Workbench, hosts, pages_of, workbench
from tests.integration.frontier.stage import AT_ONCE, add_source

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.maintain import HOT_TABLES, vacuum_hot_tables
from headwater.frontier.settle import settle
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.frontier.verdicts import Postponed, RetryPolicy, settlement_of

pytestmark = pytest.mark.long

READERS = 4
SITES = hosts(10)
PAGES = pages_of(SITES, count=3)
SCAN = "select count(*), max(length(e.url)) from url_frontier e join hosts h using (bucket, host)"
UNPACED = timedelta()
ROUNDS = 7
ENTRIES = 200


@asynccontextmanager
async def readers(database_url: str) -> AsyncIterator[list[int]]:
    """So many that scan the queue again and again, each in one long transaction that sees a single moment."""
    scans = [0] * READERS

    async def read(number: int) -> None:
        connection = await asyncpg.connect(database_url)
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                first = await connection.fetchrow(SCAN)
                while True:
                    assert await connection.fetchrow(SCAN) == first
                    scans[number] += 1
        finally:
            connection.terminate()

    tasks = [asyncio.create_task(read(number)) for number in range(READERS)]
    try:
        yield scans
        assert not any(task.done() for task in tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, SITES) as ready:
        yield ready
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


async def test_readers_with_old_snapshots_stop_neither_claims_nor_settling(bench: Workbench, database_url: str) -> None:
    await bench.queue(*PAGES)
    async with readers(database_url) as scans, bench.worker(database_url) as worker:
        await bench.until_settled()
        # Vacuum finds nothing it may remove, and does not wait for it.
        await vacuum_hot_tables(bench.database)
    assert all(scans)
    assert sorted(bench.asked()) == sorted(PAGES)
    assert await invariants.fetched_without_document(bench.database) == []
    assert [event for event in worker.log.events() if event["level"] == "error"] == []


async def test_without_autovacuum_our_own_keeps_dead_rows_bounded(database: Database) -> None:
    """Each entry is claimed and settled again and again; without vacuum the tables would grow with every round."""
    for table in HOT_TABLES:
        await database.execute(f"alter table {table} set (autovacuum_enabled = off)")
    source = await add_source(database)
    async with database.transaction() as connection:
        found = [FoundUrl(f"http://host{number % 50}.test/{number}") for number in range(ENTRIES)]
        await submit(connection, Submitter(source, EntryOrigin.MANUAL), found, default_delay=UNPACED)
    await growth_by_round(database, vacuum=True)
    with_vacuum = await growth_by_round(database, vacuum=True)
    without = await growth_by_round(database, vacuum=False)
    # A round in which the server itself holds a snapshot is made up for in the next: rounds are judged, not their sum.
    assert median(with_vacuum) * 10 < median(without), (with_vacuum, without)
    assert await invariants.broken(database) == []


async def growth_by_round(database: Database, *, vacuum: bool) -> list[int]:
    sizes = [await size_of_hot_tables(database)]
    for _ in range(ROUNDS):
        await go_round(database)
        if vacuum:
            await vacuum_hot_tables(database)
        sizes.append(await size_of_hot_tables(database))
    return [after - before for before, after in pairwise(sizes)]


async def go_round(database: Database) -> None:
    claimer = Claimer(database, SystemClock(), "ann", timedelta(minutes=5))
    done = 0
    while done < ENTRIES:
        leases = (await claimer.claim(100)).leases
        assert leases
        again = [
            settlement_of(lease, Postponed(timedelta(), lease.url, 0), AT_ONCE, RetryPolicy(), random_from(1))
            for lease in leases
        ]
        done += len(await settle(database, again))


async def size_of_hot_tables(database: Database) -> int:
    sizes = [await database.fetchval(f"select pg_total_relation_size('{table}')") for table in HOT_TABLES]
    return sum(sizes)
