"""A disk that is full under PostgreSQL: nothing is claimed in vain, nobody is blamed, and nothing is lost."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.faults import invariants
from tests.faults.small_disk import SmallDisk, refusal, small_disk
from tests.faults.world import DELAY, Running, Workbench, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.errors import DatabaseDown, DiskFull
from headwater.reports.doctor import check_room
from headwater.simweb.mischief.pace import SlowStart

SITES = hosts(8)
PAGES = pages_of(SITES, count=3)
AT_ONCE = 4
pytestmark = pytest.mark.skipif(bool(refusal()), reason=refusal() or "can be tested here")


@pytest.fixture
async def disk(disk_folder: Path) -> AsyncIterator[SmallDisk]:
    async with small_disk(disk_folder / "postgresql") as ready:
        yield ready


@pytest.fixture
async def bench(disk: SmallDisk) -> AsyncIterator[Workbench]:
    """Whatever was full, in the end every page is one document, and none was blamed."""
    async with await Database.connect(disk.dsn, size=2) as database:
        await migrate(database)
        async with workbench(database, SITES) as ready:
            yield ready
            assert await invariants.broken(database) == []
            assert await invariants.lost_urls(database, PAGES) == []
            assert await invariants.fetched_without_document(database) == []
            assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []
            assert set(await ready.rows("status, held, retry_count, crash_count")) == {("fetched", None, 0, 0)}


def troubles(running: Running) -> int:
    return sum(len(running.log.events(event)) for event in ("keep_failed", "work_lost", "claim_failed"))


async def troubled(running: Running, times: int) -> None:
    async def often_enough() -> bool:
        return troubles(running) >= times

    await until(often_enough)


async def test_a_full_disk_is_called_that_by_errors_and_doctor(disk: SmallDisk) -> None:
    async with await Database.connect(disk.dsn, size=1) as database:
        assert (await check_room(database)).level == "ok"
        await disk.ask("fill data")
        with pytest.raises(DiskFull, match=r"^The disk of the database .* is full: could not extend") as caught:
            await database.execute("create table wide as select repeat('x', 1000) from generate_series(1, 10000)")
        assert (caught.value.sqlstate, caught.value.exit_code) == ("53100", 5)
        check = await check_room(database)
        assert check.level == "failure"
        assert "is full" in check.says
        assert check.fix.startswith("Make room")


async def write_until_it_ends(database: Database) -> None:
    """Each time into a new file of the log, for which there is no room."""
    while True:
        await database.execute("update cadence set steered_at = now()")
        await database.execute("select pg_switch_wal()")


@pytest.mark.long
async def test_a_full_disk_pauses_claims_and_burns_no_attempt(bench: Workbench, disk: SmallDisk) -> None:
    await bench.queue(*PAGES)
    bench.sim.script("*", SlowStart(delay_ms=100))
    async with bench.everything(disk.dsn, fetch__concurrency=str(AT_ONCE)) as running:
        await bench.sim.visits.until(lambda visits: len(visits) >= AT_ONCE)
        await disk.ask("fill data")
        before = len(bench.asked())
        await troubled(running, times=3 * AT_ONCE)
        said = [event for event in running.log.events() if event.get("sqlstate") == "53100"]
        assert all("The disk of the database" in event["error"] and "is full" in event["error"] for event in said)
        assert said
        assert said[0]["fix"].startswith("Make room on the disk")
        # What was under way when the disk was full and when that was noticed, and nothing after it.
        assert len(bench.asked()) <= before + 2 * AT_ONCE
        await disk.ask("enlarge")
        await bench.until_settled()
    assert sorted(set(bench.asked())) == sorted(PAGES)


@pytest.mark.long
async def test_a_full_log_stops_the_server_and_everything_goes_on_after_it(bench: Workbench, disk: SmallDisk) -> None:
    await bench.queue(*PAGES)
    async with bench.everything(disk.dsn, fetch__concurrency=str(AT_ONCE)) as running:
        await bench.sim.visits.until(lambda visits: len(visits) >= AT_ONCE)
        await disk.ask("fill wal")
        with pytest.raises(DatabaseDown):
            await write_until_it_ends(bench.database)
        await troubled(running, times=1)
        asked = len(bench.asked())
        await disk.ask("enlarge")
        assert len(bench.asked()) <= asked + AT_ONCE
        await disk.ask("start")
        await bench.until_settled()
    assert sorted(set(bench.asked())) == sorted(PAGES)
