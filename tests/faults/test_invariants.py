"""Questions that nothing could fail would say nothing: each finds what is planted for it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from tests.faults import invariants
from tests.faults.world import Articles, Workbench, workbench

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.simweb.message import Request

PAGES = ("http://a.test/one", "http://b.test/two")
LEASE = timedelta(minutes=5)
COPY_OF_A_SLOT = """
    insert into slots (bucket, token, host, kind, owner, starts_at, expires_at, url_hash, source_id, from_status)
    select bucket, gen_random_uuid(), host, kind, 'another', starts_at, expires_at, url_hash, source_id, from_status
    from slots limit 1"""
SETTLED_TWICE = """
    insert into fetch_log (at, bucket, host, token, kind, owner, verdict)
    select now(), 0, 'a.test', '00000000-0000-0000-0000-000000000001', 'page', 'ann',
           unnest(array['fetched', 'dead'])"""

Question = Callable[[Database], Awaitable[invariants.Broken]]
PLANTED: list[tuple[str, Question]] = [
    ("insert into counter_deltas select source_id, 'dead', 7 from url_frontier limit 1", invariants.uncounted_entries),
    ("delete from slots", invariants.entries_in_no_state),
    ("delete from hosts where host = 'b.test'", invariants.entries_in_no_state),
    (COPY_OF_A_SLOT, invariants.leases_that_are_not_single),
    (COPY_OF_A_SLOT, invariants.busy_hosts_without_requests),
    ("update hosts set in_flight = 3 where host = 'b.test'", invariants.busy_hosts_without_requests),
    (SETTLED_TWICE, invariants.tokens_settled_twice),
]


async def claimed_one(bench: Workbench) -> None:
    await bench.queue(*PAGES)
    assert (await Claimer(bench.database, SystemClock(), "ann", LEASE).claim(1)).leases


@pytest.mark.parametrize(("damage", "question"), PLANTED)
async def test_what_is_planted_is_found(database: Database, damage: str, question: Question) -> None:
    async with workbench(database, {}) as bench:
        await claimed_one(bench)
        assert await invariants.broken(database) == []
        await database.execute(damage)
        assert await question(database) != []


async def test_a_url_that_is_missing_is_found(database: Database) -> None:
    async with workbench(database, {}) as bench:
        await bench.queue(PAGES[0])
        assert await invariants.lost_urls(database, PAGES) == [PAGES[1]]


async def test_pages_and_hosts_that_are_asked_too_soon_are_found(database: Database) -> None:
    async with workbench(database, {"a.test": Articles()}) as bench:
        for at in (100.0, 100.2):
            bench.sim.visits.begin(Request("GET", "a.test", "/one", "", {}), 1, at, at)
        visits = bench.sim.visits.all()
        assert invariants.pages_asked_too_soon_again(visits, LEASE) == [("a.test", "/one")]
        assert invariants.pages_asked_too_soon_again(visits, timedelta(seconds=0.1)) == []
        assert invariants.hosts_asked_too_soon(visits, timedelta(seconds=0.1)) == []
        assert [host for host, _ in invariants.hosts_asked_too_soon(visits, timedelta(seconds=1))] == ["a.test"]


async def test_a_document_that_is_missing_is_found(database: Database) -> None:
    async with workbench(database, {"a.test": Articles(), "b.test": Articles()}) as bench:
        await bench.queue(*PAGES)
        await database.execute("update url_frontier set status = 'fetched'")
        assert sorted(await invariants.fetched_without_document(database)) == sorted(PAGES)
