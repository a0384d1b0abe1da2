"""Polls at times that the schedule did not choose: they find what there is, and push no other poll away."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.integration.discover.conftest import STARTED, Desk

from headwater.discover.polls.prices import steer
from headwater.simweb.message import Page
from headwater.sources.store import poll_now

FEED = "http://a.test/feed.xml"
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def undated(count: int) -> Page:
    items = "".join(f"<item><link>http://a.test/story-{n}</link><title>Story {n}</title></item>" for n in range(count))
    return Page(f"<rss version='2.0'><channel><title>A</title>{items}</channel></rss>".encode(), "application/rss+xml")


async def make_polls_dear(desk: Desk) -> None:
    await desk.path.database.execute("update cadence set state = $1", {"price": {"hours": 90.0}})


async def poll_by_hand(desk: Desk, source: UUID, after: timedelta) -> None:
    desk.now[0] += after
    await poll_now(desk.path.database, source, now=desk.now[0])
    await desk.poll()


async def test_a_feed_without_dates_is_polled_again_after_the_default_interval(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = undated(5)
    source = await desk.follow(feeds=(FEED,))
    await make_polls_dear(desk)
    await desk.poll()
    channel = await desk.channel(source)
    assert channel.next_poll_at - STARTED == HOUR
    assert channel.next_reason == "nothing is known of its rhythm yet"


@pytest.mark.long
async def test_polls_by_hand_leave_the_next_poll_as_near_as_it_was(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = undated(5)
    source = await desk.follow(feeds=(FEED,))
    await make_polls_dear(desk)
    await desk.poll()
    for count in (6, 7, 8):
        desk.site.pages["/feed.xml"] = undated(count)
        await desk.poll_again()
    waited = (await desk.channel(source)).poll_interval
    assert waited is not None
    for _ in range(3):
        await poll_by_hand(desk, source, MINUTE)
    channel = await desk.channel(source)
    assert channel.next_poll_at - desk.now[0] <= waited * 1.1
    assert channel.poll_interval is not None
    assert channel.poll_interval <= waited * 1.1


async def test_a_server_that_fails_for_a_person_is_asked_again_as_soon_as_after_one_error(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = Page(b"no", status=500)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    first = (await desk.channel(source)).poll_interval
    for _ in range(3):
        await poll_by_hand(desk, source, MINUTE)
    channel = await desk.channel(source)
    assert channel.consecutive_errors == 1
    assert first is not None
    assert channel.next_poll_at - desk.now[0] <= first * 1.2
    row = await desk.path.database.fetchrow("select status, consecutive_failures from sources where id = $1", source)
    assert row is not None
    assert tuple(row) == ("active", 1)


async def test_polls_by_hand_make_no_poll_dearer(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = undated(5)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    database = desk.path.database
    assert await steer(database, 1.0, desk.now[0]) is not None
    for _ in range(3):
        await poll_by_hand(desk, source, MINUTE)
    steering = await steer(database, 1.0, STARTED + HOUR + MINUTE)
    assert steering is not None
    assert steering.made == 0
