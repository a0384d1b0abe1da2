"""Connections to the database that break where it hurts most: the work was done, and nobody heard of it."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.faults import invariants
from tests.faults.proxy import Proxy, proxy_to
from tests.faults.world import DELAY, Workbench, feed, hosts, pages_of, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.frontier.maintain import rescue
from headwater.sources.source import Profile, SourceKind

pytestmark = pytest.mark.long

SITES = hosts(6)
PAGES = pages_of(SITES)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    """Whatever a connection loses, each page is asked for once, becomes one document, and is blamed for nothing."""
    async with workbench(database, SITES) as ready:
        yield ready
        assert await invariants.broken(database) == []
        assert await invariants.lost_urls(database, PAGES) == []
        assert await invariants.fetched_without_document(database) == []
        assert invariants.hosts_asked_too_soon(ready.sim.visits.all(), DELAY) == []


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[Proxy]:
    async with proxy_to(database_url) as ready:
        yield ready


async def test_entries_of_a_claim_whose_answer_was_lost_are_given_back_and_blamed_for_nothing(
    bench: Workbench, proxy: Proxy
) -> None:
    """Neither what was claimed with others nor what was claimed alone, where a second blame would have been its end."""
    await bench.queue(*PAGES)
    await bench.database.execute("update url_frontier set held = 'suspect' where host = 'host0.test'")
    lost = proxy.cut("claim_entries", "once it is answered"), proxy.cut("claim_suspect", "once it is answered")
    async with bench.worker(proxy.dsn):
        await bench.until_settled()
    assert [cut.done for cut in lost] == [1, 1]
    assert sorted(bench.asked()) == sorted(PAGES)
    assert set(await bench.rows("status, held, crash_count, retry_count")) == {("fetched", None, 0, 0)}


async def test_entries_of_a_lost_claim_come_back_although_their_worker_is_gone_too(
    bench: Workbench, proxy: Proxy
) -> None:
    await bench.queue(*PAGES)
    # Of hosts that never answered only some are claimed at a time.
    await bench.database.execute("update hosts set is_doubted = false")
    lost = proxy.cut("claim_entries", "once it is answered")
    gone = proxy.cut("", "before it arrives", times=1_000_000)
    gone.left = 0
    async with bench.worker(proxy.dsn, owner="the one that goes") as worker:
        await lost.has_happened.wait()
        # From here on it reaches the database no more.
        gone.left = 1_000_000
        await worker.says("claim_failed")
    assert await bench.database.fetchval("select count(*) from slots") == len(PAGES)
    gone.left = 0
    await bench.database.execute("update slots set expires_at = now() - interval '1 second'")
    assert (await rescue(bench.database)).rescued == len(PAGES)
    async with bench.worker(proxy.dsn, owner="the next one"):
        await bench.until_settled()
    assert sorted(bench.asked()) == sorted(PAGES)
    assert set(await bench.rows("status, retry_count")) == {("fetched", 0)}


async def test_a_page_whose_settling_was_cut_off_is_settled_once_and_not_asked_for_again(
    bench: Workbench, proxy: Proxy
) -> None:
    """Whether it had arrived or not; also one after the other for the same page."""
    lost = proxy.cut("keep_page", "before it arrives", times=3), proxy.cut("keep_page", "once it is answered", times=3)
    await bench.queue(*PAGES)
    async with bench.worker(proxy.dsn):
        await bench.until_settled()
    assert [cut.done for cut in lost] == [3, 3]
    assert sorted(bench.asked()) == sorted(PAGES)
    assert set(await bench.rows("status, fetch_count, retry_count, crash_count")) == {("fetched", 1, 0, 0)}
    assert await bench.database.fetchval("select max(version) from documents") == 1


async def test_a_commit_that_was_not_heard_of_is_not_made_twice(bench: Workbench, proxy: Proxy) -> None:
    """A page of a crawl: its links are queued in the transaction that settles it."""
    async with bench.database.transaction() as connection:
        profile = Profile("http://host0.test/", kind=SourceKind.DOCS, allowed_domains=("test",))
        crawl = await take_up(connection, WantedSource(profile), "tester", DELAY)
    SITES["host0.test"].links = {"/page0": [url for url in PAGES if "host0" not in url]}
    async with bench.worker(proxy.dsn):
        lost = proxy.cut("COMMIT", "before it arrives"), proxy.cut("COMMIT", "once it is answered")
        await bench.queue(PAGES[0], source=crawl)
        await lost[1].has_happened.wait()
        await bench.until_settled()
    assert [cut.done for cut in lost] == [1, 1]
    assert sorted(bench.asked()) == sorted(PAGES)
    assert set(await bench.rows("status, fetch_count, retry_count, crash_count")) == {("fetched", 1, 0, 0)}


async def test_work_that_the_database_did_not_take_is_given_back(bench: Workbench, proxy: Proxy) -> None:
    """Cut off in the middle of a journey, before its page was asked for."""
    lost = proxy.cut("FROM takedowns", "before it arrives", times=4)
    await bench.queue(*PAGES)
    async with bench.worker(proxy.dsn):
        await bench.until_settled()
    assert lost.done == 4
    assert sorted(bench.asked()) == sorted(PAGES)
    assert set(await bench.rows("status, held, crash_count, retry_count")) == {("fetched", None, 0, 0)}


async def test_a_channel_whose_poll_was_cut_off_is_polled_and_lists_each_item_once(
    bench: Workbench, proxy: Proxy
) -> None:
    """After its claim, in the middle, before and after its commit; none of it is an error of the channel."""
    SITES["host0.test"].pages["/feed.xml"] = feed(*PAGES)
    await bench.follow("http://host0.test/", "http://host0.test/feed.xml")
    async with bench.poller(proxy.dsn):
        lost = [
            proxy.cut("claim_channels", "once it is answered"),
            proxy.cut("FROM channels c", "before it arrives"),
            proxy.cut("COMMIT", "before it arrives"),
            proxy.cut("COMMIT", "once it is answered"),
        ]
        await lost[-1].has_happened.wait()
        await until(lambda: bench.database.fetchval("select last_ok_at from channels where token is null"))
    assert [cut.done for cut in lost] == [1, 1, 1, 1]
    channel = await bench.database.fetchrow("select consecutive_errors, last_item_count from channels")
    assert tuple(channel or ()) == (0, len(PAGES))
    assert await bench.database.fetchval("select count(*) from runs") == 1
    assert await bench.database.fetchval("select count(*) from channel_items") == len(PAGES)
    async with bench.worker(proxy.dsn):
        await bench.until_settled()


async def test_a_slow_database_costs_no_lease(bench: Workbench, proxy: Proxy) -> None:
    """200 ms before each answer and 64 kB a second: hearts beat in time, or the work is given back."""
    lease = timedelta(seconds=6)
    async with bench.worker(proxy.dsn, lease__duration="6s") as worker:
        proxy.delay_seconds, proxy.bytes_per_second = 0.2, 64_000
        await bench.queue(*PAGES)
        await bench.until_settled()
        assert (await rescue(bench.database)).rescued == 0
        proxy.delay_seconds, proxy.bytes_per_second = 0.0, None
    assert worker.log.events("lease_lost") == []
    assert invariants.pages_asked_too_soon_again(bench.sim.visits.all(), lease) == []
    assert set(await bench.rows("status, crash_count, retry_count")) == {("fetched", 0, 0)}
