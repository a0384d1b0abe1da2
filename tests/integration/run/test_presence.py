"""That a process runs: seen while it does, gone when it ended in order, and never in the way of its work."""

import asyncio
import io
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest
from tests.integration.database.test_days import forget_days

from headwater.database.days import days_ahead
from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database, PoolLimits
from headwater.errors import DatabaseDown
from headwater.figures import Figures
from headwater.log import make_logger
from headwater.reports.log_lines import LineFilter, page_of_lines
from headwater.reports.operations import Operations, operations_now
from headwater.run import presence
from headwater.run.presence import Presence, forget_lines, forget_processes, present, queries
from headwater.services import Services, open_services
from headwater.settings import Given, load


@pytest.fixture
async def services(database_url: str, database: Database) -> AsyncIterator[Services]:
    async with open_services(load(Given(flags={"database.url": database_url}))) as ready:
        yield ready


@pytest.fixture
async def here(database: Database) -> AsyncIterator[Presence]:
    log = make_logger("info", "json", stream=io.StringIO())
    async with Heartbeat(database, "ann", 20) as heart:
        yield Presence(database, heart, Figures(), log, uuid4(), "fetch", ["fetch"])


async def seen(database: Database) -> list[tuple[str, bool]]:
    return [(one.role, one.is_alive) for one in (await operations_now(database)).processes]


async def until_seen(database: Database) -> None:
    async with asyncio.timeout(300):
        while not await seen(database):
            await asyncio.sleep(0.02)


async def grow_old(database: Database, by: timedelta) -> None:
    await database.execute("update role_processes set beat_at = beat_at - $1::interval", by)


async def test_a_process_is_seen_while_it_runs_and_not_after_its_end(services: Services) -> None:
    async with Heartbeat(services.database, "ann", 20) as heart, present(services, heart, "up", ["poll", "fetch"]):
        await until_seen(services.database)
        assert await seen(services.database) == [("up", True)]
    assert await seen(services.database) == []


async def test_one_that_is_told_to_end_is_gone_and_one_that_breaks_is_missed(services: Services) -> None:
    async def role(how: BaseException | None) -> None:
        async with Heartbeat(services.database, "ann", 20) as heart, present(services, heart, "poll", ["poll"]):
            await until_seen(services.database)
            if how:
                raise how
            await asyncio.Event().wait()

    running = asyncio.create_task(role(None))
    await until_seen(services.database)
    running.cancel()
    await asyncio.wait([running])
    assert await seen(services.database) == []
    with pytest.raises(KeyError):
        await role(KeyError("a fault of ours"))
    assert await seen(services.database) == [("poll", True)]
    await grow_old(services.database, timedelta(minutes=3))
    assert await seen(services.database) == [("poll", False)]


async def test_what_was_counted_is_told_once_and_outlives_the_process(here: Presence) -> None:
    here.figures.add("work_lost", "the database was away")
    here.figures.note_settled(0.02)
    await here.beat()
    await here.beat()
    here.figures.note_settled(0.25)
    await here.beat()
    await here.end()
    now = await operations_now(here.database)
    assert (now.work_lost, now.last_loss) == (1, "the database was away")
    assert (now.settles.count, now.settles.p50_ms, now.settles.p95_ms) == (2, 30, 300)


async def test_a_row_that_was_forgotten_meanwhile_counts_nothing_twice(here: Presence) -> None:
    """As after a laptop was closed for two days."""
    here.figures.add("work_lost")
    await here.beat()
    await grow_old(here.database, timedelta(days=2))
    await forget_processes(here.database)
    assert await seen(here.database) == []
    await here.beat()
    assert await seen(here.database) == [("fetch", True)]
    assert (await operations_now(here.database)).work_lost == 1


async def test_the_dead_are_shown_for_a_day(here: Presence) -> None:
    await here.beat()
    await grow_old(here.database, timedelta(hours=23))
    await forget_processes(here.database)
    assert await seen(here.database) == [("fetch", False)]


async def test_a_row_written_before_the_clock_was_set_back_does_not_live_for_ever(here: Presence) -> None:
    await here.beat()
    await grow_old(here.database, -timedelta(hours=2))
    assert await seen(here.database) == [("fetch", False)]


