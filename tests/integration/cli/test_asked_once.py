"""`sources add` asks a site for its channels; their first polls take what it was told, and lose nothing of it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, Served, served

from headwater.simweb.message import Page

LONG_AGO = """update channels set progress = jsonb_set(progress, '{heard,at}', '"2020-01-01T00:00:00+00:00"')"""


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


@pytest.fixture
def site(desk: Desk) -> Iterator[Served]:
    with served() as serving:
        desk.settings = serving.settings
        publish(serving, 3)
        yield serving


def publish(site: Served, stories: int) -> None:
    items = "".join(f"<item><title>{n}</title><link>{site.url}/story-{n}</link></item>" for n in range(stories))
    feed = f"<rss version='2.0'><channel><title>A</title>{items}</channel></rss>"
    urls = f"<url><loc>{site.url}/page</loc></url>"
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    head = '<link rel="alternate" type="application/rss+xml" href="/news.rss">'
    site.pages["/"] = Page(f"<html><head>{head}</head></html>".encode())
    site.pages["/news.rss"] = Page(feed.encode(), "application/rss+xml")
    site.pages["/sitemap.xml"] = Page(sitemap.encode(), "application/xml")


def polled(desk: Desk) -> None:
    """Channels of one host are polled one at a time."""
    for _ in range(3):
        assert desk.says("crawl", "run-due").code == 0


def stories(desk: Desk) -> int:
    found = desk.value("select count(*) from url_frontier where url like '%story%'")
    assert isinstance(found, int)
    return found


def answers(site: Served, path: str) -> list[int]:
    return [visit.status for visit in site.web.visits.all() if visit.path == path]


def test_what_was_asked_when_a_site_was_added_is_not_asked_again_by_the_first_polls(desk: Desk, site: Served) -> None:
    assert desk.says("sources", "add", site.url).code == 0
    polled(desk)
    assert stories(desk) == 3
    asked = Counter(site.asked())
    assert {path: asked[path] for path in ("/", "/news.rss", "/sitemap.xml")} == {
        "/": 1,
        "/news.rss": 1,
        "/sitemap.xml": 1,
    }
    assert desk.value("select count(*) from channels where etag is null or progress is not null") == 0
    assert desk.says("crawl", "logs", "--json").code == 0


@pytest.mark.long
def test_a_first_poll_long_after_asks_only_for_changes_and_still_takes_every_item(desk: Desk, site: Served) -> None:
    assert desk.says("sources", "add", site.url).code == 0
    desk.execute(LONG_AGO)
    polled(desk)
    assert answers(site, "/news.rss") == [200, 304]
    assert stories(desk) == 3


@pytest.mark.long
def test_a_first_poll_long_after_takes_what_changed_meanwhile(desk: Desk, site: Served) -> None:
    assert desk.says("sources", "add", site.url).code == 0
    desk.execute(LONG_AGO)
    publish(site, 5)
    polled(desk)
    assert answers(site, "/news.rss") == [200, 200]
    assert stories(desk) == 5


def test_a_row_that_holds_something_else_only_costs_a_request(desk: Desk, site: Served) -> None:
    assert desk.says("sources", "add", site.url).code == 0
    desk.execute("""update channels set progress = '{"heard": {"url": "x", "body": "!", "headers": [], "at": 1}}'""")
    polled(desk)
    assert answers(site, "/news.rss") == [200, 200]
    assert stories(desk) == 3


def test_a_candidate_that_another_one_led_to_is_not_tried_again(desk: Desk, site: Served) -> None:
    site.pages["/"] = Page(b"<html></html>")
    site.pages["/feed"] = Page(b"", status=302, headers=(("Location", "/atom.xml"),))
    site.pages["/atom.xml"] = Page(b"<html>Nothing.</html>")
    assert desk.says("sources", "add", site.url).code == 0
    assert Counter(site.asked())["/atom.xml"] == 1


@pytest.mark.long
def test_a_sitemap_that_was_not_there_when_a_site_was_added_is_not_looked_for_again(desk: Desk, site: Served) -> None:
    del site.pages["/sitemap.xml"]
    desk.settings["poll.sitemaps"] = "true"
    assert desk.says("sources", "add", site.url).code == 0
    polled(desk)
    desk.execute("update channels set next_poll_at = now()")
    polled(desk)
    assert Counter(site.asked())["/sitemap.xml"] == 1
    assert desk.value("select disabled_reason from channels where kind = 'search'") == "found no sitemap"
