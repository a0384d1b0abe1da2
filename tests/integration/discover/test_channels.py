"""The other kinds of channel: sitemaps, listings, APIs, crawls, and the search for all of them."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import orjson
import pytest
from tests.integration.discover.conftest import DELAY, STARTED, Desk, rss, stories
from tests.integration.fetch.conftest import robots

from headwater.discover.adding import change
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceKind, SourceMode
from headwater.sources.store import read_source


def sitemap(*urls: tuple[str, str]) -> Page:
    rows = "".join(f"<url><loc>http://a.test{path}</loc><lastmod>{day}</lastmod></url>" for path, day in urls)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return Page(f'<urlset xmlns="{namespace}">{rows}</urlset>'.encode(), "application/xml")


def index(*paths: str) -> Page:
    rows = "".join(f"<sitemap><loc>http://a.test{path}</loc></sitemap>" for path in paths)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return Page(f'<sitemapindex xmlns="{namespace}">{rows}</sitemapindex>'.encode(), "application/xml")


def page_of(*links: str, more: str = "") -> Page:
    anchors = "".join(f'<article><h2><a href="{link}">Title of {link}</a></h2></article>' for link in links)
    return Page(f"<html><head>{more}</head><body><main>{anchors}</main></body></html>".encode())


ARTICLES = [f"/2026/03/0{n}/a-story-of-the-day-{n}" for n in range(1, 8)]


async def test_an_index_is_followed_to_its_children_and_only_lately_changed_pages_are_taken(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": index("/one.xml", "/two.xml"),
        "/one.xml": sitemap(("/a", "2026-03-01T12:00:00Z"), ("/old", "2025-01-01")),
        "/two.xml": sitemap(("/b", "2026-03-02T01:00:00Z")),
    }
    await desk.follow(sitemaps=("http://a.test/sitemap.xml",))
    [ran] = await desk.poll()
    assert await desk.entries() == {"http://a.test/a", "http://a.test/b"}
    assert (ran.run_state.tally.requests, ran.run_state.tally.inserted) == (3, 2)
    rows = await desk.path.database.fetch("select distinct origin, priority from url_frontier")
    assert [tuple(row) for row in rows] == [("sitemap", 6)]


async def test_a_child_that_fails_is_a_warning_and_the_rest_is_taken(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": index("/gone.xml", "/two.xml"),
        "/two.xml": sitemap(("/b", "2026-03-02T01:00:00Z")),
    }
    await desk.follow(sitemaps=("http://a.test/sitemap.xml",))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "warn"
    assert "gone.xml: HTTP 404" in ran.ending.message
    assert await desk.entries() == {"http://a.test/b"}


async def test_a_page_that_changed_is_visited_again_unless_everything_claims_to_have_changed(desk: Desk) -> None:
    paths = [f"/page-{n}" for n in range(20)]
    desk.site.pages["/sitemap.xml"] = sitemap(*((path, "2026-03-01T12:00:00Z") for path in paths))
    await desk.follow(sitemaps=("http://a.test/sitemap.xml",))
    await desk.poll()
    fetched = "update url_frontier set status = 'fetched', last_fetched_at = $1"
    await desk.path.database.execute(fetched, STARTED)
    later = [(path, "2026-03-01T12:00:00Z") for path in paths[1:]]
    desk.site.pages["/sitemap.xml"] = sitemap((paths[0], "2026-03-02T09:00:00Z"), *later)
    [ran] = await desk.poll_again()
    assert ran.run_state.tally.updated == 1
    desk.site.pages["/sitemap.xml"] = sitemap(*((path, f"2026-03-02T14:{n:02}:00Z") for n, path in enumerate(paths)))
    [ran] = await desk.poll_again()
    assert ran.run_state.tally.updated == 0


async def test_a_listing_brings_its_articles_and_goes_on_only_while_there_is_news(desk: Desk) -> None:
    desk.site.pages |= {
        "/": page_of(*ARTICLES[:3], more='<link rel="next" href="/?page=2">'),
        "/?page=2": page_of(*ARTICLES[3:5], more='<link rel="next" href="/?page=3">'),
        "/?page=3": page_of(*ARTICLES[5:]),
    }
    await desk.follow(mode=SourceMode.SPIDER, max_depth=0)
    [ran] = await desk.poll()
    assert ran.run_state.tally.inserted == 7
    [ran] = await desk.poll_again()
    assert (ran.run_state.tally.requests, ran.run_state.tally.inserted) == (1, 0)


async def test_an_api_is_read_page_by_page_with_its_secret_told_to_nobody_else(desk: Desk) -> None:
    first = {"jobs": [{"title": f"Job {n}", "url": f"/jobs/{n}"} for n in range(2)]}
    second = {"jobs": [{"title": "Job 2", "url": "/jobs/2"}]}
    desk.site.pages |= {
        "/api?page=1": Page(orjson.dumps(first), "application/json"),
        "/api?page=2": Page(orjson.dumps(second), "application/json"),
        "/api?page=3": Page(b'{"jobs": []}', "application/json"),
    }
    recipe = {
        "v": 1,
        "base_url": "http://a.test",
        "path": "/api",
        "data_path": "jobs",
        "map": {"title": "title", "url": "url"},
        "pagination": {"type": "page", "page_param": "page", "max_pages": 5, "until_empty": True},
    }
    await desk.follow("http://a.test/api", kind=SourceKind.JOBS, is_api=True, parser_hint=orjson.dumps(recipe).decode())
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.run_state.tally.inserted) == ("ok", 3)
    assert await desk.entries() == {f"http://a.test/jobs/{n}" for n in range(3)}


async def test_a_crawl_queues_its_start_page_and_again_at_its_next_turn(desk: Desk) -> None:
    source = await desk.follow(kind=SourceKind.DOCS)
    assert (await desk.channel(source)).kind is ChannelKind.CRAWL
    [ran] = await desk.poll()
    assert await desk.entries() == {"http://a.test/"}
    assert ran.run_state.tally.requests == 0
    assert desk.path.asked() == []
    await desk.path.database.execute("update url_frontier set status = 'fetched', last_fetched_at = $1", STARTED)
    [ran] = await desk.poll_again()
    assert ran.run_state.tally.updated == 1


async def test_a_search_finds_feed_and_sitemap_and_then_rests(desk: Desk) -> None:
    desk.site.pages |= {
        "/": page_of(*ARTICLES, more='<link rel="alternate" type="application/rss+xml" href="/news.rss">'),
        "/news.rss": rss(*stories(4)),
        "/robots.txt": robots("User-agent: *\nAllow: /\nSitemap: http://a.test/map.xml\n"),
        "/map.xml": sitemap(("/a", "2026-03-01T12:00:00Z")),
    }
    source = await desk.follow()
    assert (await desk.channel(source)).kind is ChannelKind.SEARCH
    await desk.poll()
    found = {one.kind: one for one in await desk.channels(source)}
    assert found[ChannelKind.FEED].url == "http://a.test/news.rss"
    assert found[ChannelKind.SITEMAP].url == "http://a.test/map.xml"
    assert ChannelKind.LISTING not in found
    assert not found[ChannelKind.SEARCH].is_enabled
    assert (await read_source(desk.path.database, source)).profile.ingestion_mode is SourceMode.FEED
    asked = Counter(visit.target for visit in desk.path.visits())
    assert asked == {"/robots.txt": 1, "/": 1, "/news.rss": 1, "/map.xml": 1}, "first polls take what was heard"


async def test_without_a_feed_the_page_itself_is_the_channel_and_the_search_goes_on(desk: Desk) -> None:
    desk.site.pages["/"] = page_of(*ARTICLES)
    source = await desk.follow()
    await desk.poll()
    found = {one.kind: one for one in await desk.channels(source)}
    assert found[ChannelKind.LISTING].is_active
    search = found[ChannelKind.SEARCH]
    assert search.is_active
    assert search.next_poll_at - STARTED >= timedelta(days=7)


async def test_a_fruitless_search_is_a_warning_and_repeated_in_a_week(desk: Desk) -> None:
    desk.site.pages["/"] = Page(b"<html><p>Under construction</p></html>")
    source = await desk.follow()
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "warn"
    assert "no feed, sitemap or listing found" in ran.ending.message
    assert (await desk.channel(source)).next_poll_at - STARTED >= timedelta(days=7)


@pytest.mark.parametrize("status", [404, 403])
async def test_a_search_goes_on_where_the_page_is_not_to_be_had(desk: Desk, status: int) -> None:
    desk.site.pages |= {
        "/nohome": Page(b"no", status=status),
        "/feed.xml": rss(*stories(4)),
        "/robots.txt": robots("User-agent: *\nAllow: /\nSitemap: http://a.test/map.xml\n"),
        "/map.xml": sitemap(("/a", "2026-03-01T12:00:00Z")),
    }
    source = await desk.follow("http://a.test/nohome")
    await desk.poll()
    found = {one.kind: one for one in await desk.channels(source)}
    assert found[ChannelKind.FEED].url == "http://a.test/feed.xml"
    assert found[ChannelKind.SITEMAP].url == "http://a.test/map.xml"
    assert (found[ChannelKind.SEARCH].is_enabled, found[ChannelKind.SEARCH].last_status) == (False, status)


async def test_a_search_in_vain_without_a_page_is_repeated_in_a_week(desk: Desk) -> None:
    source = await desk.follow("http://a.test/nohome")
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.run_state.tally.requests) == ("warn", 12)
    search = await desk.channel(source)
    assert (search.consecutive_errors, search.next_poll_at - STARTED) == (0, timedelta(days=7))


async def test_a_search_that_met_a_failing_server_is_tried_again_like_any_other_poll(desk: Desk) -> None:
    desk.site.pages["/"] = Page(b"broken", status=500)
    source = await desk.follow()
    waits = []
    for _ in range(2):
        [ran] = await desk.poll_again()
        assert ran.run_state.tally.requests == 1
        waits.append((await desk.channel(source)).next_poll_at - desk.now[0])
    assert waits == [timedelta(hours=2), timedelta(hours=4)]


async def test_vacancies_of_a_listing_are_stored_with_the_run_and_counted(desk: Desk) -> None:
    rows = "".join(
        f'<li class="job"><a href="/jobs/{n}">Water engineer {n}</a><span>Nairobi, Kenya</span></li>' for n in range(3)
    )
    desk.site.pages["/jobs"] = Page(f"<html><ul>{rows}</ul></html>".encode())
    source = await desk.follow("http://a.test/jobs", kind=SourceKind.JOBS, name="Aid Org")
    [ran] = await desk.poll()
    assert (ran.run_state.tally.found, ran.run_state.tally.inserted) == (3, 3)
    jobs = await desk.path.database.fetch("select title, org_name, country_iso, source_id from jobs order by title")
    assert [tuple(job) for job in jobs] == [(f"Water engineer {n}", "Aid Org", "KE", source) for n in range(3)]
    assert await desk.entries() == {f"http://a.test/jobs/{n}" for n in range(3)}
    desk.site.pages["/jobs"] = Page(f"<html><ul>{rows} </ul></html>".encode())
    [ran] = await desk.poll_again()
    assert (ran.run_state.tally.found, ran.run_state.tally.inserted, ran.run_state.tally.skipped) == (3, 0, 3)


def recipe_at(path: str, **parts: object) -> str:
    said = {"v": 1, "base_url": "http://a.test", "path": path, "data_path": "items", "map": {"title": "t", "url": "u"}}
    return orjson.dumps(said | parts).decode()


def answer_of(*numbers: int, status: int = 200) -> Page:
    items = [{"t": f"Item {n}", "u": f"/items/{n}"} for n in numbers]
    return Page(orjson.dumps({"items": items}), "application/json", status=status)


async def test_an_api_that_fails_for_a_moment_is_tried_again_as_its_recipe_says(desk: Desk) -> None:
    desk.site.pages["/api"] = answer_of(1, 2)
    desk.path.sim.script("a.test", Status(500), "/api", times=2)
    hint = recipe_at("/api", retry={"max_retries": 2, "backoff_ms": 4_000})
    source = await desk.follow("http://a.test/api", is_api=True, parser_hint=hint)
    waits = []
    for _ in range(2):
        [ran] = await desk.poll_again()
        assert ran.ending is None
        waits.append((await desk.channel(source)).next_poll_at - desk.now[0])
    assert waits == [timedelta(seconds=4), timedelta(seconds=8)]
    [ran] = await desk.poll_again()
    assert ran.ending is not None
    assert (ran.ending.status, ran.run_state.tally.inserted, ran.run_state.tally.requests) == ("ok", 2, 3)
    channel = await desk.channel(source)
    assert (channel.consecutive_errors, channel.last_error) == (0, None)


async def test_an_api_that_goes_on_failing_is_an_error_after_its_tries(desk: Desk) -> None:
    desk.path.sim.script("a.test", Status(502), "/api")
    source = await desk.follow(
        "http://a.test/api", is_api=True, parser_hint=recipe_at("/api", retry={"max_retries": 1})
    )
    tried, failed = [*await desk.poll_again(), *await desk.poll_again()]
    assert tried.ending is None
    assert failed.ending is not None
    assert (failed.ending.status, failed.ending.error) == ("fail", "upstream")
    assert (await desk.channel(source)).consecutive_errors == 1
    assert desk.path.asked().count("a.test/api") == 2


@pytest.mark.parametrize("status", [404, 403])
async def test_what_will_not_pass_is_not_tried_again(desk: Desk, status: int) -> None:
    desk.path.sim.script("a.test", Status(status), "/api")
    await desk.follow("http://a.test/api", is_api=True, parser_hint=recipe_at("/api", retry={"max_retries": 3}))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "fail"


@pytest.mark.parametrize(("codes", "is_success"), [([200], False), ([200, 206], True), (None, True)])
async def test_only_the_codes_of_a_recipe_are_successes(desk: Desk, codes: list[int] | None, is_success: bool) -> None:
    desk.site.pages["/api"] = answer_of(1, status=206)
    said = {} if codes is None else {"success_codes": codes}
    await desk.follow("http://a.test/api", is_api=True, parser_hint=recipe_at("/api", **said))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, bool(await desk.entries())) == (("ok", True) if is_success else ("fail", False))


async def test_a_throttle_holds_between_the_pages_of_an_api_at_the_server(desk: Desk) -> None:
    desk.site.pages |= {f"/api?page={n}": answer_of(n) for n in range(1, 4)}
    desk.site.pages["/api?page=4"] = answer_of()
    hint = recipe_at("/api", pagination={"type": "page"}, throttle={"requests_per_minute": 200})
    source = await desk.follow("http://a.test/api", keeps_delay=True, is_api=True, parser_hint=hint)
    while len(await desk.entries()) < 3:
        await desk.poll_again()
    arrived = [visit.arrived for visit in desk.path.visits() if visit.path == "/api"]
    assert len(arrived) == 4
    assert min(later - earlier for earlier, later in pairwise(arrived)) >= 0.3
    slower = recipe_at("/api", pagination={"type": "page"}, throttle={"requests_per_minute": 2})
    for hint, delay_ms in ((slower, 30_000), (recipe_at("/api"), 50)):
        async with desk.path.database.transaction() as connection:
            await change(connection, source, {"parser_hint": hint}, "tester", DELAY)
        assert await desk.path.database.fetchval("select delay_ms from hosts where host = 'a.test'") == delay_ms
