"""What keeps discovery in order: forgetting, rules that change, hosts of job sources."""

from datetime import timedelta

from tests.integration.discover.conftest import QUICK, STARTED, Desk, rss, stories
from tests.integration.fetch.conftest import robots

from headwater.actions.pausing import pause_everything, resume_everything
from headwater.discover.crawling import CrawlState, crawl_of, pages_of
from headwater.discover.polls.submit_items import forget_items
from headwater.fetch.robots import RobotsRounds
from headwater.frontier.submit import FoundUrl, SubmitOutcome
from headwater.ingest.page_store import links_to_follow, submit_links
from headwater.simweb.message import Page
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, SourceKind, SourceMode, SourceStatus
from headwater.sources.store import poll_now, read_source

TODAY = (stories(1)[0][2]).date()


async def test_items_that_are_listed_no_more_are_forgotten_in_time(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await desk.follow(feeds=("http://a.test/feed.xml",))
    await desk.poll()
    long_ago = "update channel_items set last_seen_at = now() - interval '61 days' * (title = 'Story 1')::integer"
    await desk.path.database.execute(long_ago)
    assert await forget_items(desk.path.database, 60) == 1
    assert await desk.path.database.fetchval("select count(*) from channel_items") == 2
    # All that is left stood in its last answer: as long as nothing else is answered, it is still listed.
    await desk.path.database.execute("update channel_items set last_seen_at = now() - interval '200 days'")
    assert await forget_items(desk.path.database, 60) == 0


async def test_a_blocked_source_goes_on_when_the_rules_change(desk: Desk) -> None:
    desk.site.pages |= {"/robots.txt": robots("User-agent: *\nDisallow: /jobs\n"), "/jobs": Page(b"<p>Jobs</p>")}
    source = await desk.follow("http://a.test/jobs", kind=SourceKind.JOBS)
    await desk.poll()
    assert (await read_source(desk.path.database, source)).status is SourceStatus.BLOCKED
    rounds = RobotsRounds(desk.path.database, desk.path.web.reservations, desk.path.web.fetcher.preflight.look)
    assert await rounds.go() == 0  # its robots.txt is fresh
    desk.site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /private\n")
    await desk.path.database.execute("update robots set expires_at = now()")
    await pause_everything(desk.path.database, "ann")
    assert await rounds.go() == 0
    await resume_everything(desk.path.database, "ann")
    assert await rounds.go() == 1
    await desk.path.web.followers.finish()
    found = await read_source(desk.path.database, source)
    assert (found.status, found.status_reason) == (SourceStatus.ACTIVE, "robots.txt allows it again")
    assert (await desk.channel(source)).is_active


async def test_a_job_sources_host_is_asked_slowly_and_its_pages_are_small(desk: Desk) -> None:
    desk.site.pages["/jobs"] = Page(b"<p>" + b"x" * (1024 * 1024) + b"</p>")
    await desk.follow("http://a.test/jobs", keeps_delay=True, kind=SourceKind.JOBS)
    assert await desk.path.database.fetchval("select delay_ms from hosts where host = 'a.test'") == 3000
    await desk.path.database.execute(QUICK)
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.message.startswith("too_large")
    term = await desk.path.database.fetchval("select expires_at - fetched_at from robots")
    assert abs(term - timedelta(hours=12)) < timedelta(seconds=1)  # two columns, each rounded to a microsecond


async def test_links_of_a_page_become_pages_one_level_deeper_once(desk: Desk) -> None:
    source = await desk.follow(kind=SourceKind.DOCS, max_depth=2)
    await desk.poll()
    profile = (await read_source(desk.path.database, source)).profile
    links = ["http://a.test/sub1", "http://a.test/sub2", "http://a.test/sub1#top", "http://elsewhere.test/"]
    for expected in (SubmitOutcome.QUEUED, SubmitOutcome.DUPLICATE):
        async with desk.path.database.transaction() as connection:
            answers = await submit_links(connection, source, profile, FoundUrl("http://a.test/"), links, TODAY)
        assert [answer.outcome for answer in answers] == [expected, expected]
    pages = {page.url: (page.status, page.depth) for page in await pages_of(desk.path.database, source)}
    assert pages == {
        "http://a.test/": ("pending", 0),
        "http://a.test/sub1": ("pending", 1),
        "http://a.test/sub2": ("pending", 1),
    }
    async with desk.path.database.transaction() as connection:
        deepest = FoundUrl("http://a.test/sub1", depth=2)
        assert await submit_links(connection, source, profile, deepest, ["http://a.test/deeper"], TODAY) == []


async def test_a_full_crawl_takes_no_more_pages(desk: Desk) -> None:
    source = await desk.follow(kind=SourceKind.DOCS, max_pages=1)
    await desk.poll()
    profile = (await read_source(desk.path.database, source)).profile
    async with desk.path.database.transaction() as connection:
        parent = FoundUrl("http://a.test/")
        assert await submit_links(connection, source, profile, parent, ["http://a.test/sub"], TODAY) == []


async def test_a_crawl_takes_pages_up_to_its_limit_and_those_it_knows_take_no_room(desk: Desk) -> None:
    source = await desk.follow(kind=SourceKind.DOCS, max_pages=4)
    await desk.poll()
    profile = (await read_source(desk.path.database, source)).profile
    parent, links = FoundUrl("http://a.test/"), [f"http://a.test/{n}" for n in range(9)]
    for offered in (links[:2], links, links):
        async with desk.path.database.transaction() as connection:
            await submit_links(connection, source, profile, parent, offered, TODAY)
    assert await desk.entries() == {"http://a.test/", *links[:3]}


async def test_the_next_round_of_a_crawl_asks_for_its_pages_again(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(1))
    source = await desk.follow(kind=SourceKind.DOCS, mode=SourceMode.BOTH, feeds=("http://a.test/feed.xml",))
    fetched = "update url_frontier set status = 'fetched', last_fetched_at = $1, revisit_at = null"
    for _ in range(2):
        await desk.poll()
        await desk.path.database.execute(fetched, STARTED - timedelta(days=1))
        desk.now[0] += timedelta(seconds=30)
    profile = (await read_source(desk.path.database, source)).profile
    async with desk.path.database.transaction() as connection:
        await submit_links(connection, source, profile, FoundUrl("http://a.test/"), ["http://a.test/sub"], TODAY)
    await desk.path.database.execute(fetched, STARTED - timedelta(days=1))
    await poll_now(desk.path.database, source, kind=ChannelKind.CRAWL, now=desk.now[0])
    await desk.poll()
    rows = await desk.path.database.fetch("select url, status, revisit_at is not null as is_due from url_frontier")
    assert {(row["url"], row["status"], row["is_due"]) for row in rows} == {
        ("http://a.test/", "pending", False),
        ("http://a.test/sub", "fetched", True),
        ("http://a.test/story-0", "fetched", False),
    }


async def test_a_sitemap_says_nothing_about_the_start_of_a_crawl(desk: Desk) -> None:
    pages = "<urlset><url><loc>http://a.test/x</loc></url></urlset>"
    desk.site.pages["/map.xml"] = Page(pages.encode(), "application/xml")
    source = await desk.follow(kind=SourceKind.DOCS, mode=SourceMode.BOTH, sitemaps=("http://a.test/map.xml",))
    # Channels of one host take turns.
    for _ in range(2):
        await desk.poll_again(timedelta(seconds=30))
    assert len(await desk.entries()) == 2
    await desk.path.database.execute("update url_frontier set status = 'fetched' where url like '%x'")
    await desk.path.database.execute("update url_frontier set status = 'dead', reason = 'gone' where url not like '%x'")
    assert (await crawl_of(desk.path.database, source)).state is CrawlState.FAILED


async def test_a_crawl_is_complete_when_nothing_waits_and_failed_only_by_its_start(desk: Desk) -> None:
    source = await desk.follow(kind=SourceKind.DOCS)
    assert (await crawl_of(desk.path.database, source)).state is CrawlState.NONE
    await desk.poll()
    assert (await crawl_of(desk.path.database, source)).state is CrawlState.RUNNING
    dead = "update url_frontier set status = 'dead', reason = 'not_found'"
    await desk.path.database.execute("update url_frontier set status = 'fetched'")
    assert (await crawl_of(desk.path.database, source)).state is CrawlState.COMPLETE
    await desk.path.database.execute(dead)
    crawl = await crawl_of(desk.path.database, source)
    assert (crawl.state, crawl.reason) == (CrawlState.FAILED, "its start page failed: not_found")
    await desk.path.database.execute("update url_frontier set reason = 'redirect', moved_to = 'http://a.test/en'")
    assert (await crawl_of(desk.path.database, source)).state is CrawlState.COMPLETE


def test_only_links_worth_following_are_followed() -> None:
    profile = Profile("http://a.test/docs/", kind=SourceKind.DOCS, include_paths=("/docs",))
    links = [
        "http://a.test/docs/one",
        "http://a.test/docs/one/",
        "http://a.test/other",
        "http://www.a.test/docs/two",
        "http://b.test/docs/one",
        "http://a.test/docs/a/a/a/a/a",
        "http://a.test/docs/cart/",
        "mailto:someone@a.test",
    ]
    assert links_to_follow(links, profile, TODAY) == ["http://a.test/docs/one", "http://www.a.test/docs/two"]
