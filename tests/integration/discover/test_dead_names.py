"""A robots.txt that cannot be had is an error of its channel: it is counted, told and asked for ever more rarely."""

from tests.integration.discover.conftest import Desk, rss, stories

from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.polls.requesting import Deferred
from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import Status, Throttle
from headwater.simweb.resolver import NoSuchName
from headwater.sources.kinds import ChannelKind

DEAD = "http://nowhere.test/feed.xml"


async def test_a_feed_on_a_name_that_does_not_exist_fails_and_backs_off(desk: Desk) -> None:
    desk.path.resolver.script("nowhere.test", NoSuchName())
    source = await desk.follow("http://nowhere.test/", feeds=(DEAD,))
    waits = []
    for _ in range(3):
        [ran] = await desk.poll_again()
        assert ran.ending is not None
        assert (ran.ending.status, ran.ending.error) == ("fail", ErrorClass.NETWORK)
        assert "dns_not_found" in ran.ending.message
        waits.append(ran.ending.next.interval)
    assert waits[0] < waits[1] < waits[2]
    channel = await desk.channel(source)
    assert (channel.consecutive_errors, channel.error_class) == (3, "network")
    assert channel.last_error is not None
    assert "dns_not_found" in channel.last_error
    assert await desk.path.database.fetchval("select count(*) from runs where status = 'fail'") == 3
    assert await desk.path.database.fetchval("select last_run_status from sources where id = $1", source) == "fail"


async def test_a_search_on_a_dead_name_fails_with_the_reason(desk: Desk) -> None:
    desk.path.resolver.script("nowhere.test", NoSuchName())
    source = await desk.follow("http://nowhere.test/")
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "fail"
    channel = await desk.channel(source)
    assert (channel.kind, channel.consecutive_errors) == (ChannelKind.SEARCH, 1)


async def test_a_robots_file_whose_server_fails_is_an_error_and_asked_for_no_sooner_than_before(desk: Desk) -> None:
    desk.path.sim.script("a.test", Status(500), "/robots.txt")
    desk.site.pages["/feed.xml"] = rss(*stories(2))
    source = await desk.follow(feeds=("http://a.test/feed.xml",))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert (ran.ending.status, ran.ending.error, ran.ending.http_status) == ("fail", ErrorClass.UPSTREAM, 500)
    channel = await desk.channel(source)
    held = await desk.path.database.fetchval("select expires_at - fetched_at from robots")
    assert channel.next_poll_at - desk.now[0] >= held
    assert [visit.target for visit in desk.path.visits()] == ["/robots.txt"]


async def test_the_stored_failure_counts_as_the_fresh_one_did(desk: Desk) -> None:
    """A person who asks again at once meets the copy of the failure, not the web."""
    desk.path.resolver.script("nowhere.test", NoSuchName())
    source = await desk.follow("http://nowhere.test/", feeds=(DEAD,))
    await desk.poll()
    await desk.path.database.execute("update channels set next_poll_at = $1", desk.now[0])
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.error is ErrorClass.NETWORK
    assert (await desk.channel(source)).consecutive_errors == 2


async def test_a_host_that_asks_us_to_wait_is_no_error(desk: Desk) -> None:
    desk.path.sim.script("a.test", Throttle(seconds=600), "/robots.txt")
    source = await desk.follow(feeds=("http://a.test/feed.xml",))
    [ran] = await desk.poll()
    assert ran.ending is None
    assert isinstance(ran.waits, Deferred)
    assert (await desk.channel(source)).consecutive_errors == 0


async def test_a_run_under_way_waits_for_robots_instead_of_losing_its_rest(desk: Desk) -> None:
    index = "<sitemapindex><sitemap><loc>http://b.test/part.xml</loc></sitemap></sitemapindex>"
    desk.site.pages["/map.xml"] = Page(index.encode(), "application/xml")
    desk.path.sim.script("b.test", Status(500), "/robots.txt")
    source = await desk.follow(sitemaps=("http://a.test/map.xml",), allowed_domains=("b.test",))
    [ran] = await desk.poll()
    assert ran.ending is None
    assert [todo.url for todo in ran.run_state.todo] == ["http://b.test/part.xml"]
    channel = await desk.channel(source)
    assert (channel.consecutive_errors, channel.next_reason[:6]) == (0, "waits:")
