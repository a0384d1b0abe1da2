"""How long publications take to be discovered and delivered, and what the polls are worth: per source and overall."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.fetch.conftest import SmallSite

from headwater.reports.freshness import freshness_of, wasteful_channels
from headwater.sources.delays import DELAY_CLASSES

FEED = "http://a.test/feed.xml"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


async def followed(desk: Desk) -> UUID:
    desk.site.pages["/feed.xml"] = rss(*stories(5))
    source = await desk.follow(feeds=(FEED,))
    # By the days of the desk, as its polls.
    await desk.path.database.execute("update sources set created_at = $1", STARTED - HOUR)
    await desk.poll()
    return source


async def publish(desk: Desk, name: str, ago: timedelta) -> None:
    desk.now[0] += HOUR
    desk.site.pages["/feed.xml"] = rss((name, name, desk.now[0] - ago), *stories(5))
    await desk.path.database.execute("update channels set next_poll_at = $1", desk.now[0])
    await desk.poll()


async def counts_of(desk: Desk, source: UUID) -> list[int]:
    return list(await desk.path.database.fetchval("select counts from source_delays where source_id = $1", source))


async def test_delays_to_discovery_are_counted_by_source_without_what_was_there_at_first(desk: Desk) -> None:
    source = await followed(desk)
    assert await desk.path.database.fetchval("select count(*) from source_delays") == 0
    await publish(desk, "/one", 4 * MINUTE)
    await publish(desk, "/two", 25 * MINUTE)
    counts = await counts_of(desk, source)
    assert {DELAY_CLASSES[place]: count for place, count in enumerate(counts[:-1]) if count} == {
        5 * MINUTE: 1,
        30 * MINUTE: 1,
    }
    await desk.path.database.execute("update source_delays set day = current_date")
    found = await freshness_of(desk.path.database, source, await desk.channels(source))
    assert (found.discovery.count, found.discovery.p50) == (2, 5 * MINUTE)
    assert found.discovery.p95 is not None
    assert 20 * MINUTE < found.discovery.p95 <= 30 * MINUTE


async def test_polls_are_told_with_what_they_brought_and_the_vainest_first(desk: Desk) -> None:
    source = await followed(desk)
    await publish(desk, "/one", MINUTE)
    for _ in range(3):
        await desk.poll_again(HOUR)
    second = desk.path.sim.sites["b.test"]
    assert isinstance(second, SmallSite)
    second.pages["/feed.xml"] = desk.site.pages["/feed.xml"]
    other = await desk.follow("http://b.test/", feeds=("http://b.test/feed.xml",))
    await desk.poll()
    await desk.poll_again(HOUR)
    [vain, fresh] = await wasteful_channels(desk.path.database, 10)
    assert (vain.source_id, fresh.source_id) == (source, other)
    assert (round(vain.polls), round(vain.vain_polls), round(vain.new_items)) == (6, 4, 6)
    assert vain.polls_per_item == pytest.approx(1, abs=0.01)
    [only] = await wasteful_channels(desk.path.database, 1)
    assert only.id == vain.id
