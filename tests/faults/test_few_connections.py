"""A role of the database that may open fewer connections than our pools would: nobody is blamed, nothing runs away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from urllib.parse import urlsplit

import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Workbench, feed, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database

pytestmark = pytest.mark.long

SITES = hosts(40)
PAGES = pages_of(SITES)
_numbers = count()


@asynccontextmanager
async def limited(database: Database, database_url: str, most: int) -> AsyncIterator[str]:
    """The address of the database for a role that may open so many connections."""
    address = urlsplit(database_url)
    role = f"limited_{address.path.strip('/')}_{next(_numbers)}"
    schema = await database.fetchval("select current_schema()")
    await database.execute(
        f"""create role {role} login connection limit {most};
        grant all on schema {schema} to {role};
        grant all on all tables in schema {schema} to {role};
        grant all on all sequences in schema {schema} to {role}"""
    )
    try:
        yield f"{address.scheme}://{role}@{address.netloc.rpartition('@')[2]}{address.path}?{address.query}"
    finally:
        await database.execute(f"drop owned by {role} cascade; drop role {role}")


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, SITES) as ready:
        yield ready
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


async def test_a_worker_with_too_few_connections_loses_no_page(bench: Workbench, database_url: str) -> None:
    """One for its pool, one to listen and one for its heart: forty journeys take turns."""
    await bench.queue(*PAGES)
    async with (
        limited(bench.database, database_url, most=3) as dsn,
        bench.worker(dsn, fetch__concurrency="40") as worker,
    ):
        await bench.until_settled()
    assert worker.log.events("work_lost") == []
    assert set(await bench.rows("status, held, crash_count")) == {("fetched", None, 0)}
    assert sorted(bench.asked()) == sorted(PAGES)


async def test_a_poller_with_too_few_connections_loses_no_poll(bench: Workbench, database_url: str) -> None:
    for name, site in SITES.items():
        site.pages["/feed.xml"] = feed(f"http://{name}/page0")
        await bench.follow(f"http://{name}/", f"http://{name}/feed.xml")

    async def all_polled() -> bool:
        polled = "select count(*) from channels where kind = 'feed' and last_ok_at is not null"
        return bool(await bench.database.fetchval(polled) == len(SITES))

    async with (
        limited(bench.database, database_url, most=3) as dsn,
        bench.poller(dsn, poll__concurrency="20") as poller,
    ):
        await until(all_polled)
    assert poller.log.events("work_lost") == []
    assert await bench.database.fetchval("select max(lost_count + consecutive_errors) from channels") == 0
    assert await bench.database.fetchval("select count(*) from runs where status <> 'ok'") == 0
