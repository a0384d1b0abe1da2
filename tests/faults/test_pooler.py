"""All roles behind a real pgbouncer, with one session of the server for all of them and for whoever else comes."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Workbench, feed, hosts, pages_of, workbench
from tests.integration.database.bouncer import PROGRAM, bouncer
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.run.maintenance import maintenance_of
from headwater.search.search import search
from headwater.services import open_services
from headwater.settings import Given, load

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed")

SITES = hosts(4)
PAGES = pages_of(SITES)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, SITES) as ready:
        yield ready


@pytest.fixture
async def pooled_url(database_url: str, open_folder: Path) -> AsyncIterator[str]:
    async with bouncer(open_folder, database_url) as url:
        yield url


@pytest.mark.parametrize("is_said", [True, False])
async def test_pages_are_found_claimed_settled_and_searched_behind_a_pooler(
    bench: Workbench, pooled_url: str, is_said: bool
) -> None:
    SITES["host0.test"].pages["/feed.xml"] = feed(*PAGES)
    await bench.follow("http://host0.test/", "http://host0.test/feed.xml")
    async with bench.everything(pooled_url, database__pooler=str(is_said).lower()) as running:
        await until(lambda: bench.database.fetchval("select count(*) = $1 from documents", len(PAGES)))
        await bench.until_settled()
    for event in ("claim_failed", "work_lost", "keep_failed", "chore_failed", "heartbeat_failed", "lesson_failed"):
        assert running.log.events(event) == []
    assert sorted(set(bench.asked())) == sorted([*PAGES, "http://host0.test/feed.xml"])
    assert await invariants.broken(bench.database) == []
    assert await invariants.fetched_without_document(bench.database) == []
    assert invariants.hosts_asked_too_soon(bench.sim.visits.all(), DELAY) == []
    async with await Database.connect(pooled_url, size=1) as database:
        assert len((await search(database, "harbour")).hits) == len(PAGES)


async def test_every_chore_is_done_behind_a_pooler_and_leaves_the_session_as_it_was(
    bench: Workbench, pooled_url: str
) -> None:
    async with open_services(load(Given(flags=bench.flags(pooled_url, {})))) as services:
        await maintenance_of(services).once()
    stranger = await asyncpg.connect(pooled_url, statement_cache_size=0)
    try:
        ours = "select name from pg_settings where source = 'session' and name ~ 'timeout|jit|search_path'"
        assert await stranger.fetch(ours) == []
    finally:
        await stranger.close()
