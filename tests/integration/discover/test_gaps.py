"""A feed that overflowed between two polls: its sitemap fills the gap, and is looked for where none is known."""

from datetime import datetime, timedelta

import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss
from tests.integration.discover.test_channels import sitemap
from tests.integration.fetch.conftest import robots

from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind

FEED = "http://a.test/feed.xml"
WINDOW = 5
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
HOME = Page(b"<html></html>")


def story(number: int, published: datetime) -> tuple[str, str, datetime]:
    return f"/story-{number}", f"Story {number}", published


def written(count: int) -> list[tuple[str, str, datetime]]:
    """Five before the first poll, the others one a minute after it."""
    early = [story(n, STARTED - (5 - n) * HOUR) for n in range(5)]
    return [*early, *(story(n, STARTED + (n - 4) * MINUTE) for n in range(5, count))]


def publish(desk: Desk, count: int, *, with_sitemap: bool = True) -> None:
    desk.site.pages.setdefault("/", HOME)
    desk.site.pages["/feed.xml"] = rss(*reversed(written(count)[-WINDOW:]))
    if with_sitemap:
        desk.site.pages["/news-sitemap.xml"] = sitemap(
            *((path, f"{published:%Y-%m-%dT%H:%M:%SZ}") for path, _, published in written(count))
        )


async def messages(desk: Desk) -> list[str]:
    rows = await desk.path.database.fetch("select message from events where kind = 'gap' order by id")
    return [row["message"] for row in rows]


async def poll_feed(desk: Desk, after: timedelta) -> None:
    desk.now[0] += after
    await desk.path.database.execute("update channels set next_poll_at = $1 where kind = 'feed'", desk.now[0])
    await desk.poll()


async def overflow(desk: Desk, count: int, *, with_sitemap: bool = True) -> None:
    publish(desk, count, with_sitemap=with_sitemap)
    await poll_feed(desk, 2 * HOUR)
    # Channels of one host wait for their turn.
    for _ in range(3):
        await desk.poll_again(after=timedelta(seconds=5))


async def test_where_no_sitemap_is_known_one_is_looked_for_and_fills_the_gap(desk: Desk) -> None:
    publish(desk, 5)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    await overflow(desk, 17)
    assert await desk.entries() == {f"http://a.test/story-{n}" for n in range(17)}
    found = {one.kind: one for one in await desk.channels(source)}
    assert found[ChannelKind.SITEMAP].url == "http://a.test/news-sitemap.xml"
    assert not found[ChannelKind.SEARCH].is_enabled
    assert await messages(desk) == ["looks for a sitemap to fill the gap with"]


async def test_a_sitemap_is_found_where_the_page_of_the_source_is_not_to_be_had(desk: Desk) -> None:
    desk.site.pages["/"] = Page(b"no", status=404)
    publish(desk, 5)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    await overflow(desk, 17)
    assert await desk.entries() == {f"http://a.test/story-{n}" for n in range(17)}
    assert "/rss" not in {visit.target for visit in desk.path.visits()}
    [found] = [one.url for one in await desk.channels(source) if one.kind is ChannelKind.SITEMAP]
    assert found == "http://a.test/news-sitemap.xml"


async def test_a_sitemap_that_is_known_is_read_at_once(desk: Desk) -> None:
    publish(desk, 5)
    await desk.follow(feeds=(FEED,), sitemaps=("http://a.test/news-sitemap.xml",))
    for _ in range(2):
        await desk.poll_again(after=timedelta(seconds=5))
    await overflow(desk, 17)
    assert await desk.entries() == {f"http://a.test/story-{n}" for n in range(17)}
    assert await messages(desk) == ["reads 1 sitemap to fill the gap"]


async def test_only_a_sitemap_is_looked_for_where_a_feed_is_followed(desk: Desk) -> None:
    publish(desk, 5)
    head = '<link rel="alternate" type="application/rss+xml" href="/other.rss">'
    desk.site.pages |= {
        "/": Page(f"<html><head>{head}</head></html>".encode()),
        "/other.rss": rss(*(story(n, STARTED) for n in range(100, 105))),
        "/robots.txt": robots("User-agent: *\nAllow: /\nSitemap: http://a.test/news-sitemap.xml\n"),
    }
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    await overflow(desk, 17)
    assert [one.url for one in await desk.channels(source) if one.kind is ChannelKind.FEED] == [FEED]
    asked = [visit.target for visit in desk.path.visits()]
    assert "/other.rss" not in asked
    assert "/rss" not in asked
    assert len(await desk.entries()) == 17


@pytest.mark.long
async def test_a_search_in_vain_is_told_and_not_repeated_with_every_overflow(desk: Desk) -> None:
    publish(desk, 5, with_sitemap=False)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    await overflow(desk, 17, with_sitemap=False)
    [search] = [one for one in await desk.channels(source) if one.kind is ChannelKind.SEARCH]
    assert (search.is_enabled, search.disabled_reason) == (False, "found no sitemap")
    asked = len([visit for visit in desk.path.visits() if visit.target == "/"])
    await overflow(desk, 170, with_sitemap=False)
    assert len([visit for visit in desk.path.visits() if visit.target == "/"]) == asked == 1
    assert await messages(desk) == [
        "looks for a sitemap to fill the gap with",
        "there is no sitemap to fill the gap with",
    ]
    # A week later there may be one.
    desk.now[0] += timedelta(days=8)
    await overflow(desk, 11_000)
    assert (await messages(desk))[-1] == "looks for a sitemap to fill the gap with"
    assert "http://a.test/story-10900" in await desk.entries()


async def test_a_list_that_is_replaced_quickly_is_asked_again_before_it_has_gone(desk: Desk) -> None:
    publish(desk, 5, with_sitemap=False)
    source = await desk.follow(feeds=(FEED,))
    # Polls are dear: by its rhythm alone it would wait long.
    await desk.path.database.execute("update cadence set state = $1", {"price": {"hours": 5.0}})
    await desk.poll()
    publish(desk, 9, with_sitemap=False)
    await poll_feed(desk, 40 * MINUTE)
    channel = await desk.channel(source)
    assert channel.next_reason == "at this pace its whole list is new in 50 min"
    assert channel.next_poll_at - desk.now[0] == 25 * MINUTE
    assert channel.overflow_count == 0
