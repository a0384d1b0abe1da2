"""Where the pages of a source lie, and how many are wanted: said when it is added, kept by all that brings pages."""

from datetime import date
from uuid import UUID

import pytest
from tests.integration.discover.conftest import Desk, rss, stories

from headwater.discover.adding import change
from headwater.errors import UsageError
from headwater.frontier.submit import FoundUrl
from headwater.ingest.page_store import submit_links
from headwater.simweb.message import Page
from headwater.sources.source import Profile, SourceKind, SourceMode
from headwater.sources.store import read_source

TODAY = date(2026, 3, 2)
DELAY = stories(1)[0][2] - stories(1)[0][2]


def sitemap(*paths: str, kind: str = "urlset", of: str = "url") -> Page:
    rows = "".join(f"<{of}><loc>http://a.test{path}</loc></{of}>" for path in paths)
    return Page(f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{kind}>'.encode())


def moved(to: str) -> Page:
    return Page(b"", status=301, headers=(("Location", to),))


async def profile_of(desk: Desk, source: UUID) -> Profile:
    return (await read_source(desk.path.database, source)).profile


async def queue_links(desk: Desk, source: UUID, *paths: str) -> None:
    profile = await profile_of(desk, source)
    links = [f"http://a.test{path}" for path in paths]
    async with desk.path.database.transaction() as connection:
        await submit_links(connection, source, profile, FoundUrl(profile.url), links, TODAY)


@pytest.mark.parametrize("address", ["http://a.test/docs/", "http://a.test/docs", "http://a.test/docs/index.html"])
async def test_the_links_of_a_manual_are_followed_below_the_path_that_was_given(desk: Desk, address: str) -> None:
    source = await desk.follow(address, kind=SourceKind.DOCS)
    await desk.poll()
    await queue_links(desk, source, "/docs/a", "/docs/b/c", "/blog/", "/", "/docs-old/a")
    assert await desk.entries() - {address} == {"http://a.test/docs/a", "http://a.test/docs/b/c"}
    assert address in await desk.entries()


async def test_a_manual_at_the_top_of_a_site_is_the_whole_site(desk: Desk) -> None:
    source = await desk.follow("http://a.test/", kind=SourceKind.DOCS)
    assert (await profile_of(desk, source)).include_paths == ()


async def test_every_start_page_of_a_manual_widens_it(desk: Desk) -> None:
    starts = ("http://a.test/docs/", "http://a.test/api/v2/")
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, start_urls=starts)
    assert (await profile_of(desk, source)).include_paths == ("/api/v2/", "/docs/")


async def test_what_a_person_says_of_the_paths_replaces_the_path_that_was_given(desk: Desk) -> None:
    said = {"include_paths": ("/docs/v2/", "/api/"), "exclude_paths": ("/docs/v2/old",)}
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, **said)
    await desk.poll()
    await queue_links(desk, source, "/docs/v1/a", "/docs/v2/a", "/docs/v2/old/a", "/api/a")
    # The page it starts from was given, too: without it there would be nothing to follow.
    assert await desk.entries() == {"http://a.test/docs/", "http://a.test/docs/v2/a", "http://a.test/api/a"}


async def test_the_whole_site_may_be_asked_for(desk: Desk) -> None:
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, include_paths=("/",))
    await desk.poll()
    await queue_links(desk, source, "/blog/")
    assert "http://a.test/blog/" in await desk.entries()


async def test_a_list_of_news_may_lead_anywhere_on_its_site(desk: Desk) -> None:
    source = await desk.follow("http://a.test/news/", mode=SourceMode.SPIDER)
    assert (await profile_of(desk, source)).include_paths == ()


async def test_a_sitemap_brings_the_pages_of_the_paths_and_says_what_it_left_out(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": sitemap("/maps/1.xml", kind="sitemapindex", of="sitemap"),
        "/maps/1.xml": sitemap("/docs/a", "/docs/b", "/blog/1", "/blog/2", "/docs/old/1"),
    }
    sitemaps = ("http://a.test/sitemap.xml",)
    await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, sitemaps=sitemaps, exclude_paths=("/docs/old",))
    [ran] = await desk.poll()
    assert await desk.entries() == {"http://a.test/docs/a", "http://a.test/docs/b"}
    assert ran.ending is not None
    assert "Left out because of their paths: 3" in ran.ending.message


async def test_a_sitemap_brings_no_more_pages_than_are_wanted(desk: Desk) -> None:
    desk.site.pages["/sitemap.xml"] = sitemap(*(f"/docs/{n}" for n in range(9)))
    sitemaps = ("http://a.test/sitemap.xml",)
    await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, sitemaps=sitemaps, max_pages=4)
    [ran] = await desk.poll()
    assert len(await desk.entries()) == 4
    assert ran.ending is not None
    assert "5 pages left out: max_pages = 4 is reached" in ran.ending.message
    # What it knows takes no room, and is offered for a change.
    desk.site.pages["/sitemap.xml"] = sitemap(*(f"/docs/{n}" for n in range(10)))
    [again] = await desk.poll_again()
    assert len(await desk.entries()) == 4
    assert (again.run_state.tally.inserted, again.run_state.tally.skipped) == (0, 10)


