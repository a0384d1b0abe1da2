"""Nothing is sent again that has not changed: every answer of a run is asked for with its validators."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from tests.integration.discover.conftest import DELAY, STARTED, Desk, ask_sitemaps, rss, stories
from tests.integration.discover.test_channels import ARTICLES, index, page_of, sitemap

from headwater.discover.polls.requesting import ResponseCache
from headwater.frontier.submit import hold_hosts
from headwater.simweb.message import Page
from headwater.simweb.mischief.redirects import Redirect
from headwater.simweb.mischief.replies import Status, StuckValidators
from headwater.simweb.questions import unconditional_repeats
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceMode
from headwater.sources.store import edit_source

SITEMAP = "http://a.test/sitemap.xml"
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
# Nothing to fetch of it: as long as pages wait, every second turn at their host is theirs.
LONG_AGO = "2025-01-01T12:00:00Z"


def asked(desk: Desk, since: int = 0) -> list[tuple[str, int]]:
    return [
        (visit.target, visit.status) for visit in desk.path.sim.visits.of(since=since) if visit.path != "/robots.txt"
    ]


def is_polite(desk: Desk) -> bool:
    return unconditional_repeats(desk.path.sim.visits.all()) == []


def last_visit(desk: Desk) -> int:
    return desk.path.sim.visits.all()[-1].number


async def follow_sitemap(desk: Desk) -> None:
    await desk.follow(sitemaps=(SITEMAP,))
    async with desk.path.database.transaction() as connection:
        await hold_hosts(connection, ["a.test"], DELAY)


def publish_sitemaps(desk: Desk) -> None:
    desk.site.pages |= {
        "/sitemap.xml": index("/one.xml", "/deeper.xml"),
        "/one.xml": sitemap(("/a", LONG_AGO)),
        "/deeper.xml": index("/two.xml"),
        "/two.xml": sitemap(("/b", LONG_AGO)),
    }


async def test_an_index_that_has_not_changed_still_leads_to_its_sitemaps(desk: Desk) -> None:
    publish_sitemaps(desk)
    await follow_sitemap(desk)
    await desk.poll()
    before = last_visit(desk)
    [ran] = await desk.poll_again()
    every = ["/sitemap.xml", "/one.xml", "/deeper.xml", "/two.xml"]
    assert sorted(asked(desk, before)) == sorted((path, 304) for path in every)
    assert ran.ending is not None
    assert ran.ending.message == "not modified"

    desk.site.pages["/sitemap.xml"] = index("/deeper.xml")
    before = last_visit(desk)
    await desk.poll_again()
    assert sorted(asked(desk, before)) == [("/deeper.xml", 304), ("/sitemap.xml", 200), ("/two.xml", 304)]

    desk.site.pages["/two.xml"] = sitemap(("/b", LONG_AGO), ("/c", "2026-03-02T13:00:00Z"))
    before = last_visit(desk)
    await desk.poll_again()
    assert await desk.entries() == {"http://a.test/c"}
    assert sorted(asked(desk, before)) == [("/deeper.xml", 304), ("/sitemap.xml", 304), ("/two.xml", 200)]
    assert is_polite(desk)


async def test_a_sitemap_that_failed_is_wanted_in_full(desk: Desk) -> None:
    publish_sitemaps(desk)
    await follow_sitemap(desk)
    await desk.poll()
    desk.path.sim.script("a.test", Status(503), "/two.xml", times=1)
    await desk.poll_again()
    desk.site.pages["/two.xml"] = sitemap(("/c", "2026-03-02T13:00:00Z"))
    await desk.poll_again()
    assert "http://a.test/c" in await desk.entries()


async def test_an_index_longer_than_a_run_is_read_in_turns(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it counted as unchanged the same part would be read for ever."""
    ask_sitemaps(monkeypatch, 5)
    desk.site.pages["/sitemap.xml"] = index(*(f"/{n}.xml" for n in range(8)))
    desk.site.pages |= {f"/{n}.xml": sitemap((f"/page-{n}", LONG_AGO)) for n in range(8)}
    await follow_sitemap(desk)
    await desk.poll()
    assert len(asked(desk)) == 5
    await desk.poll_again()
    assert len({path for path, _ in asked(desk)}) == 9


