"""Of job sources three are polled at once, by all pollers together; of many due ones twenty every five minutes."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.integration.discover.conftest import STARTED, Desk

from headwater.settings.groups import PollSettings
from headwater.sources.source import SourceKind
from headwater.sources.store import poll_now


async def follow(desk: Desk, jobs: int, news: int = 0) -> None:
    """Each on a host of its own; job boards are due first."""
    for number in range(jobs):
        url = f"http://board-{number:03}.test/"
        await desk.follow(url, feeds=(f"{url}feed",), kind=SourceKind.JOBS)
    for number in range(news):
        url = f"http://news-{number:03}.test/"
        await desk.follow(url, feeds=(f"{url}feed",))
    order = "update channels set next_poll_at = $1::timestamptz + (host > 'c')::integer * interval '1 second'"
    await desk.path.database.execute(order, STARTED - timedelta(minutes=1))


def test_the_defaults_are_those_that_were_asked_for() -> None:
    settings = PollSettings()
    assert (settings.jobs_every, settings.jobs_batch, settings.jobs_pool) == (timedelta(minutes=5), 20, 3)


async def test_three_job_sources_are_polled_at_once_and_nobody_waits_behind_them(desk: Desk) -> None:
    await follow(desk, jobs=10, news=4)
    kinds = [lease.source.kind for lease in await desk.claim(50)]
    assert (kinds.count(SourceKind.JOBS), kinds.count(SourceKind.NEWS)) == (3, 4)
    desk.now[0] += timedelta(seconds=10)
    assert await desk.claim(50) == []
    reasons = await desk.path.database.fetch("select distinct next_reason from channels where token is null")
    assert [row["next_reason"] for row in reasons] == ["waits for its turn: 3 job sources are polled at once"]


async def test_those_who_wait_for_room_are_looked_at_together(desk: Desk) -> None:
    await follow(desk, jobs=8)
    number = "right(split_part(host, '.', 1), 3)::integer"
    apart = f"update channels set next_poll_at = $1::timestamptz + {number} * interval '90 milliseconds'"
    await desk.path.database.execute(apart, STARTED)
    for _ in range(8):
        await desk.claim(50)
        desk.now[0] += timedelta(milliseconds=90)
    spread = "select max(next_poll_at) - min(next_poll_at) from channels where token is null"
    assert await desk.path.database.fetchval(spread) < timedelta(milliseconds=1)


async def test_one_that_ends_makes_room_for_the_next(desk: Desk) -> None:
    await follow(desk, jobs=5)
    first = await desk.claim(50)
    await desk.polling.work(first[0])
    desk.now[0] += timedelta(seconds=10)
    assert len(await desk.claim(50)) == 1


@pytest.mark.long
async def test_the_pool_is_that_of_all_pollers(desk: Desk) -> None:
    await follow(desk, jobs=30)
    pollers = [replace(desk.polling, owner=f"poller-{number}") for number in range(4)]
    claims = await asyncio.gather(*(one.claim(50) for one in pollers))
    assert sum(len(leases) for leases, _ in claims) == 3
    leased = "select count(*) from channels where token is not null"
    assert await desk.path.database.fetchval(leased) == 3


@pytest.mark.long
async def test_of_many_twenty_are_due_every_five_minutes(desk: Desk) -> None:
    await follow(desk, jobs=50)
    await desk.claim(50)
    waiting = await desk.path.database.fetch("select next_poll_at from channels where token is null")
    minutes = sorted(round((row["next_poll_at"] - STARTED) / timedelta(minutes=1)) for row in waiting)
    assert minutes == [0] * 17 + [5] * 20 + [10] * 10


@pytest.mark.long
async def test_what_a_person_asks_for_waits_for_the_pool_only(desk: Desk) -> None:
    await follow(desk, jobs=50)
    asked = await desk.path.database.fetchval("select source_id from channels where host = 'board-049.test'")
    async with desk.path.database.transaction() as connection:
        await poll_now(connection, asked)
    await desk.path.database.execute("update channels set next_poll_at = $1 where trigger = 'manual'", STARTED)
    assert "board-049.test" in {lease.url.host for lease in await desk.claim(50)}


@pytest.mark.parametrize(("pool", "claimed"), [("1", 1), ("7", 7)])
async def test_the_pool_is_a_setting(desk: Desk, pool: str, claimed: int) -> None:
    await follow(desk, jobs=9)
    settings = desk.polling.poll.settings.model_copy(update={"jobs_pool": int(pool)})
    desk.polling = replace(desk.polling, poll=replace(desk.polling.poll, settings=settings))
    assert len(await desk.claim(50)) == claimed