async def test_a_beat_that_nobody_takes_keeps_no_lease_waiting(
    here: Presence, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "PATIENCE_SECONDS", 0.2)
    async with here.database.transaction() as blocking:
        await blocking.execute("lock table role_processes in access exclusive mode")
        with pytest.raises((DatabaseDown, TimeoutError)):
            await here.beat()
        async with asyncio.timeout(5):
            assert await here.heart.fetchval("select 1") == 1
    await here.beat()
    assert await seen(here.database) == [("fetch", True)]


async def test_any_role_makes_days_that_nobody_made(here: Presence) -> None:
    await forget_days(here.database, fewest=3)
    assert (await days_ahead(here.database))["runs"] == 2
    await here.keep_days_ahead()
    assert min((await days_ahead(here.database)).values()) >= 14


async def test_waits_for_connections_are_told(database_url: str, here: Presence) -> None:
    async with await Database.connect(database_url, size=1, limits=PoolLimits(acquire=0.3)) as crowded:
        async with crowded.transaction():
            with pytest.raises(DatabaseDown):
                await crowded.fetchval("select 1")
        here.database = crowded
        await here.beat()
        now: Operations = await operations_now(crowded)
    assert now.connection_waits == 1
    assert now.connection_waiting >= timedelta(seconds=0.3)


async def test_what_it_warns_of_can_be_read_by_all(here: Presence) -> None:
    for event in ("poll_failed", "keep_failed"):
        here.log.warning(event, host="a.example", why="HTTP 503", token="whsec_secret", count=3)
    here.log.info("polled", host="a.example")
    here.log.error("journey_broke", url=f"https://a.example/{'x' * 3_000}", error="half \ud800 a letter \x00")
    await here.tell_lines()
    await here.tell_lines()
    page = await page_of_lines(here.database, LineFilter(), 50, None)
    assert [one.event for one in page.items] == ["journey_broke", "keep_failed", "poll_failed"]
    broke, kept, _ = page.items
    assert (kept.level, kept.role, kept.process_id, kept.pid) == ("warning", "fetch", here.id, os.getpid())
    assert kept.fields == {"host": "a.example", "why": "HTTP 503", "token": "***", "count": 3}
    assert kept.told == "keep failed: a.example: HTTP 503: count 3"
    assert len(broke.fields["url"]) <= 500
    errors = await page_of_lines(here.database, LineFilter(level="error"), 50, None)
    assert [one.event for one in errors.items] == ["journey_broke"]
    second = await page_of_lines(here.database, LineFilter(role="fetch", pid=os.getpid()), 1, str(broke.id))
    assert ([one.event for one in second.items], bool(second.cursor)) == (["keep_failed"], True)
    assert (await page_of_lines(here.database, LineFilter(pid=1), 50, None)).items == []


async def test_of_very_many_lines_the_newest_are_told_and_the_others_counted(here: Presence) -> None:
    for number in range(130):
        here.log.warning("poll_failed", number=number)
    await here.tell_lines()
    found = (await page_of_lines(here.database, LineFilter(), 200, None)).items
    assert [one.fields.get("number") for one in found[:-1]] == list(range(129, 29, -1))
    assert (found[-1].event, found[-1].fields["lines"]) == ("log_lines_dropped", 30)
    assert here.log.warnings.left_out == 0


async def test_lines_that_the_database_does_not_take_wait(here: Presence) -> None:
    here.log.warning("poll_failed", number=1)
    await here.database.execute("alter table process_lines rename to elsewhere")
    await here.tell_lines()
    await here.database.execute("alter table elsewhere rename to process_lines")
    here.log.warning("poll_failed", number=2)
    await here.tell_lines()
    found = (await page_of_lines(here.database, LineFilter(), 50, None)).items
    assert [one.fields["number"] for one in found] == [2, 1]


async def test_lines_are_forgotten_after_a_day_and_beyond_the_newest(here: Presence) -> None:
    for number in range(5):
        here.log.warning("poll_failed", number=number)
    await here.tell_lines()
    await here.database.execute(
        "update process_lines set at = now() - interval '25 hours' where fields @> '{\"number\": 4}'"
    )
    await forget_lines(here.database)
    assert await here.database.fetchval("select count(*) from process_lines") == 4
    await here.database.execute(queries.forget_lines, 2)
    left = (await page_of_lines(here.database, LineFilter(), 50, None)).items
    assert [one.fields["number"] for one in left] == [3, 2]