async def test_further_pages_of_a_listing_are_told_apart_too(desk: Desk) -> None:
    desk.site.pages |= {
        "/": page_of(*ARTICLES[:3], more='<link rel="next" href="/?page=2">'),
        "/?page=2": page_of(*ARTICLES[3:5]),
    }
    await desk.follow(mode=SourceMode.SPIDER, max_depth=0)
    await desk.poll()
    desk.site.pages["/"] = page_of(*ARTICLES[:3], ARTICLES[6], more='<link rel="next" href="/?page=2">')
    before = last_visit(desk)
    await desk.poll_again()
    assert asked(desk, before) == [("/", 200), ("/?page=2", 304)]
    assert is_polite(desk)


async def test_what_a_search_was_answered_is_not_asked_for_again_by_what_it_found(desk: Desk) -> None:
    desk.site.pages |= {
        "/": page_of(*ARTICLES, more='<link rel="alternate" type="application/rss+xml" href="/news.rss">'),
        "/news.rss": rss(*stories(4)),
        "/sitemap.xml": sitemap(("/a", "2026-03-01T12:00:00Z")),
    }
    source = await desk.follow()
    for _ in range(3):
        await desk.poll_again(after=timedelta(seconds=5))
    assert {one.kind for one in await desk.channels(source)} > {ChannelKind.FEED, ChannelKind.SITEMAP}
    assert len(await desk.entries()) == 5
    paths = [path for path, _ in asked(desk)]
    assert (paths.count("/news.rss"), paths.count("/sitemap.xml")) == (1, 1)
    runs = await desk.path.database.fetch("select requests from runs where kind in ('feed', 'sitemap')")
    assert [row["requests"] for row in runs] == [0, 0]
    [ran] = [ran for ran in await desk.poll_again(after=DAY) if ran.channel.kind is ChannelKind.FEED]
    assert ran.ending is not None
    assert ran.ending.message == "not modified"
    assert is_polite(desk)


@pytest.mark.long
async def test_a_page_that_was_searched_is_its_own_first_listing(desk: Desk) -> None:
    desk.site.pages["/"] = page_of(*ARTICLES)
    await desk.follow()
    for _ in range(3):
        await desk.poll_again(after=timedelta(seconds=5))
    assert len(await desk.entries()) == len(ARTICLES)
    assert [path for path, _ in asked(desk)].count("/") == 1


async def test_an_edited_source_is_read_in_full(desk: Desk) -> None:
    """What was out of scope before may be wanted now."""
    desk.site.pages["/"] = page_of(*ARTICLES)
    source = await desk.follow(mode=SourceMode.SPIDER, exclude_paths=("/2026/03/07/",))
    await desk.poll()
    assert len(await desk.entries()) == len(ARTICLES) - 1
    async with desk.path.database.transaction() as connection:
        await edit_source(connection, source, {"exclude_paths": ()}, "tester")
    await desk.poll_again(after=DAY)
    assert len(await desk.entries()) == len(ARTICLES)


async def test_a_sitemap_found_late_is_read_back_to_when_its_source_was_first_followed(desk: Desk) -> None:
    dates = [STARTED - timedelta(days=n) for n in (1, 5, 40)]
    desk.site.pages["/sitemap.xml"] = sitemap(
        *((f"/{n}", f"{date:%Y-%m-%dT%H:%M:%SZ}") for n, date in enumerate(dates))
    )
    await desk.follow(sitemaps=(SITEMAP,))
    await desk.path.database.execute("update sources set created_at = $1", STARTED - timedelta(days=60))
    await desk.poll()
    assert await desk.entries() == {"http://a.test/0", "http://a.test/1"}


