"""F50: a takedown while its place is fetched, polled or read again, while it is in the outbox, and killed half way."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path as FilePath

import pytest
from tests.integration.archive.shelf import broken
from tests.integration.discover.conftest import Desk, rss, stories
from tests.integration.fetch.conftest import Path, SmallSite, opened_path
from tests.integration.frontier.surgery import STOP_HERE, alter, closed_gate, until
from tests.integration.ingest.press import Press, press_on, reading_pool
from tests.integration.ingest.remains import is_waiting, remains_of

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import Lease
from headwater.frontier.verdicts import Fetched, Verdict
from headwater.ingest.journey import PageReaders
from headwater.ingest.page_store import PageEffects
from headwater.ingest.taking_down import TakedownResult, finish_takedowns, take_down_everywhere
from headwater.log import make_logger
from headwater.net.transport import Response
from headwater.politeness.takedown import parse_takedown
from headwater.rights.record import StatedIn, UseStatement
from headwater.run.extraction_pools import page_pool as pool_size_of
from headwater.run.fetching import start_reading_pages
from headwater.run.maintenance import Maintenance
from headwater.run.polling import channel_reader, polling_of
from headwater.simweb.message import Page
from headwater.sources.source import SourceKind
from headwater.sources.store import NOTICE
from headwater.supervisor import Supervisor

GONE = "gone.test"
TAKEDOWN = parse_takedown(GONE)
STORY = "".join(f"<p>The council met on day {n} and said that the bridge would be closed again.</p>" for n in range(12))
WATCH = "perform watch_takedowns();"
STOPS = {"before it looks": f"{STOP_HERE} {WATCH}", "before it sees": f"{WATCH} {STOP_HERE}"}
PROGRAM = str(FilePath(sys.executable).with_name("headwater"))


def story(head: str = "") -> Page:
    return Page(f"<html lang=en><head><title>The bridge</title>{head}</head><article>{STORY}</article>".encode())


@dataclass(frozen=True)
class TakenDownMeanwhile:
    """Reads pages as ever, and lets somebody take them down before they are kept."""

    page_reader: PageReaders
    database: Database

    async def expect(self, leases: Sequence[Lease]) -> None:
        await self.page_reader.expect(leases)

    def forget(self, lease: Lease) -> None:
        self.page_reader.forget(lease)

    async def revisit_in(self, lease: Lease) -> timedelta | None:
        return await self.page_reader.revisit_in(lease)

    async def wants_rights(self, lease: Lease) -> bool:
        return await self.page_reader.wants_rights(lease)

    async def read(
        self, lease: Lease, fetched: Fetched, response: Response, outside: Sequence[UseStatement] = ()
    ) -> tuple[Verdict, PageEffects]:
        read = await self.page_reader.read(lease, fetched, response, outside)
        await take_down_everywhere(self.database, TAKEDOWN)
        return read

    async def read_feed(self, lease: Lease, now: datetime, outside: Sequence[UseStatement] = ()) -> PageEffects:
        return await self.page_reader.read_feed(lease, now, outside)

    async def restated(self, lease: Lease, told: Sequence[UseStatement], places: frozenset[StatedIn]) -> PageEffects:
        return await self.page_reader.restated(lease, told, places)


async def travel(path: Path, url: str, *, is_taken_down: bool) -> PageEffects:
    await path.queue(url)
    token = path.web.identity.product_token
    async with pool_size_of(path.services) as pool, Supervisor(SystemClock(), path.services.log) as tasks:
        page_reader = start_reading_pages(tasks, path.services, token, pool)
        reads = TakenDownMeanwhile(page_reader, path.database) if is_taken_down else page_reader
        claimed = await Claimer(path.database, SystemClock(), "w", timedelta(seconds=60)).claim(1)
        return (await replace(path.journey(), page_reader=reads).travel(claimed.leases[0])).effects


CANONICAL = f'<link rel=canonical href="http://{GONE}/story">'


@pytest.mark.parametrize("host", [GONE, f"www.{GONE}", "fine.test"])
async def test_a_page_that_is_taken_down_while_it_is_read_is_not_kept(database_url: str, host: str) -> None:
    """Nor under its own address, nor as one that another page calls canonical."""
    sites = {host: SmallSite({"/story": story(CANONICAL)})}
    async with opened_path(database_url, sites) as path:
        effects = await travel(path, f"http://{host}/story", is_taken_down=True)
        assert effects.document is not None
        await finish_takedowns(path.database, timedelta())
        assert await remains_of(path.database, GONE) == []
        kept = await path.database.fetch("SELECT canonical_url FROM documents WHERE deleted_at IS NULL")
        assert [row["canonical_url"] for row in kept] == (["http://fine.test/story"] if host == "fine.test" else [])
        assert await broken(path.database) == []


async def test_what_is_in_the_outbox_is_followed_by_its_deletion_and_comes_back_by_no_way(database_url: str) -> None:
    elsewhere = {
        "/canonical": story(CANONICAL),
        "/redirect": Page(b"", status=302, headers=(("Location", f"http://{GONE}/story"),)),
    }
    sites = {GONE: SmallSite({"/story": story()}), "fine.test": SmallSite(elsewhere)}
    async with opened_path(database_url, sites) as path:
        await travel(path, f"http://{GONE}/story", is_taken_down=False)
        done = await take_down_everywhere(path.database, TAKEDOWN)
        assert (done.entries, done.documents, done.is_whole) == (1, 1, True)
        assert [row["op"] for row in await path.database.fetch("SELECT op FROM outbox ORDER BY seq")] == [
            "upsert",
            "delete",
        ]
        for way in elsewhere:
            await path.reopen()
            await travel(path, f"http://fine.test{way}", is_taken_down=False)
        await path.queue(f"http://{GONE}/story", f"http://{GONE}/other")
        assert await remains_of(path.database, GONE) == []


@asynccontextmanager
async def polling(database_url: str) -> AsyncIterator[Desk]:
    sites = {"a.test": SmallSite({}), GONE: SmallSite({})}
    async with (
        opened_path(database_url, sites, {"poll.jitter_percent": "0"}) as path,
        channel_reader(path.services) as reader,
        Listener(path.services.dsn, [NOTICE], path.services.random) as listener,
    ):
        desk = Desk(path, None)  # type: ignore[arg-type]
        desk.polling = polling_of(
            path.services, path.web, reader, listener, "tester", desk.ran.append, calendar=lambda: desk.now[0]
        )
        yield desk


async def ended_or_waiting(taking: asyncio.Task[TakedownResult], database: Database, stop: str) -> None:
    """A takedown goes its way beside a transaction that has not looked yet, and waits for one that has."""
    if stop == "before it looks":
        await taking
    else:
        await until(lambda: is_waiting(database))


def vacancies(host: str, *, apply: str) -> Page:
    items = f"<item><title>Water engineer</title><link>http://{apply}/jobs/1</link></item>"
    return Page(f'<rss version="2.0"><channel><title>{host}</title>{items}</channel></rss>'.encode(), "application/xml")


FEEDS = {
    "its own feed": (GONE, rss(*stories(2)), SourceKind.NEWS),
    "a feed that lists it": (
        "a.test",
        replace(rss(*stories(2)), body=rss(*stories(2)).body.replace(b"//a.test/", b"//gone.test/")),
        SourceKind.NEWS,
    ),
    "its own list of vacancies": (GONE, vacancies(GONE, apply="a.test"), SourceKind.JOBS),
    "a list with its vacancies": ("a.test", vacancies("a.test", apply=GONE), SourceKind.JOBS),
}


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("feed", FEEDS)
async def test_a_poll_under_way_keeps_nothing_of_what_is_taken_down(database_url: str, feed: str, stop: str) -> None:
    host, page, kind = FEEDS[feed]
    async with polling(database_url) as desk:
        database = desk.path.database
        site = desk.path.sim.sites[host]
        assert isinstance(site, SmallSite)
        site.pages["/feed.xml"] = page
        await desk.follow(f"http://{host}/", feeds=(f"http://{host}/feed.xml",), kind=kind)
        await alter(database, "takedowns_over", (WATCH, STOPS[stop]))
        async with closed_gate(database_url) as somebody_stopped:
            polled = asyncio.create_task(desk.poll())
            await somebody_stopped()
            taking = asyncio.create_task(take_down_everywhere(database, TAKEDOWN))
            await ended_or_waiting(taking, database, stop)
        await asyncio.gather(polled, taking)
        await finish_takedowns(database, timedelta())
        assert await remains_of(database, GONE) == []


@pytest.fixture
async def press(database: Database) -> AsyncIterator[Press]:
    async with reading_pool() as pool, press_on(database, pool) as ready:
        yield ready


@pytest.mark.parametrize("stop", STOPS)
async def test_a_replay_under_way_keeps_nothing_of_what_is_taken_down(
    press: Press, database_url: str, stop: str
) -> None:
    await press.print(1)
    # As if nothing had come of it before: the replay finds something to store.
    await press.database.execute("DELETE FROM documents")
    await press.database.execute("DELETE FROM outbox")
    takedown = parse_takedown(press.publisher.host)
    await alter(press.database, "takedowns_over", (WATCH, STOPS[stop]))
    async with closed_gate(database_url) as somebody_stopped:
        reading = asyncio.create_task(replay(press))
        await somebody_stopped()
        taking = asyncio.create_task(take_down_everywhere(press.database, takedown))
        await ended_or_waiting(taking, press.database, stop)
    await asyncio.gather(reading, taking)
    standing = await press.database.fetchval("SELECT count(*) FROM documents WHERE deleted_at IS NULL")
    assert standing == 0


async def replay(press: Press) -> None:
    async for _ in press.replay.over(press.source):
        pass


@pytest.mark.long
async def test_killed_between_its_row_and_its_sweep_a_takedown_is_finished_by_maintenance(
    database_url: str, tmp_path: FilePath
) -> None:
    async with opened_path(database_url, {GONE: SmallSite({"/story": story()})}) as path:
        await travel(path, f"http://{GONE}/story", is_taken_down=False)
        await path.queue(f"http://{GONE}/other")
        await alter(path.database, "outlive_watchers", ("begin\n", f"begin\n {STOP_HERE} \n"))
        async with closed_gate(database_url) as somebody_stopped:
            flags = ("--set", f"database.url={database_url}", "--set", f"service.data_dir={tmp_path}")
            typed = (PROGRAM, *flags, "takedown", "add", GONE, "--yes")
            process = await asyncio.create_subprocess_exec(*typed, stdout=asyncio.subprocess.DEVNULL)
            await somebody_stopped()
            os.kill(process.pid, signal.SIGKILL)
            await process.wait()
        await alter(path.database, "outlive_watchers", (f"begin\n {STOP_HERE} \n", "begin\n"))
        assert await remains_of(path.database, GONE) != []
        await path.database.execute("UPDATE takedowns SET created_at = created_at - interval '1 hour'")
        log = make_logger("error", "json")
        days = {"fetch_log": 14, "runs": 14, "raw_bodies": 14}
        await Maintenance(path.database, SystemClock(), random_from(1), log, timedelta(seconds=10), days, 90, 30).once()
        assert await remains_of(path.database, GONE) == []
