"""What is asked of a source in each mode, and the sitemap of a source with a feed."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import pytest
from tests.integration.discover.conftest import DELAY, STARTED, Desk, opened_desk, rss, stories
from tests.integration.discover.test_channels import ARTICLES, page_of, sitemap
from tests.integration.fetch.conftest import SmallSite

from headwater.discover.adding import NOT_WANTED, change
from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceKind, SourceMode
from headwater.sources.store import read_source

FEED, MAP = "http://a.test/feed.xml", "http://a.test/sitemap.xml"
HOUR = timedelta(hours=1)


@pytest.fixture
async def seeking(database_url: str) -> AsyncIterator[Desk]:
    """A poller that looks for sitemaps, as it does unless somebody switches it off."""
    async with opened_desk(database_url, {"a.test": SmallSite({})}, {"poll.sitemaps": "true"}) as opened:
        publish(opened)
        yield opened


def publish(desk: Desk) -> None:
    desk.site.pages |= {
        "/": page_of(*ARTICLES),
        "/feed.xml": rss(*stories(3)),
        "/sitemap.xml": sitemap(("/a", f"{STARTED:%Y-%m-%dT%H:%M:%SZ}")),
    }


def asked(desk: Desk) -> set[str]:
    return {visit.target for visit in desk.path.visits()} - {"/robots.txt"}


async def poll_for(desk: Desk, hours: int) -> None:
    for _ in range(hours):
        await desk.poll_again(after=HOUR)


async def edit(desk: Desk, source: object, **changes: object) -> None:
    async with desk.path.database.transaction() as connection:
        await change(connection, source, changes, "tester", DELAY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (SourceMode.FEED, {"/feed.xml", "/sitemap.xml"}),
        (SourceMode.SPIDER, {"/"}),
        (SourceMode.BOTH, {"/", "/feed.xml", "/sitemap.xml"}),
    ],
)
async def test_a_mode_decides_what_is_asked(desk: Desk, mode: SourceMode, expected: set[str]) -> None:
    publish(desk)
    await desk.follow(mode=mode, feeds=(FEED,), sitemaps=(MAP,), max_depth=0)
    await poll_for(desk, 8)
    assert asked(desk) == expected


async def test_what_a_mode_leaves_out_stays_on_record_for_another_mode(desk: Desk) -> None:
    publish(desk)
    source = await desk.follow(mode=SourceMode.SPIDER, feeds=(FEED,), sitemaps=(MAP,), max_depth=0)
    kinds = {one.kind: one.disabled_reason for one in await desk.channels(source)}
    assert kinds == {ChannelKind.FEED: NOT_WANTED, ChannelKind.SITEMAP: NOT_WANTED, ChannelKind.LISTING: None}
    await edit(desk, source, ingestion_mode=SourceMode.FEED)
    assert await enabled(desk, source) == [ChannelKind.FEED, ChannelKind.SITEMAP]
    await edit(desk, source, ingestion_mode=SourceMode.SPIDER)
    assert await enabled(desk, source) == [ChannelKind.LISTING]


async def enabled(desk: Desk, source: object) -> Sequence[ChannelKind]:
    return sorted(one.kind for one in await desk.channels(source) if one.is_enabled)  # type: ignore[arg-type]


async def test_feeds_that_are_named_with_the_mode_spider_are_not_polled(desk: Desk) -> None:
    source = await desk.follow(mode=SourceMode.SPIDER, max_depth=0)
    await edit(desk, source, ingestion_mode=SourceMode.SPIDER, feed_url=(FEED,))
    assert await enabled(desk, source) == [ChannelKind.LISTING]
    await edit(desk, source, sitemap_url=(MAP,))
    assert (await read_source(desk.path.database, source)).profile.ingestion_mode is SourceMode.BOTH
    assert ChannelKind.SITEMAP in await enabled(desk, source)


@pytest.mark.parametrize("kind", [SourceKind.JOBS, SourceKind.DOCS])
async def test_with_the_mode_feed_no_page_is_looked_through(desk: Desk, kind: SourceKind) -> None:
    source = await desk.follow(mode=SourceMode.FEED, kind=kind)
    assert await enabled(desk, source) == [ChannelKind.SEARCH]


async def test_with_the_mode_both_feeds_are_looked_for_where_none_is_named(desk: Desk) -> None:
    source = await desk.follow(mode=SourceMode.BOTH)
    assert await enabled(desk, source) == [ChannelKind.LISTING, ChannelKind.SEARCH]


async def test_a_source_with_a_sitemap_alone_is_one_of_the_mode_feed(desk: Desk) -> None:
    publish(desk)
    named = await desk.follow(sitemaps=(MAP,))
    assert (await read_source(desk.path.database, named)).profile.ingestion_mode is SourceMode.FEED


@pytest.mark.parametrize(
    ("page", "mode"), [(Page(b"<html></html>"), SourceMode.FEED), (page_of(*ARTICLES), SourceMode.BOTH)]
)
async def test_a_sitemap_that_a_search_found_is_polled_in_the_mode_of_its_source(
    desk: Desk, page: Page, mode: SourceMode
) -> None:
    publish(desk)
    del desk.site.pages["/feed.xml"]
    desk.site.pages["/"] = page
    source = await desk.follow()
    await poll_for(desk, 2)
    assert (await read_source(desk.path.database, source)).profile.ingestion_mode is mode
    assert ChannelKind.SITEMAP in await enabled(desk, source)


async def test_a_source_with_a_feed_gets_its_sitemap_within_six_hours(seeking: Desk) -> None:
    source = await seeking.follow(feeds=(FEED,))
    await seeking.poll()
    assert asked(seeking) == {"/feed.xml"}
    await poll_for(seeking, 7)
    assert "http://a.test/a" in await seeking.entries()
    [found] = [one for one in await seeking.channels(source) if one.kind is ChannelKind.SITEMAP]
    assert (found.url, found.is_enabled, found.poll_interval) == (MAP, True, 6 * HOUR)


@pytest.mark.long
async def test_a_sitemap_is_looked_for_once_and_its_absence_is_no_warning(seeking: Desk) -> None:
    del seeking.site.pages["/sitemap.xml"]
    source = await seeking.follow(feeds=(FEED,))
    await seeking.poll()
    await poll_for(seeking, 24)
    assert [visit.target for visit in seeking.path.visits()].count("/sitemap.xml") == 1
    assert {ran.ending.status for ran in seeking.ran if ran.ending} == {"ok"}
    [search] = [one for one in await seeking.channels(source) if one.kind is ChannelKind.SEARCH]
    assert (search.is_enabled, search.disabled_reason) == (False, "found no sitemap")


async def test_no_sitemap_is_looked_for_beside_vacancies_or_where_one_is_named(seeking: Desk) -> None:
    await seeking.follow("http://a.test/jobs", feeds=(FEED,), kind=SourceKind.JOBS)
    await seeking.poll()
    assert await seeking.path.database.fetchval("select count(*) from channels where kind = 'search'") == 0
