"""Several pollers at once, killed in the middle of whatever they do: nothing is lost, and nothing is polled twice."""

import asyncio
from datetime import timedelta

import pytest
from tests.endtoend.conftest import ended, settings_for, started

from headwater.chance import random_from
from headwater.clock import PacedClock, SystemClock
from headwater.database.pool import Database
from headwater.discover.importing import carry_out, plan_import
from headwater.frontier.maintain import rescue
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.server import SimWeb
from headwater.simweb.world import World
from headwater.sources.exchange.reading import read_sources
from headwater.urls.canonical import canonicalise

PROCESS = "tests.endtoend.poller"
PACE = 900.0  # a quarter of an hour in a second: a busy machine must not outrun what feeds keep
# What a dead poller held rests for hours of this world. In this one no feed forgets an item within 22 hours, so that
# whatever is missing in the end was lost by us.
SEED, PUBLISHERS, RATE = 14, 24, 0.5
KILLS = 8
LIVES_SECONDS = 1.5


async def keep_rescuing(database: Database) -> None:
    """As the role for upkeep does: a poller that died at work may have left a host with its only slot taken."""
    while True:
        await rescue(database)
        await asyncio.sleep(0.5)


@pytest.mark.long
async def test_pollers_that_are_killed_lose_nothing_and_double_nothing(database: Database, database_url: str) -> None:
    real = SystemClock()
    clock = PacedClock(WORLD_BEGINS, PACE, real)
    world = World(SEED, PUBLISHERS, start=WORLD_BEGINS, rate=RATE, crawl_delays=())
    web = SimWeb(world.sites, clock=clock, real=real, random=random_from(1))
    port = await web.start()
    await database.execute("select ensure_days('runs', $1, 30)", WORLD_BEGINS.date())
    read = read_sources(world.opml().encode())
    await carry_out(database, await plan_import(database, read.rows), timedelta(milliseconds=5), "tester")
    await database.execute("update channels set next_poll_at = $1", WORLD_BEGINS)
    # A dead poller's channels are free again soon.
    flags = settings_for(database_url, port) | {"lease.duration": "6s", "poll.tick": "200ms"}
    began = real.monotonic() - (clock.now() - WORLD_BEGINS).total_seconds() / PACE
    task = {"flags": flags, "port": port, "pace": PACE, "began": began}
    rescuing = asyncio.create_task(keep_rescuing(database))
    try:
        steady = await started(PROCESS, {**task, "owner": "steady"})
        for number in range(KILLS):
            victim = await started(PROCESS, {**task, "owner": f"victim-{number}"})
            await asyncio.sleep(LIVES_SECONDS)
            victim.kill()
            await victim.wait()
        end = clock.now()
        # Whoever died held leases: they run out, and everything is looked at once more.
        await asyncio.sleep(7)
        # Later than the end: of a poll that was under way at the end only its note would be newer, and not its feed.
        again = clock.now()
        await database.execute("update channels set next_poll_at = $1 where token is null", again)
        async with asyncio.timeout(300):
            while await database.fetchval(
                "select count(*) from channels where is_active and (last_ok_at is null or last_ok_at < $1)", again
            ):
                await asyncio.sleep(0.2)
        await ended(steady)
        found = [row["url"] for row in await database.fetch("select url from url_frontier")]
    finally:
        rescuing.cancel()
        await web.stop()
    wanted = {
        canonicalise(item.url).key
        for publisher in world.publishers
        if publisher.feeds and publisher.kind == "news"
        for item in world.items(publisher, end)
        if WORLD_BEGINS < item.published <= end
    }
    assert wanted - {canonicalise(url).key for url in found} == set()
    assert len(found) == len({canonicalise(url).key for url in found})
    assert web.report(agent="headwater")["total"]["highest_concurrency"] == 1
    assert await database.fetchval("select count(distinct owner) from fetch_log where kind = 'feed'") > 1
