"""What goes wrong with channels, and what is made of it."""

from datetime import timedelta

import pytest
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.fetch.conftest import SmallSite, robots

from headwater.discover.adding import change_status
from headwater.discover.cadence.rests import ErrorClass
from headwater.simweb.message import Page
from headwater.simweb.mischief.redirects import Redirect
from headwater.simweb.mischief.replies import Status, Throttle
from headwater.sources.health import health_of
from headwater.sources.health_word import HealthStatus
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceKind, SourceStatus
from headwater.sources.store import read_source

FEED = "http://a.test/feed.xml"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ErrorClass.FORBIDDEN),
        (403, ErrorClass.FORBIDDEN),
        (404, ErrorClass.NOT_FOUND),
        (410, ErrorClass.GONE),
        (418, ErrorClass.UPSTREAM),
        (502, ErrorClass.UPSTREAM),
    ],
)
async def test_a_status_is_an_error_of_its_class(desk: Desk, status: int, error: ErrorClass) -> None:
    desk.path.sim.script("a.test", Status(status), "/feed.xml")
    source = await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.ending.error, ran.ending.http_status) == ("fail", error, status)
    channel = await desk.channel(source)
    assert (channel.error_class, channel.class_errors, channel.last_status) == (error, 1, status)


async def test_what_is_no_feed_is_unreadable_and_the_next_channel_goes_on(desk: Desk) -> None:
    desk.site.pages |= {"/feed.xml": Page(b"<html><p>Sign in</p></html>"), "/other.xml": rss(*stories(2))}
    await desk.follow(feeds=(FEED, "http://a.test/other.xml"))
    ran = {one.channel.url.target: one.ending for one in await desk.poll()}
    ran |= {one.channel.url.target: one.ending for one in await desk.poll_again(timedelta(seconds=30))}
    assert ran["/feed.xml"] is not None
    assert ran["/feed.xml"].error is ErrorClass.UNREADABLE
    assert ran["/other.xml"] is not None
    assert ran["/other.xml"].status == "ok"


async def test_retry_after_is_honoured_and_the_host_is_left_alone(desk: Desk) -> None:
    desk.path.sim.script("a.test", Throttle(seconds=7200), "/feed.xml")
    await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.error is ErrorClass.RATE_LIMITED
    assert ran.ending.next.interval >= timedelta(hours=2)
    assert await desk.path.database.fetchval("select reason from host_closures") == "retry_after"


async def test_gone_is_believed_the_second_time(desk: Desk) -> None:
    desk.path.sim.script("a.test", Status(410), "/feed.xml")
    source = await desk.follow(feeds=(FEED,))
    [first] = await desk.poll()
    [second] = await desk.poll_again()
    assert first.ending is not None
    assert second.ending is not None
    assert first.ending.next.interval < timedelta(hours=1)
    assert second.ending.next.interval >= timedelta(hours=72)
    assert "channel_rests" in await desk.events()
    source_now = await read_source(desk.path.database, source)
    health = health_of(source_now, await desk.channels(source))
    assert health.word is HealthStatus.STRUGGLING
    assert "HTTP 410" in health.reason


async def test_a_permanent_redirect_moves_the_channel_once_the_new_place_was_read(desk: Desk) -> None:
    desk.path.sim.script("a.test", Redirect("http://b.test/new.xml", code=301), "/feed.xml")
    source = await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()  # the new place does not exist yet
    assert ran.ending is not None
    assert ran.ending.status == "fail"
    assert (await desk.channel(source)).url == FEED
    other = desk.path.sim.sites["b.test"]
    assert isinstance(other, SmallSite)
    other.pages["/new.xml"] = rss(*stories(2))
    await desk.poll_again()
    channel = await desk.channel(source)
    assert (channel.url, channel.former_urls) == ("http://b.test/new.xml", (FEED,))
    assert await desk.path.database.fetchval("select etag from channels where etag is not null") is None
    assert "channel_moved" in await desk.events()
    visits = len(desk.path.visits())
    await desk.poll_again()
    assert [visit.host for visit in desk.path.visits()[visits:] if visit.target != "/robots.txt"] == ["b.test"]


async def test_a_temporary_redirect_moves_nothing(desk: Desk) -> None:
    desk.site.pages["/new.xml"] = rss(*stories(2))
    desk.path.sim.script("a.test", Redirect("/new.xml", code=302), "/feed.xml")
    source = await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "ok"
    assert (await desk.channel(source)).url == FEED


