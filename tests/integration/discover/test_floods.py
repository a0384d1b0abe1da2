"""A feed that lists thousands of other sites' pages at every poll: bounded, told, and no reason to be polled sooner."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.integration.discover.conftest import STARTED, Desk, opened_desk
from tests.integration.fetch.conftest import SmallSite

from headwater.discover.polls.polling import Ran
from headwater.simweb.message import Page

FEED = "http://a.test/feed.xml"
FLAGS = {"poll.foreign_urls_per_day": "30", "poll.new_hosts_per_hour": "1000"}


def feed(urls: Iterable[str]) -> Page:
    published = f"{STARTED:%a, %d %b %Y %H:%M:%S} GMT"
    items = "".join(
        f"<item><link>{url}</link><title>{url}</title><pubDate>{published}</pubDate></item>" for url in urls
    )
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>A</title>{items}</channel></rss>'
    return Page(text.encode(), "application/rss+xml")


def message_of(ran: Ran) -> str:
    assert ran.ending is not None
    return ran.ending.message


def foreign(count: int, first: int = 0) -> list[str]:
    return [f"http://s{n % 7}.example/{n}" for n in range(first, first + count)]


def own(count: int, first: int = 0) -> list[str]:
    return [f"http://a.test/story-{n}" for n in range(first, first + count)]


@pytest.fixture
async def small(database_url: str) -> AsyncIterator[Desk]:
    async with opened_desk(database_url, {"a.test": SmallSite({})}, FLAGS) as desk:
        yield desk


async def test_foreign_urls_of_a_channel_are_bounded_by_the_day_and_the_run_says_so(small: Desk) -> None:
    small.site.pages["/feed.xml"] = feed([*own(3), *foreign(100)])
    await small.follow(feeds=(FEED,))
    [ran] = await small.poll()
    assert len(await small.entries()) == 33
    said = "70 links to other sites left out: more than 30 a day. Allow more: poll.foreign_urls_per_day"
    assert said in message_of(ran)
    # The same day others are listed; nothing more is taken, but what is its own.
    small.site.pages["/feed.xml"] = feed([*own(4), *foreign(100, 500)])
    [ran] = await small.poll_again()
    assert len(await small.entries()) == 34
    assert "100 links to other sites left out" in message_of(ran)
    # What is left out is not remembered, or the memory would grow with the flood.
    assert await small.path.database.fetchval("SELECT count(*) FROM channel_items") == 34
    # Another day, the rest is offered again: although the feed has not changed since.
    [ran] = await small.poll_again(after=timedelta(days=1))
    assert len(await small.entries()) == 64


async def test_a_flood_of_foreign_urls_is_no_overflow_and_teaches_no_rhythm(small: Desk) -> None:
    small.site.pages["/feed.xml"] = feed([*own(5), *foreign(100)])
    await small.follow(feeds=(FEED,))
    await small.poll()
    intervals = []
    for number in range(1, 6):
        small.site.pages["/feed.xml"] = feed([*own(5), *foreign(100, 1_000 * number)])
        [ran] = await small.poll_again()
        assert "probably missed" not in message_of(ran)
        row = await small.path.database.fetchrow("SELECT overflow_count, poll_interval, rhythm FROM channels")
        assert row is not None
        assert row["overflow_count"] == 0
        intervals.append(row["poll_interval"])
    assert intervals == sorted(intervals)


async def test_a_pure_aggregator_is_read_up_to_its_limit_and_never_overflows(small: Desk) -> None:
    small.site.pages["/feed.xml"] = feed(foreign(20))
    await small.follow(feeds=(FEED,))
    await small.poll()
    small.site.pages["/feed.xml"] = feed(foreign(20, 100))
    [ran] = await small.poll_again()
    assert "probably missed" not in message_of(ran)
    assert len(await small.entries()) == 30


async def test_own_items_that_came_and_went_are_an_overflow_beside_foreign_ones(small: Desk) -> None:
    small.site.pages["/feed.xml"] = feed([*own(5), *foreign(5)])
    await small.follow(feeds=(FEED,))
    await small.poll()
    small.now[0] += timedelta(hours=2)
    later = feed([*own(5, 100), *foreign(5)])
    small.site.pages["/feed.xml"] = replace(later, body=later.body.replace(b"08:00:00", b"09:30:00"))
    await small.path.database.execute("UPDATE channels SET next_poll_at = $1", small.now[0])
    [ran, *_] = await small.poll()
    assert "probably missed" in message_of(ran)


async def test_new_hosts_beyond_the_hour_are_left_out_and_offered_again(database_url: str) -> None:
    flags = {"poll.foreign_urls_per_day": "1000", "poll.new_hosts_per_hour": "5"}
    async with opened_desk(database_url, {"a.test": SmallSite({})}, flags) as desk:
        desk.site.pages["/feed.xml"] = feed([f"http://n{n}.example/" for n in range(20)])
        await desk.follow(feeds=(FEED,))
        [ran] = await desk.poll()
        assert len(await desk.entries()) == 5
        assert "15 links left out: more than 5 new hosts an hour" in message_of(ran)
        assert await desk.path.database.fetchval("SELECT count(*) FROM channel_items") == 5