@pytest.mark.parametrize("elsewhere", ["http://a.test/new.xml", "http://b.test/new.xml"])
async def test_validators_go_to_whom_they_came_from(desk: Desk, elsewhere: str) -> None:
    """A feed that a temporary redirect leads to; old stories, so that none of them waits for a turn at the host."""
    for name in ("a.test", "b.test"):
        desk.path.sim.sites[name].pages["/new.xml"] = rss(*stories(2, STARTED - 100 * DAY))  # type: ignore[attr-defined]
    desk.path.sim.script("a.test", Redirect(elsewhere, code=302), "/feed.xml")
    await desk.follow(feeds=("http://a.test/feed.xml",))
    await desk.poll()
    for _ in range(2):
        before = last_visit(desk)
        [ran] = await desk.poll_again()
        assert ran.ending is not None
        assert ran.ending.message == "not modified"
        asked_for = [visit for visit in desk.path.sim.visits.of(since=before) if visit.path != "/robots.txt"]
        assert [(visit.path, visit.status, bool(visit.if_none_match)) for visit in asked_for] == [
            ("/feed.xml", 302, False),
            ("/new.xml", 304, True),
        ]

    desk.path.sim.script("a.test", Redirect("/other.xml", code=302), "/feed.xml")
    desk.site.pages["/other.xml"] = rss(*stories(3, STARTED - 100 * DAY))
    before = last_visit(desk)
    await desk.poll_again()
    last = desk.path.sim.visits.of(since=before)[-1]
    assert (last.path, last.status, last.if_none_match) == ("/other.xml", 200, "")


async def test_what_a_search_was_answered_serves_the_first_polls_of_another_process(desk: Desk) -> None:
    head = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    desk.site.pages |= {
        "/": Page(f"<html><head>{head}</head></html>".encode()),
        "/feed.xml": rss(*stories(3)),
        "/sitemap.xml": sitemap(("/a", "2026-03-02T01:00:00Z")),
    }
    await desk.follow()
    [search] = await desk.claim()
    await desk.polling.work(search)
    other = replace(desk.polling.poll.asker, response_cache=ResponseCache(desk.polling.clock))
    desk.polling = replace(desk.polling, poll=replace(desk.polling.poll, asker=other))
    await desk.poll()
    await desk.poll_again(after=timedelta(minutes=1))
    assert await desk.entries() == {"http://a.test/a", *(f"http://a.test/story-{n}" for n in range(3))}
    counts = Counter(path for path, _ in asked(desk))
    assert (counts["/feed.xml"], counts["/sitemap.xml"]) == (1, 1)


async def lied_to(desk: Desk) -> tuple[UUID, int]:
    """A feed whose ETag never changes, with news that nobody who names it is told of; and its last visit so far."""
    often = [(f"/s{n}", f"S {n}", STARTED - timedelta(minutes=30 * n + 5)) for n in range(60)]
    desk.site.pages["/feed.xml"] = rss(*often)
    desk.path.sim.script("a.test", StuckValidators(), "/feed.xml")
    source = await desk.follow(feeds=("http://a.test/feed.xml",))
    await desk.poll()
    desk.site.pages["/feed.xml"] = rss(("/new", "New", STARTED + timedelta(hours=1)), *often[:-1])
    return source, last_visit(desk)


async def test_a_feed_that_repeats_its_etag_is_asked_once_without_and_then_distrusted(desk: Desk) -> None:
    source, before = await lied_to(desk)
    for _ in range(4):
        await desk.poll_again(12 * HOUR)
    statuses = [status for _, status in asked(desk, before)]
    assert statuses == [304, 200, 200, 200], "asked in full when it is overdue, and from then on"
    assert "http://a.test/new" in await desk.entries()
    assert (await desk.events()).count("validators_distrusted") == 1
    until = (await desk.channel(source)).validators_distrusted_until
    assert until is not None
    assert until - desk.now[0] > 28 * DAY
    before = last_visit(desk)
    await desk.poll_again(until - desk.now[0])
    assert asked(desk, before) == [("/feed.xml", 304)], "a month later it is believed again"


async def test_an_honest_feed_that_falls_silent_is_asked_without_validators_only_now_and_then(desk: Desk) -> None:
    often = [(f"/s{n}", f"S {n}", STARTED - timedelta(minutes=30 * n + 5)) for n in range(60)]
    desk.site.pages["/feed.xml"] = rss(*often)
    source = await desk.follow(feeds=("http://a.test/feed.xml",))
    await desk.poll()
    before = last_visit(desk)
    for _ in range(32):
        await desk.poll_again(12 * HOUR)
    statuses = [status for _, status in asked(desk, before)]
    assert 3 <= statuses.count(200) <= 6, "whenever the silence has doubled"
    assert (await desk.channel(source)).validators_distrusted_until is None
    assert "validators_distrusted" not in await desk.events()
