"""A claim that the database refuses, and a host whose queue is longer than all others together."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from itertools import count
from uuid import UUID

import asyncpg
import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Workbench, hosts, pages_of, workbench
from tests.integration.frontier.stage import add_source
from tests.integration.frontier.surgery import GATE, STOP_HERE, alter, until, waiting_for_the_gate

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit

SITES = hosts(6)
PAGES = pages_of(SITES, count=2)
CHOSEN = "exit when v_hosts is null;"
# Could not serialize access; a lock was not had in time.
REFUSALS = ("40001", "55P03")
SMALL_HOSTS, BATCH, AT_ONCE = 300, 25, 10_000
LEASE = timedelta(minutes=5)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, SITES) as ready:
        await ready.queue(*PAGES)
        yield ready
        assert sorted(ready.asked()) == sorted(PAGES)
        assert set(await ready.rows("status, crash_count, retry_count")) == {("fetched", 0, 0)}
        assert await invariants.broken(database) == []
        assert await invariants.fetched_without_document(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


@pytest.mark.long
async def test_a_claim_that_is_chosen_to_end_a_deadlock_is_made_again(bench: Workbench, database_url: str) -> None:
    """It has locked hosts and waits for us, and we ask for its hosts: a real one, which its own session finds first."""
    original = await function(bench.database)
    other = await asyncpg.connect(database_url)
    await other.execute("set deadlock_timeout = '60s'")
    await other.execute("begin")
    await other.execute(f"select pg_advisory_xact_lock({GATE})")
    await alter(bench.database, "claim_entries", (CHOSEN, f"{CHOSEN} {STOP_HERE}"))
    async with bench.worker(database_url) as worker:
        await until(lambda: waiting_for_the_gate(bench.database))
        crossing = asyncio.create_task(other.fetch("select 1 from hosts for update"))
        await worker.says("claim_failed")
        await crossing
        await bench.database.execute(original)
        await other.execute("rollback")
        await bench.until_settled()
    await other.close()
    assert worker.log.events("claim_failed")[0]["sqlstate"] == "40P01"


@pytest.mark.long
@pytest.mark.parametrize("sqlstate", REFUSALS)
async def test_a_claim_that_is_refused_for_others_sake_is_made_again(
    bench: Workbench, database_url: str, sqlstate: str
) -> None:
    original, refusal = await function(bench.database), f"raise exception using errcode = '{sqlstate}';"
    await alter(bench.database, "claim_entries", (CHOSEN, f"{CHOSEN} {refusal}"))
    async with bench.worker(database_url) as worker:
        await worker.says("claim_failed")
        await bench.database.execute(original)
        await bench.until_settled()
    assert worker.log.events("claim_failed")[0]["sqlstate"] == sqlstate


async def function(database: Database) -> str:
    text: str = await database.fetchval("select pg_get_functiondef('claim_entries'::regproc)")
    return text


@pytest.mark.parametrize(
    "crowd", [pytest.param(20_000, marks=pytest.mark.long), pytest.param(1_000_000, marks=pytest.mark.slow)]
)
async def test_small_hosts_are_served_as_soon_beside_one_with_any_number_of_pages(
    database: Database, crowd: int
) -> None:
    source = await add_source(database)
    clock = SystemClock()
    await submit_all(database, source, [f"http://small{number}.test/1" for number in range(SMALL_HOSTS)])
    alone = await claims_until_all_are_served(Claimer(database, clock, "alone", LEASE))
    assert alone == SMALL_HOSTS // BATCH
    # The long queue is older than everything else.
    await submit_all(database, source, [f"http://large.test/{number}" for number in range(crowd)])
    await submit_all(database, source, [f"http://small{number}.test/2" for number in range(SMALL_HOSTS)])
    await database.execute("update hosts set in_flight = 0, next_slot_at = '-infinity'")
    await database.execute("delete from slots")
    await database.execute("update url_frontier set status = 'fetched', token = null where status = 'fetching'")
    await database.execute("select refresh_hosts(array_agg(bucket), array_agg(host), clock_timestamp()) from hosts")
    assert await claims_until_all_are_served(Claimer(database, clock, "beside", LEASE)) <= alone + 1


async def submit_all(database: Database, source: UUID, urls: Sequence[str]) -> None:
    for first in range(0, len(urls), AT_ONCE):
        async with database.transaction() as connection:
            found = [FoundUrl(url) for url in urls[first : first + AT_ONCE]]
            await submit(connection, Submitter(source, EntryOrigin.MANUAL), found, default_delay=timedelta(seconds=1))
    await database.execute("update hosts set is_doubted = false")


async def claims_until_all_are_served(claimer: Claimer) -> int:
    left = {f"small{number}.test" for number in range(SMALL_HOSTS)}
    for number in count(1):
        left -= {lease.host for lease in (await claimer.claim(BATCH)).leases}
        if not left:
            return number
    raise AssertionError
