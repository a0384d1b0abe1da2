"""A page that eats memory costs the child that reads it, and in the end itself.

No limit around the worker is needed for that: every child has one of its own, and what it dies of is known. A child
that the kernel kills for want of memory ends as any other that is killed: see
`tests/integration/extraction/test_extraction_pool.py`.
"""

from collections import Counter

import pytest
from tests.faults import invariants
from tests.faults.world import DELAY, Articles, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.simweb.message import Page

pytestmark = pytest.mark.long

# Nine megabytes on the wire, and hundreds once they are elements.
BOMB = Page(b"<html><title>Bomb</title><body>" + b"<p>" * 3_000_000)
EATER = "http://bomb.test/eater"
RETRIES = 2


async def test_a_page_that_eats_memory_is_dead_after_some_children_and_its_worker_lives(
    database: Database, database_url: str
) -> None:
    neighbours = pages_of(hosts(4), count=2)
    sites = {**hosts(4), "bomb.test": Articles(pages={"/eater": BOMB})}
    async with workbench(database, sites) as bench:
        await bench.queue(EATER, *neighbours)

        async def eater_is_dead() -> bool:
            await bench.make_due("bomb.test")
            return bool(await database.fetchval("select status = 'dead' from url_frontier where host = 'bomb.test'"))

        limits = {"extract__memory_mb": "256", "fetch__max_retries": str(RETRIES)}
        async with bench.worker(database_url, **limits) as worker:
            await until(eater_is_dead)
            await bench.until_settled()
            assert not worker.task.done()
        row = await database.fetchrow("select reason, last_error, crash_count from url_frontier where url = $1", EATER)
        assert row is not None
        assert (row["reason"], row["crash_count"]) == ("poison", 0)
        assert "out of memory" in row["last_error"]
        assert Counter(bench.asked()) == {EATER: RETRIES + 1, **dict.fromkeys(neighbours, 1)}
        assert await database.fetchval("select count(*) from documents") == len(neighbours)
        assert await invariants.broken(database) == []
        assert invariants.hosts_asked_too_soon(bench.sim.visits.all(), DELAY) == []
