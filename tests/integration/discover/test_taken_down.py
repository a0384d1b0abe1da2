"""A source that is taken down is left alone without a grudge: nothing is asked, nothing counts, lifting begins anew."""

from datetime import timedelta

import pytest
from tests.integration.discover.conftest import Desk, rss, stories

from headwater.ingest.taking_down import lift_everywhere, take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.simweb.mischief.replies import Status
from headwater.sources.source import SourceKind
from headwater.sources.store import poll_now

FEED = "http://a.test/feed.xml"
DAY = timedelta(days=1)


@pytest.mark.parametrize("what", ["a.test", "http://a.test/feed.xml"])
async def test_a_poll_of_a_taken_down_channel_waits_and_counts_nothing(desk: Desk, what: str) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,), kind=SourceKind.JOBS)
    await take_down_everywhere(desk.path.database, parse_takedown(what))
    for _ in range(6):
        await poll_now(desk.path.database, source, now=desk.now[0])
        [ran] = await desk.poll()
        assert ran.waits is not None
        assert "taken down with" in ran.waits.why
        desk.now[0] += timedelta(hours=1)
    channel = await desk.channel(source)
    assert (channel.consecutive_errors, channel.last_error, channel.is_active) == (0, None, True)
    assert desk.path.asked() == []
    assert await desk.path.database.fetchval("select count(*) from runs") == 0


async def test_a_feed_elsewhere_is_not_asked_for_a_source_that_is_taken_down(desk: Desk) -> None:
    desk.path.sim.sites["b.test"].pages["/feed.xml"] = rss(*stories(3))  # type: ignore[attr-defined]
    await desk.follow("http://a.test/", feeds=("http://b.test/feed.xml",))
    await take_down_everywhere(desk.path.database, parse_takedown("a.test"))
    [ran] = await desk.poll()
    assert ran.waits is not None
    assert desk.path.asked() == []


async def test_lifting_a_takedown_makes_its_channels_due_with_a_clean_slate(desk: Desk) -> None:
    database = desk.path.database
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    desk.path.sim.script("a.test", Status(403), "/feed.xml")
    for _ in range(3):
        await desk.poll_again()
    desk.path.sim.scripts.remove()
    assert (await desk.channel(source)).consecutive_errors == 3
    takedown = parse_takedown("a.test")
    await take_down_everywhere(database, takedown)
    assert await desk.entries() != set()
    await lift_everywhere(database, takedown)
    channel = await desk.channel(source)
    assert (channel.consecutive_errors, channel.class_errors, channel.last_error) == (0, 0, None)
    assert channel.next_reason == "its takedown was lifted"
    assert await database.fetchval("select next_poll_at <= now() from channels")
    assert await database.fetchval("select consecutive_failures from sources where url_hash is not null") == 0
    # What was ended comes back with the next answer, although the feed did not change.
    desk.now[0] = max(desk.now[0], channel.next_poll_at)
    await database.execute("select ensure_days('runs', $1, 2)", desk.now[0].date())
    await desk.poll()
    assert await database.fetchval("select count(*) from url_frontier where status = 'pending'") == 3


async def test_lifting_one_takedown_leaves_the_channels_of_others_alone(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    before = (await desk.channel(source)).next_poll_at
    takedown = parse_takedown("b.test")
    await take_down_everywhere(desk.path.database, takedown)
    await lift_everywhere(desk.path.database, takedown)
    assert (await desk.channel(source)).next_poll_at == before
