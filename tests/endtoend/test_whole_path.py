"""From publishers to documents: what the simulated web published is in the archive, whatever was killed on the way."""

import asyncio
import re
from collections import Counter
from datetime import datetime, timedelta

import pytest
from tests.endtoend.conftest import ended, settings_for, started
from tests.told import TOLD

from headwater.chance import random_from
from headwater.clock import PacedClock, SystemClock
from headwater.database.pool import Database
from headwater.discover.importing import carry_out, plan_import
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.questions import smallest_gaps
from headwater.simweb.server import SimWeb
from headwater.simweb.world import World
from headwater.simweb.world.newsroom import Item
from headwater.sources.exchange.reading import read_sources
from headwater.urls.canonical import canonicalise

PUBLISHERS = 14
PROCESS = "tests.endtoend.whole"
PACE = 300.0
DELAY = timedelta(milliseconds=20)
KILLS = 3
LIVES_SECONDS = 6.0
LEASE_SECONDS = 8


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def likeness(found: str, true: str) -> float:
    """F1 over four words at a time."""
    one, other = (Counter(zip(*(words(text)[n:] for n in range(4)), strict=False)) for text in (found, true))
    common = sum((one & other).values())
    return 2 * common / max(1, sum(one.values()) + sum(other.values()))


def wanted(world: World, end: datetime) -> dict[str, Item]:
    return {
        canonicalise(item.url).key: item
        for publisher in world.publishers
        if publisher.feeds and publisher.kind == "news"
        for item in world.items(publisher, end)
        if WORLD_BEGINS < item.published <= end
    }


async def play(database: Database, database_url: str, web: SimWeb, clock: PacedClock) -> datetime:
    """Everything runs and is killed again and again; answers with the moment up to which all must have been found."""
    port = await web.start()
    flags = settings_for(database_url, port) | {
        "politeness.delay": f"{DELAY.total_seconds()}s",
        "lease.duration": f"{LEASE_SECONDS}s",
        "lease.sweep_every": "1s",
        "poll.tick": "200ms",
        "keep.run_days": "3650",
    }
    task = {"flags": flags, "port": port, "pace": PACE, "began": clock.began}
    for _ in range(KILLS):
        victim = await started(PROCESS, task)
        await asyncio.sleep(LIVES_SECONDS)
        victim.kill()
        await victim.wait()
    end = clock.now()
    survivor = await started(PROCESS, task)
    async with asyncio.timeout(300):
        late = "select count(*) from channels where kind = 'feed' and (last_ok_at is null or last_ok_at < $1)"
        while await database.fetchval(late, end):
            async with database.transaction() as connection:
                # Sources before channels, as a poll locks them: one that overflowed brings its sitemap forward.
                await connection.execute("select 1 from sources order by id for no key update")
                await connection.execute("update channels set next_poll_at = $1 where next_poll_at > $1", clock.now())
            await asyncio.sleep(1)
        waits = "select count(*) from url_frontier where status in ('pending', 'failed', 'fetching')"
        while await database.fetchval(waits):
            await asyncio.sleep(0.5)
    await ended(survivor)
    return end


@pytest.mark.long
async def test_everything_published_becomes_a_document_although_processes_are_killed(
    database: Database, database_url: str
) -> None:
    clock = PacedClock(WORLD_BEGINS, PACE, SystemClock())
    world = World(5, PUBLISHERS, start=WORLD_BEGINS, crawl_delays=())
    web = SimWeb(world.sites, clock=clock, real=SystemClock(), random=random_from(1))
    await database.execute("select ensure_days('runs', $1, 30)", WORLD_BEGINS.date())
    read = read_sources(world.opml().encode())
    await carry_out(database, await plan_import(database, read.rows), DELAY, "tester")
    await database.execute("update channels set next_poll_at = $1", WORLD_BEGINS)
    try:
        end = await play(database, database_url, web, clock)
    finally:
        await web.stop()
    await assert_documents_are_right(database, wanted(world, end))
    await assert_sinks_would_be_told(database)
    seen = web.report(agent="headwater")["total"]
    assert (seen["disallowed"], seen["highest_concurrency"]) == (0, 1)
    assert min(smallest_gaps(web.visits.all()).values()) >= DELAY.total_seconds() - 0.005


async def assert_documents_are_right(database: Database, expected: dict[str, Item]) -> None:
    rows = await database.fetch(
        "select url, canonical_url, title, text, language, published_at from documents where deleted_at is null"
    )
    found = {canonicalise(row["canonical_url"]).key: row for row in rows}
    assert {key for key in expected if key not in found} == set()
    for key, item in expected.items():
        row = found[key]
        assert (row["published_at"], row["language"]) == (item.published, item.language)
        # Not every feed says that a story was changed: then what we have is what it was.
        least = 0.98 if item.updated is None else 0.8
        assert likeness(row["text"], "\n".join(item.paragraphs)) >= least, row["url"]
    unchanged = [key for key, item in expected.items() if item.updated is None]
    assert all(found[key]["title"] == expected[key].title for key in unchanged)


async def assert_sinks_would_be_told(database: Database) -> None:
    """Of every document in its last version, unless it is a copy of another."""
    untold = await database.fetchval(
        f"select count(*) from documents d where duplicate_of is null and not exists (select 1 from {TOLD}"
        " where o.hash = d.url_hash and o.version = d.version)"
    )
    assert untold == 0
