"""Answers that break, hang or take over their reader, and polls that are lost: the channel rests, others go on."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from time import monotonic

import pytest
from tests.fork_servers import as_users_do
from tests.integration.discover.bewitched import DIE, EAT, HANG, LIE, MISLEAD
from tests.integration.discover.conftest import STARTED, Desk, rss, stories
from tests.integration.discover.test_channels import index, sitemap
from tests.integration.discover.test_leases import EXPIRE
from tests.integration.fetch.conftest import SmallSite

from headwater.clock import SystemClock
from headwater.discover.polls.reader import TAKEN_OVER, TOO_LARGE, TOO_LONG, ChannelReader
from headwater.discover.polls.requesting import sitemaps_of
from headwater.discover.searching.following import explore, sum_up
from headwater.discover.trying import try_channels
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.extraction.pool.links import ForkServerLink
from headwater.lease_worker import LeaseWorker
from headwater.simweb.message import Page
from headwater.sources.source import SourceKind
from headwater.urls.canonical import canonicalise

FEED = "http://a.test/feed.xml"
HOUR = timedelta(hours=1)
LIMIT = 1.0


@asynccontextmanager
async def bewitching(desk: Desk, limit: float) -> AsyncIterator[Desk]:
    """The desk, with a reader that obeys whatever it reads."""
    work = "tests.integration.discover.bewitched:read_bewitched"
    async with ExtractionPool(work, size=2, timeout=limit, clock=SystemClock(), memory_bytes=256 << 20) as pool:
        poll = replace(desk.polling.poll, reader=ChannelReader(pool))
        desk.polling = replace(desk.polling, poll=poll)
        yield desk


@pytest.fixture
async def bewitched(desk: Desk) -> AsyncIterator[Desk]:
    async with bewitching(desk, LIMIT) as ready:
        yield ready


def spell(word: bytes) -> Page:
    page = rss(*stories(3))
    return replace(page, body=page.body + word)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (HANG, TOO_LONG),
        (DIE, "Reading it ended the process that read it (SIGSEGV)."),
        (EAT, TOO_LARGE),
        (LIE, TAKEN_OVER),
        (MISLEAD, TAKEN_OVER),
    ],
)
async def test_an_answer_that_harms_its_reader_rests_its_channel_at_once(
    bewitched: Desk, word: bytes, said: str
) -> None:
    desk = bewitched
    desk.site.pages["/feed.xml"] = spell(word)
    source = await desk.follow(feeds=(FEED,))
    [ran] = await desk.poll()
    channel = await desk.channel(source)
    assert ran.ending is not None
    assert (ran.ending.status, channel.error_class, channel.consecutive_errors) == ("fail", "unreadable", 1)
    assert channel.last_error is not None
    assert channel.last_error.startswith(said)
    assert channel.next_reason.startswith("rests after an error (unreadable): it ended a process of ours")
    assert channel.next_poll_at - STARTED >= HOUR
    assert "channel_rests" in await desk.events()
    assert await desk.entries() == set()


async def test_a_channel_that_keeps_harming_its_readers_is_left_alone_for_a_day(bewitched: Desk) -> None:
    desk = bewitched
    desk.site.pages["/feed.xml"] = spell(DIE)
    source = await desk.follow(feeds=(FEED,), poll_every=timedelta(minutes=5))
    waits = []
    await desk.poll()
    for _ in range(5):
        waits.append((await desk.channel(source)).next_poll_at - desk.now[0])
        await desk.poll_again()
    assert waits == [HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 24 * HOUR]
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await desk.poll_again()
    channel = await desk.channel(source)
    assert (channel.consecutive_errors, channel.last_error) == (0, None)
    assert channel.next_poll_at - desk.now[0] <= HOUR


@pytest.mark.long
async def test_while_an_answer_is_never_read_to_its_end_others_are_polled_and_leases_are_kept(desk: Desk) -> None:
    names = [f"h{n}.test" for n in range(8)]
    desk.path.sim.sites |= {name: SmallSite({"/feed.xml": rss(*stories(3))}) for name in names}  # type: ignore[operator]
    desk.site.pages["/feed.xml"] = spell(HANG)
    await desk.follow(feeds=(FEED,))
    for name in names:
        await desk.follow(f"http://{name}/", feeds=(f"http://{name}/feed.xml",))
    lease = timedelta(seconds=2)
    async with bewitching(desk, limit=5.0):
        lease_worker = LeaseWorker(replace(desk.polling, lease=lease), SystemClock(), desk.path.services.log, 10, lease)
        stop = asyncio.Event()
        running = asyncio.create_task(lease_worker.run(stop))
        while len(desk.ran) < len(names) + 1:
            await asyncio.sleep(0.02)
        stop.set()
        await running
    ended = [ran.channel.url.host for ran in desk.ran]
    # A lease shorter than the reading was kept: nobody else polled it meanwhile, and its end was stored.
    assert sorted(ended) == sorted([*names, "a.test"])
    assert ended[-1] == "a.test"
    assert all(ran.ending and ran.ending.status == "ok" for ran in desk.ran[:-1])
    assert await desk.path.database.fetchval("select max(lost_count) from channels") == 0


async def test_no_channel_is_blamed_where_no_reader_can_be_started(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForkServerLink, "open", as_users_do)
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,))
    nowhere = ExtractionPool("tests.nowhere:nothing", size=1, timeout=LIMIT, clock=SystemClock())
    poll = replace(desk.polling.poll, reader=ChannelReader(nowhere))
    desk.polling = replace(desk.polling, poll=poll)
    [lease] = await desk.claim()
    await desk.polling.work(lease)
    await nowhere.close()
    channel = await desk.channel(source)
    assert desk.ran[-1].ending is None
    assert (channel.consecutive_errors, channel.next_reason) == (0, "waits: The extraction children were closed.")


async def test_one_part_too_long_to_read_does_not_cost_the_others_but_a_second_one_ends_the_run(
    bewitched: Desk,
) -> None:
    desk = bewitched
    fine = sitemap(("/a", "2026-03-01T12:00:00Z"))
    broken = replace(fine, body=fine.body + DIE)
    desk.site.pages |= {"/map.xml": index("/1.xml", "/2.xml", "/3.xml"), "/1.xml": broken, "/2.xml": fine}
    desk.site.pages["/3.xml"] = sitemap(("/c", "2026-03-01T12:00:00Z"))
    source = await desk.follow(sitemaps=("http://a.test/map.xml",))
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.status == "warn"
    assert await desk.entries() == {"http://a.test/a", "http://a.test/c"}
    desk.site.pages["/2.xml"] = broken
    [ran] = await desk.poll_again()
    assert ran.ending is not None
    assert ran.ending.status == "fail"
    assert "rests" in (await desk.channel(source)).next_reason


@pytest.mark.long
async def test_a_person_who_tries_or_adds_a_harmful_site_gets_an_answer(bewitched: Desk) -> None:
    desk = bewitched
    desk.site.pages |= {"/feed.xml": spell(HANG), "/": Page(b"<p>" + HANG)}
    source = await desk.follow(feeds=(FEED,))
    poll, database = desk.polling.poll, desk.path.database
    began = monotonic()
    [trial] = [one async for one in try_channels(database, poll.asker, poll.reader, SystemClock(), source)]
    assert trial.problem == TOO_LONG
    site = canonicalise("http://a.test/")
    sitemaps = partial(sitemaps_of, database)
    steps = [one async for one in explore(poll.asker.follower, sitemaps, poll.reader, site, STARTED)]
    assert sum_up(steps).trouble is not None
    assert monotonic() - began < 10 * LIMIT


async def test_a_careers_page_with_two_hundred_references_to_one_costly_text_is_read(desk: Desk) -> None:
    place = {"@id": "#p", "@type": "Place", "name": "<div>" * 19_800}
    posting = {"@type": "JobPosting", "title": "Nurse", "url": "/jobs/1", "jobLocation": [{"@id": "#p"}] * 220}
    data = json.dumps({"@graph": [place, posting]})
    desk.site.pages["/"] = Page(f'<html><script type="application/ld+json">{data}</script></html>'.encode())
    source = await desk.follow(kind=SourceKind.JOBS)
    await desk.poll()
    assert (await desk.channel(source)).consecutive_errors == 0
    assert await desk.path.database.fetchval("select title from jobs") == "Nurse"


async def test_one_lost_lease_is_forgiven_and_forgotten(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    await desk.follow(feeds=(FEED,))
    [lease] = await desk.claim()
    await desk.path.database.execute(EXPIRE)
    [again] = await desk.claim()
    assert (lease.lost, again.lost) == (0, 1)
    await desk.polling.work(again)
    assert desk.ran[-1].ending is not None
    assert desk.ran[-1].ending.status == "ok"
    assert await desk.path.database.fetchval("select lost_count from channels") == 0


async def test_what_is_given_back_is_not_lost(desk: Desk) -> None:
    await desk.follow(feeds=(FEED,))
    await desk.polling.release(await desk.claim())
    [again] = await desk.claim()
    assert again.lost == 0


async def test_a_channel_whose_poll_was_lost_twice_rests_unasked(desk: Desk) -> None:
    desk.site.pages["/feed.xml"] = rss(*stories(3))
    source = await desk.follow(feeds=(FEED,), poll_every=timedelta(minutes=5))
    for _ in range(2):
        await desk.claim()
        await desk.path.database.execute(EXPIRE)
    asked = len(desk.path.visits())
    [ran] = await desk.poll()
    channel = await desk.channel(source)
    assert len(desk.path.visits()) == asked
    assert ran.ending is not None
    assert channel.last_error is not None
    assert channel.last_error.startswith("Its polls were lost twice in a row")
    assert channel.next_poll_at - STARTED == HOUR
    assert "channel_rests" in await desk.events()
    # It stays a suspect: after its rest one more loss is enough, and a poll that ends clears it.
    desk.now[0] = channel.next_poll_at
    await desk.claim()
    await desk.path.database.execute(EXPIRE)
    [ran] = await desk.poll()
    assert (await desk.channel(source)).next_poll_at - desk.now[0] == 2 * HOUR
    [ran] = await desk.poll_again()
    assert ran.ending is not None
    assert ran.ending.status == "ok"
    assert await desk.path.database.fetchval("select lost_count from channels") == 0


async def test_a_poller_that_keeps_dying_rests_one_channel_and_not_all_it_had(desk: Desk) -> None:
    database = desk.path.database
    names = [f"h{n}.test" for n in range(12)]
    for name in names:
        await desk.follow(f"http://{name}/", feeds=(f"http://{name}/feed.xml",))
    assert len(await desk.claim(12)) == 12
    await database.execute(EXPIRE)
    await desk.follow("http://a.test/", feeds=(FEED,))
    await database.execute("update channels set next_poll_at = next_poll_at - interval '1 hour' where host = 'h5.test'")
    for _ in range(3):
        leases = await desk.claim(12)
        # One suspect and whatever is healthy; while it is under way, no further one, and no hurry to ask for one.
        assert len([lease for lease in leases if lease.lost]) == 1
        nothing, wait = await desk.polling.claim(12)
        assert not nothing
        assert wait is None or wait > timedelta()
        await database.execute(EXPIRE)
    assert await database.fetch("select host from channels where lost_count > 1") == [("h5.test",)]


@pytest.mark.long
async def test_suspects_hold_nobody_up(desk: Desk) -> None:
    """However many wait, what is healthy is claimed first."""
    database = desk.path.database
    for n in range(100):
        await desk.follow(f"http://s{n}.test/", feeds=(f"http://s{n}.test/feed.xml",))
    await database.execute("update channels set lost_count = 1, next_poll_at = $1", STARTED - timedelta(days=1))
    await desk.follow("http://a.test/", feeds=(FEED,))
    hosts = [lease.url.host for lease in await desk.claim(2)]
    assert "a.test" in hosts
