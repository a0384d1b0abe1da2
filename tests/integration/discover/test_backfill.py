"""The past of a source: read from sitemaps and the archives of feeds, behind all that is news, and never twice."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.integration.discover.conftest import DELAY, STARTED, Desk, rss, stories
from tests.integration.discover.test_leases import EXPIRE

from headwater.discover.adding import WantedSource, change, take_up
from headwater.errors import UsageError
from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, SourceKind
from headwater.sources.store import ChannelState

FEED = "http://a.test/feed.xml"
YEAR = timedelta(days=365)


async def backfill(desk: Desk, source: UUID) -> ChannelState:
    [one] = [channel for channel in await desk.channels(source) if channel.kind is ChannelKind.BACKFILL]
    return one


async def read_all(desk: Desk, source: UUID) -> ChannelState:
    """Until the backfill has ended, at most as many polls as any of these tests needs."""
    for _ in range(40):
        if not (await backfill(desk, source)).is_enabled:
            break
        await desk.poll_again()
    return await backfill(desk, source)


async def followed(desk: Desk, **wanted: object) -> UUID:
    """By the simulated days, which are not the database's; the feed was polled once, and the backfill is due."""
    source = await desk.follow("http://a.test/", **wanted)
    later = "update channels set recipe = $1, next_poll_at = $2 where kind = 'backfill'"
    await desk.path.database.execute(later, (STARTED - YEAR).isoformat(), STARTED + timedelta(minutes=5))
    await desk.poll()
    desk.now[0] = STARTED + timedelta(minutes=5)
    return source


def page_of_feed(first: int, count: int, *about: str) -> Page:
    """Stories a week apart."""
    items = [(f"/story-{n}", f"Story {n}", STARTED - timedelta(days=7 * n + 1)) for n in range(first, first + count)]
    page = rss(*items)
    return Page(page.body.replace(b"<title>A</title>", f"<title>A</title>{''.join(about)}".encode()), page.content_type)


def link(role: str, to: str) -> str:
    return f'<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="{role}" href="{to}"/>'


@pytest.mark.parametrize("role", ["prev-archive", "next"])
async def test_the_archive_of_a_feed_is_read_back_to_the_day_and_no_further(desk: Desk, role: str) -> None:
    desk.site.pages |= {
        "/feed.xml": page_of_feed(0, 20, link(role, "/archive/2")),
        "/archive/2": page_of_feed(20, 20, link(role, "/archive/1")),
        "/archive/1": page_of_feed(40, 40, link(role, "/archive/0")),
        "/archive/0": page_of_feed(80, 20, link(role, "/archive/older")),
    }
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    done = await read_all(desk, source)
    urls = await desk.entries()
    # The 53rd is more than a year old.
    assert urls == {f"http://a.test/story-{n}" for n in range(53)}
    assert "a.test/archive/older" not in desk.path.asked()
    assert (done.disabled_reason or "").startswith(f"done, back to {STARTED - YEAR:%Y-%m-%d}: ")
    assert "33 pages queued, nothing more to ask for" in (done.disabled_reason or "")


@pytest.mark.long
async def test_the_pages_of_wordpress_are_counted_until_there_is_none(desk: Desk) -> None:
    generator = "<generator>https://wordpress.org/?v=6.7</generator>"
    desk.site.pages |= {
        "/feed.xml": page_of_feed(0, 10, generator),
        "/feed.xml?paged=2": page_of_feed(10, 10, generator),
        "/feed.xml?paged=3": page_of_feed(20, 5, generator),
        "/feed.xml?paged=4": Page(b"none", status=404),
    }
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    done = await read_all(desk, source)
    assert len(await desk.entries()) == 25
    assert not done.is_enabled
    assert "a.test/feed.xml?paged=4" in desk.path.asked()
    assert "a.test/feed.xml?paged=5" not in desk.path.asked()


