"""After an edit of what a source takes, its channels are read in full once more, although nothing changed there."""

from datetime import timedelta
from uuid import UUID

import orjson
import pytest
from tests.integration.discover.conftest import DELAY, STARTED, Desk, rss, stories
from tests.integration.discover.test_channels import ARTICLES, index, page_of, recipe_at, sitemap

from headwater.archive.raw import KeptBody, RawBody
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.discover.adding import change
from headwater.ingest.page_context import Context
from headwater.ingest.stored_pages import lease_of
from headwater.learning.template_cache import TemplateCache
from headwater.simweb.message import Page
from headwater.sources.source import SourceKind, SourceMode
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

DAY = timedelta(days=1)
LONG_AGO = "2025-01-01"
SITEMAP = "http://a.test/sitemap.xml"


async def edit(desk: Desk, source: UUID, **changes: object) -> list[str]:
    async with desk.path.database.transaction() as connection:
        return await change(connection, source, changes, "tester", DELAY)


async def paths(desk: Desk) -> set[str]:
    return {url.removeprefix("http://a.test") for url in await desk.entries()}


async def is_unchanged_next(desk: Desk) -> bool:
    [ran] = await desk.poll_again(after=DAY)
    return ran.ending is not None and ran.ending.message == "not modified"


async def test_items_of_a_feed_come_once_their_paths_are_wanted(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*((path, path, STARTED) for path in ("/news/1", "/sport/1")))
    source = await desk.follow(feeds=("http://a.test/feed.xml",), include_paths=("/news/",))
    await desk.poll()
    assert await paths(desk) == {"/news/1"}
    assert await is_unchanged_next(desk)
    await edit(desk, source, include_paths=())
    await desk.poll_again(after=DAY)
    assert await paths(desk) == {"/news/1", "/sport/1"}
    assert await is_unchanged_next(desk)


@pytest.mark.parametrize("is_index", [False, True])
async def test_old_pages_of_a_manual_s_sitemap_come_once_their_paths_are_wanted(desk: Desk, is_index: bool) -> None:
    leaf = sitemap(("/docs/v1/a", LONG_AGO), ("/docs/v2/a", LONG_AGO))
    desk.site.pages |= {"/sitemap.xml": index("/leaf.xml") if is_index else leaf, "/leaf.xml": leaf}
    said = {"kind": SourceKind.DOCS, "include_paths": ("/docs/v2/",)}
    source = await desk.follow("http://a.test/docs/", sitemaps=(SITEMAP,), **said)
    await desk.poll()
    assert await paths(desk) == {"/docs/v2/a"}
    await desk.poll_again(after=DAY)
    await edit(desk, source, include_paths=("/docs/",))
    await desk.poll_again(after=DAY)
    assert await paths(desk) == {"/docs/v1/a", "/docs/v2/a"}


async def test_more_pages_of_a_sitemap_come_once_more_are_wanted(desk: Desk) -> None:
    desk.site.pages["/sitemap.xml"] = sitemap(*((f"/docs/{n}", LONG_AGO) for n in range(6)))
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, sitemaps=(SITEMAP,), max_pages=2)
    await desk.poll()
    assert len(await paths(desk)) == 2
    await desk.poll_again(after=DAY)
    await edit(desk, source, max_pages=5)
    await desk.poll_again(after=DAY)
    assert len(await paths(desk)) == 5


async def test_links_of_a_list_come_once_their_paths_are_wanted(desk: Desk) -> None:
    desk.site.pages["/"] = page_of(*ARTICLES, "/sport/2026/03/01/a-match-of-the-day")
    source = await desk.follow(mode=SourceMode.SPIDER, exclude_paths=("/sport/",))
    await desk.poll()
    assert await paths(desk) == set(ARTICLES)
    assert await is_unchanged_next(desk)
    await edit(desk, source, exclude_paths=())
    await desk.poll_again(after=DAY)
    assert len(await paths(desk)) == len(ARTICLES) + 1


async def test_a_list_is_read_by_other_selectors_although_it_did_not_change(desk: Desk) -> None:
    cards = "".join(f'<div class="card"><a href="{path}">A headline of the day</a></div>' for path in ARTICLES)
    other = "".join(f'<p class="teaser"><a href="{path}-two">A second one</a></p>' for path in ARTICLES)
    desk.site.pages["/"] = Page(f"<main>{cards}{other}</main>".encode())
    source = await desk.follow(mode=SourceMode.SPIDER, selectors={"list": {"article_cards": "div.card"}})
    await desk.poll()
    assert await paths(desk) == set(ARTICLES)
    assert await is_unchanged_next(desk)
    await edit(desk, source, selectors={"list": {"article_cards": "p.teaser"}})
    await desk.poll_again(after=DAY)
    assert {f"{path}-two" for path in ARTICLES} <= await paths(desk)


