"""A database that stands still for a while, and goes on: nothing under way is thrown away."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Workbench, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database

SITES = hosts(30)
PAGES = pages_of(SITES, count=4)
# Most of a lease, and much longer than anybody waits for a connection.
LEASE, STALL_SECONDS, ACQUIRE = "15s", 8.0, "1s"


@pytest.fixture
async def dsn(open_folder: Path) -> AsyncIterator[str]:
    """A server of its own: what is stopped here must not stop other tests."""
    server = EmbeddedServer(open_folder / "pg", settings={"fsync": "off", "shared_buffers": "32MB"})
    yield await server.start()
    await server.stop()


@pytest.fixture
async def bench(dsn: str) -> AsyncIterator[Workbench]:
    async with await Database.connect(dsn, size=2) as database:
        await migrate(database)
        async with workbench(database, SITES) as ready:
            yield ready
            assert await invariants.broken(database) == []
            assert await invariants.lost_urls(database, PAGES) == []
            assert await invariants.fetched_without_document(database) == []
            assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


@contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.long
async def test_pages_in_flight_outlive_a_stall_of_the_database(bench: Workbench, dsn: str) -> None:
    await bench.queue(*PAGES)
    flags = {
        "lease__duration": LEASE,
        "lease__sweep_every": "1s",
        "fetch__concurrency": "30",
        "database__acquire_timeout": ACQUIRE,
    }
    async with bench.everything(dsn, **flags) as running:
        await until(lambda: has_fetched(bench, len(PAGES) // 4))
        server = "select pid from pg_stat_activity where datname = current_database()"
        pids = [row["pid"] for row in await bench.database.fetch(server)]
        with stopped(pids):
            await asyncio.sleep(STALL_SECONDS)
        await bench.until_settled()
    assert running.log.events("keep_failed") != []
    assert running.log.events("leases_rescued") == []
    assert sorted(bench.asked()) == sorted(PAGES)
    assert set(await bench.rows("status, held, crash_count, retry_count")) == {("fetched", None, 0, 0)}


async def has_fetched(bench: Workbench, count: int) -> bool:
    found = await bench.database.fetchval("select count(*) from url_frontier where status = 'fetched'")
    return bool(found >= count)
