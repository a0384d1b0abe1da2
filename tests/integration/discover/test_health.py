"""What real polls leave behind, as the health of their source tells it."""

from datetime import timedelta
from uuid import UUID

from tests.integration.discover.conftest import STARTED, Desk, rss, stories

from headwater.ingest.taking_down import lift_everywhere, take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.reports.discovery import overviews
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status
from headwater.simweb.resolver import NoSuchName
from headwater.sources.health import Health
from headwater.sources.health_word import HealthStatus
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceKind, SourceMode
from headwater.sources.store import read_source

FEED = "http://a.test/feed.xml"


async def health(desk: Desk, source: UUID) -> Health:
    [overview] = await overviews(desk.path.database, [await read_source(desk.path.database, source)])
    return overview.health


async def kinds(desk: Desk, source: UUID) -> list[str]:
    return [one.kind for one in (await health(desk, source)).problems]


async def test_a_sound_feed_has_no_problem(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    assert await health(desk, source) == Health(HealthStatus.OK, "")


async def test_a_dead_name_is_told_at_the_first_poll(desk: Desk) -> None:
    desk.path.resolver.script("nowhere.test", NoSuchName())
    source = await desk.follow("http://nowhere.test/", feeds=("http://nowhere.test/feed.xml",))
    await desk.poll()
    found = await health(desk, source)
    assert found.word is HealthStatus.STRUGGLING
    assert [one.kind for one in found.problems] == ["dead_domain"]


async def test_a_feed_that_breaks_off_is_told_until_it_is_whole(desk: Desk) -> None:
    whole = rss(*stories(3))
    desk.site.pages["/feed.xml"] = Page(whole.body[: whole.body.index(b"Story 2")], whole.content_type)
    source = await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "warn"
    assert await kinds(desk, source) == ["truncated"]
    await desk.poll_again()
    assert await kinds(desk, source) == ["truncated"]
    desk.site.pages["/feed.xml"] = whole
    await desk.poll_again()
    assert await kinds(desk, source) == []


async def test_an_empty_feed_is_told(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss()
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    assert await kinds(desk, source) == ["empty"]
    desk.site.pages["/feed.xml"] = rss(*stories(2))
    await desk.poll_again()
    assert await kinds(desk, source) == []


async def test_a_listing_without_items_is_told(desk: Desk) -> None:
    desk.site.pages["/"] = Page(b"<html><body><p>Nothing to see.</p></body></html>")
    source = await desk.follow(mode=SourceMode.SPIDER)
    await desk.poll()
    assert {one.kind for one in await desk.channels(source)} == {ChannelKind.LISTING}
    found = await health(desk, source)
    assert found.word is HealthStatus.STRUGGLING
    assert [one.kind for one in found.problems] == ["no_items"]


async def test_a_steady_loss_is_told_with_its_size(desk: Desk) -> None:
    def at(hours: int) -> Page:
        newest = STARTED + timedelta(hours=hours)
        items = [(f"/{hours}-{n}", f"S {n}", newest - timedelta(minutes=6 * (n + 1))) for n in range(10)]
        return rss(*items)

    desk.site.pages["/feed.xml"] = at(0)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    for hours in (5, 10, 15):
        desk.now[0] = STARTED + timedelta(hours=hours)
        desk.site.pages["/feed.xml"] = at(hours)
        await desk.path.database.execute("update channels set next_poll_at = $1 where kind = 'feed'", desk.now[0])
        await desk.poll()
    [told] = [one for one in (await health(desk, source)).problems if one.kind == "overflow"]
    assert told.what.startswith("Probably missed 1")
    assert "the feed is shorter than the polling gap, 3 times" in told.what


async def test_a_crawl_whose_first_page_is_not_there_is_told(desk: Desk) -> None:
    desk.path.sim.script("a.test", Status(404), "/docs/")
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, mode=SourceMode.SPIDER)
    await desk.poll()
    assert ChannelKind.CRAWL in {one.kind for one in await desk.channels(source)}
    assert "crawl_start" not in await kinds(desk, source)
    await desk.path.travel_all()
    found = await health(desk, source)
    assert "crawl_start" in [one.kind for one in found.problems]
    assert found.word is HealthStatus.STRUGGLING


async def test_a_source_whose_host_is_taken_down_is_blocked_until_it_is_lifted(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(2))
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    await take_down_everywhere(desk.path.database, parse_takedown("a.test"), "asked")
    [ran] = await desk.poll_again()
    assert ran.waits is not None
    assert (await health(desk, source)).word is HealthStatus.BLOCKED
    await lift_everywhere(desk.path.database, parse_takedown("a.test"))
    [again] = await desk.poll_again()
    assert again.ending is not None
    assert again.ending.status == "ok"
    assert (await health(desk, source)).word is HealthStatus.OK