async def test_items_of_a_feed_are_left_out_by_their_paths_on_the_sites_own_host_only(desk: Desk) -> None:
    items = [(path, path, stories(1)[0][2]) for path in ("/world/1", "/sponsored/1")]
    page = rss(*items).body.replace(b"</channel>", b"<item><link>http://b.test/sponsored/2</link></item></channel>")
    desk.site.pages["/feed.xml"] = Page(page, "application/rss+xml")
    await desk.follow(feeds=("http://a.test/feed.xml",), exclude_paths=("/sponsored/",))
    await desk.poll()
    assert await desk.entries() == {"http://a.test/world/1", "http://b.test/sponsored/2"}
    ranks = await desk.path.database.fetch("select distinct priority from url_frontier")
    assert len(ranks) == 1


async def test_the_further_pages_of_a_list_are_asked_whatever_paths_its_items_have(desk: Desk) -> None:
    links = "".join(
        f"<p><a href='/articles/2026-03-01-story-number-{n}.html'>A story with number {n}</a></p>" for n in range(6)
    )
    desk.site.pages |= {
        "/news": Page(f"{links}<a rel=next href='/news?page=2'>Next</a>".encode()),
        "/news?page=2": Page(links.replace("number-", "further-").encode()),
    }
    await desk.follow("http://a.test/news", mode=SourceMode.SPIDER, include_paths=("/articles/",))
    await desk.poll()
    assert "a.test/news?page=2" in desk.path.asked()
    assert len(await desk.entries()) == 12


async def test_a_redirect_does_not_lead_out_of_a_manual(desk: Desk) -> None:
    desk.site.pages |= {
        "/docs/": Page(b"<p>Docs"),
        "/docs/in": moved("/docs/target"),
        "/docs/out": moved("/blog/target"),
        "/docs/away": moved("http://b.test/docs/target"),
        "/docs/target": Page(b"<p>In"),
        "/blog/target": Page(b"<p>Out"),
    }
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS)
    await desk.poll()
    await queue_links(desk, source, "/docs/in", "/docs/out", "/docs/away")
    while await desk.path.travel_all(10):
        await desk.path.reopen()
    urls = await desk.entries()
    assert "http://a.test/docs/target" in urls
    assert not {url for url in urls if "/blog/" in url or "b.test" in url}


async def test_a_page_of_news_may_be_redirected_to_another_site(desk: Desk) -> None:
    desk.site.pages |= {
        "/feed.xml": rss(("/story-1", "One", stories(1)[0][2])),
        "/story-1": moved("http://b.test/story"),
    }
    await desk.follow(feeds=("http://a.test/feed.xml",), exclude_paths=("/sponsored",))
    await desk.poll()
    await desk.path.reopen()
    await desk.path.travel_all(10)
    assert "http://b.test/story" in await desk.entries()


@pytest.mark.parametrize("path", ["/docs/*", "https://a.test/docs/", "/docs?x=1", "/docs#top"])
async def test_what_is_no_path_is_refused_with_a_sentence(desk: Desk, path: str) -> None:
    with pytest.raises(UsageError, match="is no path: write how the paths begin"):
        await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, include_paths=(path,))
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS)
    with pytest.raises(UsageError, match="is no path: write how the paths begin"):
        async with desk.path.database.transaction() as connection:
            await change(connection, source, {"exclude_paths": (path,)}, "tester", DELAY)


FETCHED = "update url_frontier set status = 'fetched', etag = 'e', content_hash = decode('aa', 'hex')"


@pytest.mark.parametrize("is_changed", [False, True])
async def test_the_next_round_of_a_crawl_reads_everything_anew_once_its_limits_were_changed(
    desk: Desk, is_changed: bool
) -> None:
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS)
    await desk.poll()
    await queue_links(desk, source, "/docs/a")
    await desk.path.database.execute(FETCHED)
    if is_changed:
        async with desk.path.database.transaction() as connection:
            await change(connection, source, {"max_depth": 5}, "tester", DELAY)
    for _ in range(2):
        await desk.poll_again()
        row = await desk.path.database.fetchrow(
            "select etag, content_hash, revisit_at from url_frontier where url like '%/docs/a'"
        )
        assert row is not None
        assert (row["etag"] is None, row["content_hash"] is None) == (is_changed, is_changed)
        assert row["revisit_at"] == desk.now[0]
        # Read again; the round after that asks with its validators.
        await desk.path.database.execute(FETCHED)
        is_changed = False
