"""Sections A and B by every way in which an address reaches us besides submitting it and redirects of pages.

Each way is first taken with a harmless address, or a test would prove no more than that nobody went that way.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from typing import Any

import pytest
from tests.faults.world import DELAY, Articles, article, workbench
from tests.hostile.fetch.ears import Ears, listening, tapped
from tests.hostile.fetch.rows import BLOCKED, EVERYWHERE, IN_A_HEADER, NAMES, Row
from tests.hostile.fetch.stage import PLAIN, QUICKLY
from tests.integration.discover.conftest import Desk, opened_desk
from tests.integration.fetch.conftest import SmallSite, robots

from headwater.actions.exchange import import_sources
from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.discover.push.subscribing import Subscriber
from headwater.fetch.fetcher import Follower
from headwater.simweb.message import Page
from headwater.simweb.mischief.redirects import Redirect
from headwater.simweb.resolver import Answers
from headwater.sources.exchange.reading import ListFormat, read_sources
from headwater.sources.source import Profile, SourceKind, SourceMode

HARMLESS = "http://a.test/news/2026/a-harmless-story-of-some-length"
# One spelling of each row: how they are read was shown above, here counts that a place is asked for at all.
ONE_OF_EACH = list({row.id: row for row in IN_A_HEADER}.values())
XML = '<?xml version="1.0"?>'


@dataclass
class Scene:
    """A desk with witnesses: what must not be dialled, and who would have heard it."""

    desk: Desk
    ears: Ears
    dialled: set[tuple[str, int]]

    def address(self, row: Row) -> str:
        return row.vector.replace("{port}", str(self.ears.port))

    def assert_untouched(self) -> None:
        sim = self.desk.path.sim._server
        assert sim is not None
        assert self.ears.heard == (0, 0)
        assert self.dialled == {("127.0.0.1", sim.sockets[0].getsockname()[1])}

    async def work(self) -> None:
        """Polls, and the pages that come of them, as often as any of these ways needs."""
        for _ in range(2):
            await self.desk.path.database.execute("update channels set next_poll_at = $1", self.desk.now[0])
            for _ in range(3):
                # The channels of a host have their turns one after the other.
                await self.desk.poll_again(timedelta(minutes=1))
                await self.desk.path.reopen()
            while await self.desk.path.travel_all(100):
                await self.desk.path.reopen()

    async def fates(self, outside: Iterable[str]) -> dict[str, str]:
        """What became of every entry that is not on the simulated web."""
        told = "select url, host, coalesce(reason, status) as fate from url_frontier"
        rows = await self.desk.path.database.fetch(told)
        return {row["url"]: row["fate"] for row in rows if row["host"] not in set(outside)}


@asynccontextmanager
async def staged(database_url: str, sites: Mapping[str, SmallSite]) -> AsyncIterator[Scene]:
    async with listening() as ears:
        flags = {**QUICKLY, "network.ports": f"80,443,{ears.port}", "poll.sitemaps": "true"}
        async with opened_desk(database_url, sites, flags) as desk:
            for name, addresses in NAMES.items():
                desk.path.resolver.script(name, Answers((addresses,)))
            with tapped() as dialled:
                yield Scene(desk, ears, dialled)


# Lists: one answer that names them all.


def rss(urls: list[str]) -> Page:
    items = "".join(f"<item><link>{escape(url)}</link><guid>{escape(url)}</guid></item>" for url in urls)
    return Page(f"{XML}<rss version='2.0'><channel><title>A</title>{items}</channel></rss>".encode(), "text/xml")


def atom(urls: list[str]) -> Page:
    entries = "".join(f"<entry><id>{escape(url)}</id><link href='{escape(url)}'/></entry>" for url in urls)
    return Page(f"{XML}<feed xmlns='http://www.w3.org/2005/Atom'>{entries}</feed>".encode(), "text/xml")


def json_feed(urls: list[str]) -> Page:
    items = [{"id": url, "url": url, "external_url": url} for url in urls]
    body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items})
    return Page(body.encode(), "application/feed+json")


def sitemap(urls: list[str]) -> Page:
    listed = "".join(f"<url><loc>{escape(url)}</loc></url>" for url in urls)
    return Page(f"{XML}<urlset>{listed}</urlset>".encode(), "text/xml")


def links(urls: list[str]) -> Page:
    anchors = "".join(
        f'<li><a href="{escape(url)}">A story of some length, number {n}</a>' for n, url in enumerate(urls)
    )
    return Page(f"<html><title>A</title><ul>{anchors}</ul>".encode())


def api(urls: list[str]) -> Page:
    return Page(json.dumps({"items": [{"u": url, "t": "A"} for url in urls]}).encode(), "application/json")


def recipe(**more: object) -> str:
    said = {
        "v": 1,
        "base_url": "http://a.test",
        "path": "/list",
        "data_path": "items",
        "map": {"title": "t", "url": "u"},
    }
    return json.dumps(said | more)


# B45: the line break of a link in a feed is no part of it, for browsers as for us.
AS_BROWSERS_READ_IT = "http://example.test/Host:%20x"
LIST = "http://a.test/list"
HOME: dict[str, Any] = {"url": "http://a.test/", "allow_external": True}
LISTS: dict[str, tuple[Callable[[list[str]], Page], dict[str, Any]]] = {
    "rss": (rss, {**HOME, "feeds": (LIST,)}),
    "atom": (atom, {**HOME, "feeds": (LIST,)}),
    "json feed": (json_feed, {**HOME, "feeds": (LIST,)}),
    "sitemap": (sitemap, {**HOME, "sitemaps": (LIST,)}),
    "listing": (links, {"url": LIST, "allow_external": True, "mode": SourceMode.SPIDER, "article_patterns": (".",)}),
    "api": (api, {"url": LIST, "is_api": True, "parser_hint": recipe()}),
}


@pytest.mark.heavy_rows
@pytest.mark.parametrize("way", LISTS)
async def test_as_an_item_of_a_list_each_is_left_out_or_dies_blocked(database_url: str, way: str) -> None:
    made, wanted = LISTS[way]
    site = SmallSite({HARMLESS.removeprefix("http://a.test"): PLAIN})
    async with staged(database_url, {"a.test": site}) as scene:
        rows = EVERYWHERE if way in ("json feed", "api") else IN_A_HEADER
        site.pages["/list"] = made([scene.address(row) for row in rows] + [HARMLESS])
        await scene.desk.follow(**wanted)
        await scene.work()
        assert HARMLESS.removeprefix("http://") in scene.desk.path.asked()
        fates = await scene.fates(["a.test"])
        fates.pop(AS_BROWSERS_READ_IT, None)
        assert [one for one in fates.items() if one[1] != BLOCKED] == []
        # Only its own pages are wanted of a sitemap.
        assert bool(fates) == (way != "sitemap")
        scene.assert_untouched()


# Further requests of a poll: an answer of each site names one more place to ask.


@dataclass(frozen=True)
class Lead:
    """What is followed of a site, and its pages, one of which leads on to the address; of dear ones fewer rows."""

    wanted: Callable[[str], dict[str, Any]]
    pages: Callable[[str, str], dict[str, Page]]
    rows: Sequence[Row] = tuple(ONE_OF_EACH)


def feed_with(about: str, site: str) -> Page:
    item = f"<item><link>{site}/story</link><pubDate>Sun, 01 Mar 2026 10:00:00 GMT</pubDate></item>"
    atom = 'xmlns:atom="http://www.w3.org/2005/Atom"'
    return Page(
        f"{XML}<rss version='2.0' {atom}><channel><title>A</title>{about}{item}</channel></rss>".encode(), "text/xml"
    )


def atom_link(role: str, to: str) -> str:
    return f'<atom:link rel="{role}" href="{escape(to)}"/>'


def next_api_page(site: str, to: str) -> dict[str, Page]:
    body = {"items": [{"u": "/story", "t": "A"}], "next": to}
    return {"/list": Page(json.dumps(body).encode(), "application/json")}


def paged(site: str) -> str:
    return recipe(base_url=site, pagination={"type": "cursor", "cursor_path": "next", "max_pages": 3})


STORIES = "".join(
    f'<li><a href="/news/2026/a-story-of-some-length-{n}">A story of some length {n}</a>' for n in range(9)
)


def index(to: str) -> Page:
    return Page(f"<sitemapindex><sitemap><loc>{escape(to)}</loc></sitemap></sitemapindex>".encode())


def page_with(more: str) -> Page:
    return Page(f"<html><head><title>A</title>{more}</head><body><ul>{STORIES}</ul></body></html>".encode())


LEADS = {
    "sitemap of an index": Lead(
        lambda site: {"sitemaps": (f"{site}/list",)},
        lambda site, to: {"/list": index(to)},
    ),
    "sitemap in robots.txt": Lead(
        lambda site: {},
        lambda site, to: {"/": page_with(""), "/robots.txt": robots(f"User-agent: *\nDisallow: /x\nSitemap: {to}\n")},
        ONE_OF_EACH[::4],
    ),
    "feed of a page": Lead(
        lambda site: {},
        lambda site, to: {"/": page_with(f'<link rel="alternate" type="application/rss+xml" href="{escape(to)}">')},
        ONE_OF_EACH[::4],
    ),
    "older entries of a feed": Lead(
        lambda site: {"feeds": (f"{site}/list",), "backfill": timedelta(days=365)},
        lambda site, to: {"/list": feed_with(atom_link("prev-archive", to), site)},
        ONE_OF_EACH[::4],
    ),
    "next page of a list": Lead(
        lambda site: {"mode": SourceMode.SPIDER},
        lambda site, to: {"/": page_with(f'<link rel="next" href="{escape(to)}">')},
    ),
    "next page of an api": Lead(lambda site: {"is_api": True, "parser_hint": paged(site)}, next_api_page),
    "redirect of a feed": Lead(lambda site: {"feeds": (f"{site}/moved",)}, lambda site, to: {}),
    "redirect of a sitemap": Lead(lambda site: {"sitemaps": (f"{site}/moved",)}, lambda site, to: {}),
    "redirect of a list": Lead(lambda site: {"url": f"{site}/moved", "mode": SourceMode.SPIDER}, lambda site, to: {}),
}


@pytest.mark.heavy_rows
@pytest.mark.parametrize("way", LEADS)
async def test_as_a_further_place_of_a_poll_none_is_asked(database_url: str, way: str) -> None:
    lead = LEADS[way]
    names = ["harmless.test", *(f"w{number}.test" for number in range(len(lead.rows)))]
    sites = {name: SmallSite({}) for name in names}
    async with staged(database_url, sites) as scene:
        targets = ["http://harmless.test/harmless", *map(scene.address, lead.rows)]
        for name, to in zip(names, targets, strict=True):
            site = f"http://{name}"
            sites[name].pages |= lead.pages(site, to)
            scene.desk.path.sim.script(name, Redirect(to, 301), "/moved")
            await scene.desk.follow(**{"url": f"{site}/", **lead.wanted(site)})
        await scene.work()
        assert "harmless.test/harmless" in scene.desk.path.asked()
        assert await scene.fates(names) == {}
        scene.assert_untouched()


async def test_as_a_hub_none_is_asked(database_url: str) -> None:
    """E92."""
    names = [f"w{number}.test" for number in range(len(ONE_OF_EACH))]
    sites = {name: SmallSite({}) for name in ("hub.test", *names)}
    async with staged(database_url, sites) as scene:
        targets = dict(zip(names, map(scene.address, ONE_OF_EACH), strict=True)) | {"hub.test": "http://hub.test/hub"}
        for name, to in targets.items():
            links = atom_link("hub", to) + atom_link("self", to)
            sites[name].pages["/feed"] = feed_with(links, f"http://{name}")
            await scene.desk.follow(f"http://{name}/", feeds=(f"http://{name}/feed",))
        await scene.desk.poll()
        path = scene.desk.path
        follower = Follower(path.web.fetcher, path.web.reservations)
        services = path.services
        subscriber = Subscriber(path.database, follower, "https://us.test", services.random, services.log)
        while await subscriber.ask_due():
            await path.reopen()
        assert "hub.test/hub" in path.asked()
        assert await path.database.fetchval("select count(*) from subscriptions where due_at < now()") == 0
        scene.assert_untouched()


# Lists of sources: each address as a feed, as a site and as a sitemap.
IMPORTED: dict[str, Callable[[str], str]] = {
    "opml": lambda url: f'<opml><body><outline text="a" xmlUrl="{escape(url)}" htmlUrl="{escape(url)}"/></body></opml>',
    "csv": lambda url: f'url,feed_url,sitemap_url\n"{url}","{url}","{url}"\n',
    "jsonl": lambda url: json.dumps({"url": url, "feed_url": url, "sitemap_url": url}),
    "urls": lambda url: url,
}


@pytest.mark.heavy_rows
@pytest.mark.parametrize("form", IMPORTED)
async def test_as_a_line_of_an_imported_list_each_is_refused_or_polled_in_vain(database_url: str, form: str) -> None:
    """E96."""
    async with staged(database_url, {"a.test": SmallSite({"/feed": rss(["http://a.test/x"])})}) as scene:
        path = scene.desk.path
        for url in ["http://a.test/feed", *map(scene.address, ONE_OF_EACH)]:
            file = read_sources(IMPORTED[form](url).encode(), ListFormat(form))
            await import_sources(path.services, [*file.rows, *file.bad_lines], "tester")
        await scene.work()
        assert "a.test/feed" in path.asked()
        assert await scene.fates(["a.test"]) == {}
        scene.assert_untouched()
        answered = await path.database.fetch("select url from channels where last_ok_at is not null")
        assert {row["url"] for row in answered} <= {"http://a.test/feed"}


def naming(url: str, number: int) -> bytes:
    """An article that names the address wherever a page can name one."""
    said = escape(url)
    data = json.dumps({"@type": "NewsArticle", "url": url, "mainEntityOfPage": url, "image": url, "sameAs": [url]})
    head = (
        f'<base href="{said}"><link rel="canonical" href="{said}"><link rel="amphtml" href="{said}">'
        f'<link rel="alternate" hreflang="fr" href="{said}"><link rel="next" href="{said}">'
        f'<link rel="icon" href="{said}"><link rel="license" href="{said}">'
        f'<link rel="prefetch" href="{said}"><link rel="stylesheet" href="{said}">'
        f'<meta property="og:url" content="{said}"><meta property="og:image" content="{said}">'
        f'<script src="{said}"></script><script type="application/ld+json">{data}</script>'
    )
    body = (
        f'<a href="{said}">away</a><img src="{said}" srcset="{said} 2x"><iframe src="{said}"></iframe>'
        f'<form action="{said}"></form><object data="{said}"></object>'
        f'<video poster="{said}"><source src="{said}"></video>'
    )
    page = article(f"naming {number}").decode().replace("<title>", f"{head}<title>", 1)
    return page.replace("<ul>", f"{body}<ul>", 1).encode()


@pytest.mark.long
async def test_as_anything_that_a_page_names_none_is_asked(database: Database, database_url: str) -> None:
    """I141, B51: links, canonical links, bases and whatever else; of a crawl that may go anywhere."""
    async with listening() as ears:
        addresses = [row.vector.replace("{port}", str(ears.port)) for row in ONE_OF_EACH]
        pages = {f"/p{number}": Page(naming(url, number)) for number, url in enumerate(addresses)}
        async with workbench(database, {"a.test": Articles(pages=pages), "b.test": Articles()}) as bench:
            for name, found in NAMES.items():
                bench.resolver.script(name, Answers((found,)))
            async with database.transaction() as connection:
                crawled = Profile("http://a.test/", kind=SourceKind.DOCS, allow_external=True, max_depth=1)
                source = await take_up(connection, WantedSource(crawled), "tester", DELAY)
            starts = [*pages, "/harmless"]
            pages["/harmless"] = Page(article("harmless", ["http://b.test/linked"]))
            await bench.queue(*(f"http://a.test{path}" for path in starts), source=source)
            with tapped() as dialled:
                async with bench.worker(database_url, network__ports=f"80,443,{ears.port}"):
                    await bench.until_settled()
            assert "http://b.test/linked" in bench.asked()
            fates = {
                row[0]: row[2] for row in await bench.rows("url, host, reason") if row[1] not in ("a.test", "b.test")
            }
            assert [one for one in fates.items() if one[1] not in (BLOCKED, "robots_blocked")] == []
            assert fates
            assert dialled == {("127.0.0.1", bench.port)}
            stored = await database.fetch("select distinct canonical_url from documents")
            assert {row["canonical_url"].split("/")[2] for row in stored} <= {"a.test", "b.test"}
        assert ears.heard == (0, 0)
