"""Addresses that a channel lists and that answer with 404: looked at twice before they are gone."""

import orjson
import pytest
from tests.integration.discover.conftest import DELAY, Desk, rss, stories
from tests.integration.discover.test_vanished import LIST, feed, listing, standing

from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.frontier.verdicts import Verdict
from headwater.reports.pages import story_of
from headwater.reports.vacancies import find_vacancy
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status
from headwater.sources.source import SourceKind
from headwater.urls.canonical import canonicalise

SITEMAP = (
    b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/jobs/one</loc>'
    b"<lastmod>2026-03-02</lastmod></url></urlset>"
)
RECIPE = {
    "v": 1,
    "base_url": "http://a.test",
    "path": "/api",
    "data_path": "jobs",
    "map": {"title": "title", "url": "url"},
}


async def follow(desk: Desk, kind: str) -> None:
    match kind:
        case "feed":
            desk.site.pages["/jobs.xml"] = feed("one")
            await desk.follow(feeds=("http://a.test/jobs.xml",), kind=SourceKind.JOBS)
        case "listing":
            desk.site.pages["/jobs"] = listing("one")
            await desk.follow(LIST, kind=SourceKind.JOBS, max_depth=0)
        case "sitemap":
            desk.site.pages["/sitemap.xml"] = Page(SITEMAP, "application/xml")
            await desk.follow(sitemaps=("http://a.test/sitemap.xml",), kind=SourceKind.DOCS)
        case _:
            desk.site.pages["/api"] = Page(b'{"jobs": [{"title": "One", "url": "/jobs/one"}]}', "application/json")
            hint = orjson.dumps(RECIPE).decode()
            await desk.follow("http://a.test/api", kind=SourceKind.JOBS, is_api=True, parser_hint=hint)
    await desk.poll()


async def look(desk: Desk) -> Verdict | None:
    """As if its time had come."""
    await desk.path.database.execute("update url_frontier set next_fetch_at = now() where status <> 'dead'")
    await desk.path.reopen()
    [told] = await desk.path.travel_all()
    return told.verdict


async def entry(desk: Desk) -> tuple[str, str | None]:
    row = await desk.path.database.fetchrow("select status, reason from url_frontier where url like '%/one'")
    assert row is not None
    return row["status"], row["reason"]


@pytest.mark.parametrize("kind", ["feed", "listing", "sitemap", "api"])
async def test_an_address_that_is_listed_is_gone_at_its_second_404(desk: Desk, kind: str) -> None:
    await follow(desk, kind)
    await look(desk)
    assert await entry(desk) == ("failed", "not_found")
    wait = await desk.path.database.fetchval("select next_fetch_at - now() from url_frontier where url like '%/one'")
    assert wait.total_seconds() > 3_000
    await look(desk)
    assert await entry(desk) == ("dead", "not_found")


async def test_a_vacancy_is_open_until_its_page_is_missing_twice(desk: Desk) -> None:
    await follow(desk, "feed")
    await look(desk)
    assert await standing(desk) == {"one": "active"}
    await look(desk)
    assert await standing(desk) == {"one": "expired"}


async def test_a_page_that_was_missing_once_is_read(desk: Desk) -> None:
    await follow(desk, "feed")
    await look(desk)
    desk.site.pages["/jobs/one"] = Page(b"<html><title>One</title>")
    await look(desk)
    assert await entry(desk) == ("fetched", None)
    assert await standing(desk) == {"one": "active"}


async def test_410_is_believed_at_once(desk: Desk) -> None:
    await follow(desk, "feed")
    desk.path.sim.script("a.test", Status(410), "/jobs/one")
    await look(desk)
    assert await entry(desk) == ("dead", "gone")
    assert await standing(desk) == {"one": "expired"}


async def test_what_ended_a_vacancy_is_told_of_it_and_of_its_page(desk: Desk) -> None:
    await follow(desk, "feed")
    url = "http://a.test/jobs/one"
    assert (await find_vacancy(desk.path.database, url)).ending is None
    story = await story_of(desk.path.database, canonicalise(url))
    assert (story.vacancy, story.document) == (
        "one engineer (a.test), open",
        f"none: it is a vacancy: headwater jobs show {url}",
    )
    desk.path.sim.script("a.test", Status(410), "/jobs/one")
    await look(desk)
    ending = (await find_vacancy(desk.path.database, url)).ending
    assert ending is not None
    assert (ending.reason, ending.why) == ("page_gone", "its page is gone (HTTP 410)")
    story = await story_of(desk.path.database, canonicalise(url))
    assert story.vacancy == f"one engineer (a.test), expired since {ending.at:%Y-%m-%d %H:%M}, {ending.why}"


async def test_a_404_after_another_failure_is_the_first_404(desk: Desk) -> None:
    await follow(desk, "feed")
    desk.path.sim.script("a.test", Status(500), "/jobs/one", times=3)
    await look(desk)
    assert (await entry(desk))[0] == "failed"
    desk.path.sim.reset()
    await look(desk)
    assert await entry(desk) == ("failed", "not_found")
    assert await standing(desk) == {"one": "active"}


async def test_a_404_at_the_last_attempt_ends_it_as_not_found(desk: Desk) -> None:
    """There is no attempt left to look again, and a page that nobody asks for any more keeps no vacancy open."""
    await follow(desk, "feed")
    await desk.path.database.execute("update url_frontier set retry_count = 3, status = 'failed', reason = 'upstream'")
    await look(desk)
    assert await entry(desk) == ("dead", "not_found")
    assert await standing(desk) == {"one": "expired"}


async def test_an_address_that_only_a_page_links_to_is_gone_at_its_first_404(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(1))
    source = await desk.follow(feeds=("http://a.test/feed.xml",))
    async with desk.path.database.transaction() as connection:
        link = FoundUrl("http://a.test/one", "http://a.test/", 1)
        await submit(connection, Submitter(source, EntryOrigin.SPIDER), [link], default_delay=DELAY)
    await look(desk)
    assert await entry(desk) == ("dead", "not_found")


async def test_a_link_that_is_listed_as_well_is_looked_at_again(desk: Desk) -> None:
    desk.site.pages["/jobs"] = listing("one")
    source = await desk.follow(LIST, kind=SourceKind.JOBS, max_depth=0)
    async with desk.path.database.transaction() as connection:
        link = FoundUrl("http://a.test/jobs/one", "http://a.test/", 1)
        await submit(connection, Submitter(source, EntryOrigin.SPIDER), [link], default_delay=DELAY)
    await desk.poll()
    await look(desk)
    assert await entry(desk) == ("failed", "not_found")


async def test_what_only_a_removed_source_listed_is_listed_no_more(desk: Desk) -> None:
    await follow(desk, "feed")
    await desk.path.database.execute("update channels set is_enabled = false")
    await look(desk)
    assert await entry(desk) == ("dead", "not_found")
