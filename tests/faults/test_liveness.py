"""Tasks that fail and work that is lost are told by `status`, while it lasts and afterwards."""

import asyncio

import pytest
from tests.faults.world import hosts, workbench
from tests.integration.database.test_days import forget_days

from headwater.database.days import HISTORY, ensure_days
from headwater.database.pool import Database
from headwater.reports.operations import Operations, operations_now
from headwater.run import presence

SITES = hosts(2)


async def until_told(database: Database, wanted: str, error: str) -> Operations:
    """A task that is begun again is failing with its next error, not in between."""
    async with asyncio.timeout(300):
        while True:
            now = await operations_now(database)
            is_failing = any(error in said for one in now.alive for said in one.failing.values())
            if is_failing and any(one.task in wanted for one in now.tasks):
                return now
            await asyncio.sleep(0.05)


@pytest.mark.long
async def test_a_chore_that_dies_is_told_with_its_last_error(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its one row the clock's mark is None, which nobody expects."""
    monkeypatch.setattr(presence, "BEAT_SECONDS", 0.1)
    async with workbench(database, SITES) as bench, bench.everything(database_url):
        await database.execute("delete from clock_mark")
        now = await until_told(database, "follow_clock rescue", "TypeError")
        [up] = now.alive
        assert set(up.does) == {"poll", "fetch", "deliver", "maintain"}
        assert any("TypeError" in said for said in up.failing.values())
        await database.execute("insert into clock_mark (seen_at) values (now())")
    after = await operations_now(database)
    assert after.processes == ()
    assert after.tasks[0].deaths >= 1
    assert "TypeError" in after.tasks[0].said


async def test_work_goes_on_through_a_day_that_nobody_made(database: Database, database_url: str) -> None:
    async with workbench(database, SITES) as bench, bench.worker(database_url):
        for table in HISTORY:
            await forget_days(database, table)
        await bench.queue("http://host0.test/1", "http://host1.test/1")
        await bench.until_settled()
    assert await bench.rows("status") == [("fetched",), ("fetched",)]
    assert await database.fetchval("select count(*) from fetch_log_default where kind = 'page'") == 2
    assert await database.fetchval("select count(*) from raw_bodies_default") == 2
    await ensure_days(database)
    assert await database.fetchval("select count(*) from fetch_log where kind = 'page'") == 2
    assert (await operations_now(database)).rows_in_default == 0