async def test_a_site_that_ignores_the_number_of_the_page_is_asked_once_for_it(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = page_of_feed(0, 10, "<generator>https://wordpress.org/</generator>")
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    await read_all(desk, source)
    assert [one for one in desk.path.asked() if "paged=" in one] == ["a.test/feed.xml?paged=2"]


async def test_an_archive_on_another_domain_is_not_asked(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = page_of_feed(0, 10, link("next", "http://b.test/feed.xml"))
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    await read_all(desk, source)
    assert not [one for one in desk.path.asked() if one.startswith("b.test")]


def dated(*pages: tuple[str, int], kind: str = "urlset", of: str = "url") -> Page:
    """Addresses by how many days ago they changed."""
    rows = "".join(
        f"<{of}><loc>http://a.test{path}</loc><lastmod>{STARTED - timedelta(days=days):%Y-%m-%d}</lastmod></{of}>"
        for path, days in pages
    )
    return Page(f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{kind}>'.encode())


async def test_sitemaps_that_robots_txt_names_are_read_back_to_the_day(desk: Desk) -> None:
    parts = (("/2026.xml", 10), ("/2025.xml", 100), ("/2019.xml", 2000))
    desk.site.pages |= {
        "/feed.xml": rss(*stories(2)),
        "/robots.txt": Page(b"Sitemap: http://a.test/index.xml\n", "text/plain"),
        "/index.xml": dated(*parts, kind="sitemapindex", of="sitemap"),
        "/2026.xml": dated(("/new", 10), ("/old", 50)),
        "/2025.xml": dated(("/older", 300), ("/too-old", 400)),
    }
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    await read_all(desk, source)
    found = await desk.entries()
    assert {"http://a.test/new", "http://a.test/old", "http://a.test/older"} <= found
    assert "http://a.test/too-old" not in found
    assert "a.test/2019.xml" not in desk.path.asked()


async def test_the_past_waits_behind_everything_that_is_news(desk: Desk) -> None:
    desk.site.pages |= {"/feed.xml": page_of_feed(0, 5, link("next", "/feed-2")), "/feed-2": page_of_feed(5, 5)}
    source = await followed(desk, feeds=(FEED,), backfill=YEAR, priority=5)
    await read_all(desk, source)
    rows = await desk.path.database.fetch("select url, priority from url_frontier")
    ranks = {row["url"].rpartition("-")[2]: row["priority"] for row in rows}
    assert {ranks[str(n)] for n in range(5)} == {7}
    assert {ranks[str(n)] for n in range(5, 10)} == {1}


async def test_one_answer_at_a_time_with_a_pause_that_says_how_far_it_is(desk: Desk) -> None:
    desk.site.pages |= {"/feed.xml": page_of_feed(0, 5, link("next", "/feed-2")), "/feed-2": page_of_feed(5, 5)}
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    await desk.poll()
    waiting = await backfill(desk, source)
    assert waiting.next_poll_at - desk.now[0] >= timedelta(seconds=29)
    assert waiting.next_reason.startswith(f"waits: reads the past back to {STARTED - YEAR:%Y-%m-%d}: 1 answer read, ")


async def test_a_poller_that_dies_in_the_middle_costs_nothing_that_was_read(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": Page(b"none", status=404),
        "/feed.xml": page_of_feed(0, 5, link("next", "/feed-2")),
        "/feed-2": page_of_feed(5, 5, link("next", "/feed-3")),
        "/feed-3": page_of_feed(10, 5),
    }
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    await desk.poll()
    await desk.poll_again()
    desk.now[0] = (await backfill(desk, source)).next_poll_at
    assert [lease.kind for lease in await desk.claim()] == [ChannelKind.BACKFILL]
    # Whoever claimed it is gone: another one goes on.
    await desk.path.database.execute(EXPIRE)
    await read_all(desk, source)
    assert len(await desk.entries()) == 15
    asked = desk.path.asked()
    assert (asked.count("a.test/feed-2"), asked.count("a.test/feed-3")) == (1, 1)


async def test_a_server_in_trouble_is_asked_again_for_the_same_page(desk: Desk) -> None:
    desk.site.pages |= {"/feed.xml": page_of_feed(0, 5, link("next", "/feed-2")), "/feed-2": Page(b"", status=500)}
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    await desk.poll()
    for _ in range(3):
        await desk.poll_again()
    assert (await backfill(desk, source)).is_enabled
    assert len(await desk.entries()) == 5
    desk.site.pages["/feed-2"] = page_of_feed(5, 5)
    await read_all(desk, source)
    assert len(await desk.entries()) == 10


async def test_a_backfill_keeps_to_paths_and_to_the_number_of_pages(desk: Desk) -> None:
    pages = dated(*((f"/news/{n}", 20) for n in range(9)), ("/shop/1", 20))
    desk.site.pages |= {"/sitemap.xml": pages, "/feed.xml": rss()}
    source = await followed(desk, feeds=(FEED,), backfill=YEAR, include_paths=("/news/",), max_pages=4)
    await read_all(desk, source)
    found = await desk.entries()
    assert len(found) == 4
    assert not [url for url in found if "/shop/" in url]


async def test_an_edit_of_something_else_does_not_begin_it_anew(desk: Desk) -> None:
    desk.site.pages |= {"/feed.xml": page_of_feed(0, 5, link("next", "/feed-2")), "/feed-2": page_of_feed(5, 5)}
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    await desk.poll()
    async with desk.path.database.transaction() as connection:
        await change(connection, source, {"priority": 8}, "tester", DELAY)
    await read_all(desk, source)
    # Once by the poll, once by the backfill.
    assert desk.path.asked().count("a.test/feed.xml") == 2
    assert len(await desk.entries()) == 10


async def test_a_backfill_may_be_asked_for_later_farther_and_ended(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(1))
    source = await desk.follow(feeds=(FEED,))
    for back in (YEAR, 2 * YEAR, None):
        async with desk.path.database.transaction() as connection:
            assert await change(connection, source, {"backfill": back}, "tester", DELAY) == ["backfill"]
    ended = await backfill(desk, source)
    assert (ended.is_enabled, ended.disabled_reason) == (False, "ended by a person")
    recipe = await desk.path.database.fetchval(
        "select clock_timestamp() - recipe::timestamptz from channels where kind = 'backfill'"
    )
    assert abs(recipe - 2 * YEAR) < timedelta(minutes=5)


@pytest.mark.parametrize(
    ("kind", "back", "told"),
    [
        (SourceKind.JOBS, YEAR, "A job source has no past to read"),
        (SourceKind.NEWS, timedelta(minutes=1), "A backfill of 1m is not possible: give 1d to 30y."),
        (SourceKind.NEWS, timedelta(days=36500), "give 1d to 30y"),
    ],
)
async def test_a_past_that_cannot_be_read_is_refused_with_a_sentence(
    desk: Desk, kind: SourceKind, back: timedelta, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        async with desk.path.database.transaction() as connection:
            await take_up(
                connection, WantedSource(Profile("http://a.test/", kind=kind), backfill=back), "tester", DELAY
            )


@pytest.mark.heavy_rows
@pytest.mark.parametrize("further", ["http://[::1", "http://u:p@a.test/", "http://a.test:99999/", "http://a.test\\x/"])
async def test_an_older_page_whose_address_is_none_ends_the_archive_and_costs_no_item(desk: Desk, further: str) -> None:
    desk.site.pages |= {
        "/feed.xml": page_of_feed(0, 20, link("prev-archive", "/archive/2")),
        "/archive/2": page_of_feed(20, 20, link("prev-archive", further)),
    }
    source = await followed(desk, feeds=(FEED,), backfill=YEAR)
    done = await read_all(desk, source)
    assert await desk.entries() == {f"http://a.test/story-{n}" for n in range(40)}
    assert (done.consecutive_errors, done.last_error) == (0, None)
    assert "20 pages queued, nothing more to ask for" in (done.disabled_reason or "")
