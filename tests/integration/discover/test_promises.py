"""Promises to publishers and to whoever reads the log, each of which is one line of code that is easily lost."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from io import StringIO
from uuid import UUID

import orjson
import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.discover.test_channels import ARTICLES, page_of, sitemap
from tests.integration.fetch.conftest import SmallSite

from headwater.discover.polls.prices import steer
from headwater.frontier.submit import FoundUrl
from headwater.ingest.page_store import submit_links
from headwater.ingest.taking_down import lift, take_down_everywhere
from headwater.log import make_logger
from headwater.politeness.takedown import parse_takedown
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status
from headwater.sources.source import SourceKind, SourceMode
from headwater.sources.store import read_source
from headwater.web import open_web

FEED = "http://a.test/feed.xml"
SITEMAP = "http://a.test/sitemap.xml"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TEN_MINUTES = timedelta(minutes=10)


def response_cache(desk: Desk) -> StringIO:
    """What its poller logs from now on, at every level."""
    stream = StringIO()
    desk.polling = replace(desk.polling, log=make_logger("debug", "json", stream=stream))
    return stream


def lines(stream: StringIO) -> list[tuple[str, str]]:
    read = map(orjson.loads, stream.getvalue().splitlines())
    return [(line["level"], line["event"]) for line in read]


def changed_at(*pages: tuple[str, datetime]) -> Page:
    return sitemap(*((path, f"{when:%Y-%m-%dT%H:%M:%SZ}") for path, when in pages))


async def due_in(desk: Desk, source: UUID) -> timedelta:
    return (await desk.channel(source)).next_poll_at - desk.now[0]


async def test_ten_errors_in_a_row_are_worth_a_line_at_error_level(desk: Desk) -> None:
    desk.path.sim.script("a.test", Status(404), "/feed.xml")
    log = response_cache(desk)
    await desk.follow(feeds=(FEED,))
    for _ in range(10):
        await desk.poll_again()
    assert lines(log) == [("warning", "poll_failed")] * 9 + [("error", "poll_keeps_failing")]


async def test_a_poll_that_waits_is_only_told_to_who_debugs(desk: Desk) -> None:
    log = response_cache(desk)
    await desk.follow(feeds=(FEED,), time_window="03:00-04:00", timezone="UTC")
    await desk.poll()
    assert lines(log) == [("debug", "poll_waits")]


async def test_the_ttl_of_a_feed_holds_where_it_has_not_changed(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3), ttl=600)
    source = await desk.follow(feeds=(FEED,), poll_every=HOUR)
    for message in ("3 items, 3 new, 0 changed", "not modified"):
        [ran] = await desk.poll_again()
        assert ran.ending is not None
        assert ran.ending.message == message
        assert await due_in(desk, source) == 10 * HOUR


async def test_the_hours_a_feed_asks_to_skip_are_skipped_where_it_has_not_changed(desk: Desk) -> None:
    page = rss(*stories(3))
    skipped = b"".join(b"<hour>%d</hour>" % hour for hour in (9, 10, 12, 13, 14))
    body = page.body.replace(b"<item>", b"<skipHours>" + skipped + b"</skipHours><item>", 1)
    desk.site.pages["/feed.xml"] = replace(page, body=body)
    source = await desk.follow(feeds=(FEED,), poll_every=HOUR)
    for opening in (11, 15):
        await desk.poll_again()
        opens_at = STARTED.replace(hour=opening)
        assert opens_at <= (await desk.channel(source)).next_poll_at <= opens_at + TEN_MINUTES
    assert [visit.status for visit in desk.path.visits() if visit.target == "/feed.xml"] == [200, 304]


async def test_after_a_long_absence_a_sitemap_is_read_back_to_the_last_success(desk: Desk) -> None:
    desk.site.pages["/sitemap.xml"] = changed_at(("/first", STARTED - HOUR))
    await desk.follow(sitemaps=(SITEMAP,))
    await desk.poll()
    missed = [("/late", STARTED + 9 * DAY), ("/early", STARTED + HOUR), ("/older", STARTED - DAY)]
    desk.site.pages["/sitemap.xml"] = changed_at(*missed)
    await desk.poll_again(after=10 * DAY)
    assert await desk.entries() == {f"http://a.test/{path}" for path in ("first", "late", "early")}


async def test_no_feed_is_asked_more_often_than_its_host_may_be(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,), poll_every=HOUR)
    await desk.poll()
    assert await due_in(desk, source) == HOUR
    await desk.path.database.execute("update hosts set delay_ms = 7200000 where host = 'a.test'")
    await desk.poll_again()
    assert await due_in(desk, source) == 2 * HOUR
    assert (await desk.channel(source)).next_reason == "delay of the host: 2 h"


async def test_links_to_other_hosts_are_queued_two_below(desk: Desk) -> None:
    source = await desk.follow(kind=SourceKind.DOCS, allow_external=True)
    profile = (await read_source(desk.path.database, source)).profile
    links = ["http://a.test/inside", "http://b.test/outside"]
    async with desk.path.database.transaction() as connection:
        await submit_links(connection, source, profile, FoundUrl("http://a.test/"), links, date(2026, 3, 2))
    rows = await desk.path.database.fetch("select host, priority from url_frontier")
    priorities = {row["host"]: row["priority"] for row in rows}
    assert priorities["a.test"] - priorities["b.test"] == 2


async def test_a_clock_that_jumped_a_year_ahead_and_back_does_not_freeze_the_price(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(5))
    await desk.follow(feeds=(FEED,))
    await desk.poll()
    database = desk.path.database
    assert await steer(database, 1.0, STARTED + 365 * DAY) is not None
    steering = await steer(database, 1.0, STARTED + HOUR / 2)
    assert steering is not None
    assert (steering.made, steering.allowed) == (1, 1.0)
    assert await steer(database, 1.0, STARTED + HOUR) is None


@pytest.mark.parametrize("place", ["a.test", "b.test"])
async def test_what_a_takedown_kept_out_of_a_sitemap_comes_when_it_is_lifted(desk: Desk, place: str) -> None:
    site = desk.path.sim.sites[place]
    assert isinstance(site, SmallSite)
    site.pages["/sitemap.xml"] = changed_at(("/a", STARTED), ("/b", STARTED))
    takedown = parse_takedown("http://a.test/a")
    await take_down_everywhere(desk.path.database, takedown)
    await desk.follow(sitemaps=(f"http://{place}/sitemap.xml",))
    await desk.poll()
    assert await desk.entries() == {"http://a.test/b"}
    await lift(desk.path.database, takedown)
    await desk.poll_again()
    assert await desk.entries() == {"http://a.test/a", "http://a.test/b"}


async def test_what_a_takedown_kept_off_a_further_page_comes_when_it_is_lifted(desk: Desk) -> None:
    desk.site.pages |= {
        "/": page_of(*ARTICLES[:3], more='<link rel="next" href="/page/2/">'),
        "/page/2/": page_of(*ARTICLES[3:6]),
    }
    takedown = parse_takedown(f"http://a.test{ARTICLES[5]}")
    await take_down_everywhere(desk.path.database, takedown)
    await desk.follow(mode=SourceMode.SPIDER, max_depth=0)
    await desk.poll()
    assert len(await desk.entries()) == 5
    await lift(desk.path.database, takedown)
    await desk.poll_again()
    assert len(await desk.entries()) == 6


async def test_a_poll_under_way_when_a_takedown_is_lifted_does_not_put_back_what_it_was_told(desk: Desk) -> None:
    desk.site.pages["/sitemap.xml"] = changed_at(("/a", STARTED), ("/b", STARTED))
    takedown = parse_takedown("http://a.test/a")
    await take_down_everywhere(desk.path.database, takedown)
    await desk.follow(sitemaps=(SITEMAP,))
    [lease] = await desk.claim()
    await lift(desk.path.database, takedown)
    await desk.polling.work(lease)
    assert desk.ran == []
    await desk.poll()
    assert await desk.entries() == {"http://a.test/a", "http://a.test/b"}


@pytest.mark.parametrize(
    ("owner", "contact", "said"),
    [
        ("poll@here:7:c0ffee", "", [("warning", "no_contact_set")]),
        ("poll@here:7:c0ffee", "mailto:a@example.org", []),
        ("headwater sources add", "", []),
    ],
)
async def test_a_role_that_nobody_can_be_reached_for_says_so_when_it_starts(
    desk: Desk, owner: str, contact: str, said: list[tuple[str, str]]
) -> None:
    stream, services = StringIO(), desk.path.services
    fetch = services.settings.fetch.model_copy(update={"contact": contact})
    settings = services.settings.model_copy(update={"fetch": fetch})
    log = make_logger("warning", "json", stream=stream)
    async with open_web(replace(services, settings=settings, log=log), owner, desk.path.resolver):
        assert lines(stream) == said