async def test_moving_to_where_another_channel_stands_merges_them(desk: Desk) -> None:
    desk.site.pages["/new.xml"] = rss(*stories(2))
    await desk.follow("http://b.test/", feeds=("http://a.test/new.xml",))
    desk.path.sim.script("a.test", Redirect("/new.xml", code=308), "/feed.xml")
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    await desk.poll_again(timedelta(seconds=30))
    channel = await desk.channel(source)
    assert not channel.is_enabled
    assert channel.disabled_reason == "moved to http://a.test/new.xml, which is followed already"


async def test_a_channel_does_not_give_way_to_one_that_nobody_polls(desk: Desk) -> None:
    desk.site.pages["/new.xml"] = rss(*stories(2))
    paused = await desk.follow("http://b.test/", feeds=("http://a.test/new.xml",))
    await change_status(desk.path.database, paused, SourceStatus.PAUSED, "for now", "tester")
    desk.path.sim.script("a.test", Redirect("/new.xml", code=308), "/feed.xml")
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    channel = await desk.channel(source)
    assert (channel.is_active, channel.url) == (True, FEED)


async def test_an_overflown_feed_says_so_and_its_sitemap_is_read_at_once(desk: Desk) -> None:
    urls = "<urlset><url><loc>http://a.test/x</loc><lastmod>2026-03-03</lastmod></url></urlset>"
    desk.site.pages |= {"/feed.xml": rss(*stories(5)), "/map.xml": Page(urls.encode(), "application/xml")}
    source = await desk.follow(feeds=(FEED,), sitemaps=("http://a.test/map.xml",))
    await desk.poll()
    await desk.poll_again(timedelta(seconds=30))
    later = STARTED + timedelta(hours=30)
    desk.now[0] = later
    desk.site.pages["/feed.xml"] = rss(*stories(5, later, first=100))
    await desk.path.database.execute(
        "update channels set next_poll_at = $1 where kind = 'sitemap'", later + timedelta(days=1)
    )
    runs = await desk.poll()
    assert [ran.channel.kind for ran in runs] == [ChannelKind.FEED, ChannelKind.SITEMAP]
    assert runs[0].ending is not None
    assert runs[0].ending.status == "warn"
    channels = {one.kind: one for one in await desk.channels(source)}
    assert channels[ChannelKind.FEED].overflow_count == 1
    assert "channel_overflowed" in await desk.events()


async def test_silence_is_an_alarm_that_ends_with_the_next_item(desk: Desk) -> None:
    often = [(f"/s{n}", f"S {n}", STARTED - timedelta(minutes=30 * n + 5)) for n in range(60)]
    desk.site.pages["/feed.xml"] = rss(*often)
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    for _ in range(8):
        await desk.poll_again(timedelta(hours=12))
    assert (await desk.events()).count("channel_silent") == 1
    health = health_of(await read_source(desk.path.database, source), await desk.channels(source))
    assert health.word is HealthStatus.SILENT
    desk.site.pages["/feed.xml"] = rss(("/again", "Again", desk.now[0]), *often)
    await desk.poll_again(timedelta(hours=12))
    assert "channel_speaks_again" in await desk.events()
    assert (await desk.channel(source)).silent_since is None


async def test_a_job_source_whose_page_robots_forbid_is_blocked(desk: Desk) -> None:
    desk.site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /jobs\n")
    source = await desk.follow("http://a.test/jobs", kind=SourceKind.JOBS)
    await desk.poll()
    found = await read_source(desk.path.database, source)
    assert (found.status, found.status_reason) == (SourceStatus.BLOCKED, "robots disallow")
    assert desk.path.asked() == ["a.test/robots.txt"]
    assert not (await desk.channel(source)).is_active


async def test_a_job_source_is_paused_after_five_failures_and_resuming_forgives(desk: Desk) -> None:
    desk.path.sim.script("a.test", Status(500), "/jobs")
    source = await desk.follow("http://a.test/jobs", kind=SourceKind.JOBS)
    await desk.poll()
    for _ in range(4):
        await desk.poll_again()
    found = await read_source(desk.path.database, source)
    assert (found.status, found.status_reason) == (SourceStatus.PAUSED, "auto-paused after failures")
    assert await desk.poll_again(timedelta(days=30)) == []
    await change_status(desk.path.database, source, SourceStatus.ACTIVE, None, "tester")
    found = await read_source(desk.path.database, source)
    assert (found.status, found.consecutive_failures) == (SourceStatus.ACTIVE, 0)
    assert (await desk.channel(source)).consecutive_errors == 0


async def test_a_news_source_only_rests(desk: Desk) -> None:
    desk.path.sim.script("a.test", Status(500), "/feed.xml")
    source = await desk.follow(feeds=(FEED,))
    await desk.poll()
    for _ in range(6):
        await desk.poll_again()
    assert (await read_source(desk.path.database, source)).status is SourceStatus.ACTIVE