async def test_an_api_is_asked_for_all_once_its_recipe_is_another(desk: Desk) -> None:
    """Also one that is asked since its last poll: what came before was never read by this recipe."""
    answer = {"old": [], "items": [{"u": f"/job-{n}", "t": f"Job {n}"} for n in range(3)]}
    desk.site.pages["/api"] = Page(orjson.dumps(answer), "application/json")
    wrong = recipe_at("/api", data_path="old", since={"enabled": True, "field": "after"})
    source = await desk.follow("http://a.test/api", is_api=True, parser_hint=wrong)
    await desk.poll()
    assert await paths(desk) == set()
    await desk.poll_again(after=DAY)
    assert "after=" in desk.path.asked()[-1]
    await edit(desk, source, parser_hint=wrong.replace('"old"', '"items"'))
    await desk.poll_again(after=DAY)
    assert "after=" not in desk.path.asked()[-1]
    assert await paths(desk) == {"/job-0", "/job-1", "/job-2"}
    await desk.poll_again(after=DAY)
    assert "after=" in desk.path.asked()[-1]


async def test_pages_of_a_crawl_are_read_again_in_full_in_its_next_round(desk: Desk) -> None:
    database = desk.path.database
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, max_depth=1)
    await desk.poll()
    read = "status = 'fetched', fetch_count = 1, etag = '\"1\"', last_modified = 'x', content_hash = 'x'"
    await database.execute(f"update url_frontier set {read}")

    async def validators() -> tuple[object, ...]:
        columns = "etag, last_modified, content_hash, revisit_at is not null"
        [row] = await database.fetch(f"select {columns} from url_frontier")
        return tuple(row)

    await desk.poll_again(after=DAY * 15)
    assert await validators() == ('"1"', "x", b"x", True)
    await edit(desk, source, max_depth=3)
    await desk.poll_again(after=DAY * 15)
    assert await validators() == (None, None, None, True)
    # Once: the round after that asks with what this one was sent.
    await database.execute(f"update url_frontier set {read}")
    await desk.poll_again(after=DAY * 15)
    assert await validators() == ('"1"', "x", b"x", True)


@pytest.mark.parametrize(("status", "token"), [("pending", None), ("failed", None), ("fetching", "gen_random_uuid()")])
async def test_a_page_of_a_crawl_that_waits_or_is_fetched_in_that_moment_is_read_in_full(
    desk: Desk, status: str, token: str | None
) -> None:
    database = desk.path.database
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, max_depth=1)
    await desk.poll()
    state = f"status = '{status}', token = {token or 'null'}, fetch_count = 1, etag = '\"1\"', content_hash = 'x'"
    await database.execute(f"update url_frontier set {state}")
    await edit(desk, source, max_depth=3)
    await desk.poll_again(after=DAY * 15)
    row = await database.fetchrow("select etag, content_hash, reads_anew from url_frontier")
    assert row is not None
    assert row["reads_anew"] if status == "fetching" else row["etag"] is row["content_hash"] is None


async def test_a_page_that_is_read_after_an_edit_is_read_by_the_source_as_it_is_now(desk: Desk) -> None:
    """Not by what a worker remembers of it: the links of that page would be judged by the old scope for good."""
    source = await desk.follow("http://a.test/docs/", kind=SourceKind.DOCS, max_depth=1)
    clock = SystemClock()
    context = Context(desk.path.database, clock, TemplateCache(clock, random_from(1)))
    page = canonicalise("http://a.test/docs/")
    raw = RawBody(DocumentKey(page.bucket, page.url_hash), source, page.url, 200, {}, b"")
    lease = lease_of(KeptBody(STARTED, raw))
    before = (await context.context_of(lease)).source
    await edit(desk, source, max_depth=3)
    after = (await context.context_of(lease)).source
    assert (before and before.max_depth, after and after.max_depth) == (1, 3)


@pytest.mark.parametrize("edited", [{"priority": 9}, {"tags": ("x",)}, {"poll_every": DAY}, {"rate_limit_ms": 60}])
async def test_an_edit_that_changes_nothing_of_what_is_taken_costs_no_full_answer(
    desk: Desk, edited: dict[str, object]
) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=("http://a.test/feed.xml",))
    await desk.poll()
    await edit(desk, source, **edited)
    assert await is_unchanged_next(desk)
