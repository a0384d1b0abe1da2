"""Nobody is held up by what others put into the queue: floods of silent names, and the shares of a worker."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from tests.integration.fetch.conftest import Path, SmallSite, Unread, opened_path

from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, SubmitAnswer, Submitter, submit
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Finished
from headwater.run.fetching import worker_of
from headwater.run.heartbeat import heartbeat_of
from headwater.simweb.message import Page
from headwater.simweb.mischief.pace import SlowStart, StallAt
from headwater.simweb.resolver import SimResolver
from headwater.sources.store import create_source
from headwater.web import open_web

# Only so that a hang ends.
LONGEST_RUN_S = 120
HTML = Page(b"<html><title>Page</title><p>Words.</html>")
PAGES = ("/one", "/two", "/three")
SITE = SmallSite(dict.fromkeys(("/", *PAGES), HTML))
PLACES = 10


async def add_source(database: Database, name: str) -> UUID:
    async with database.transaction() as connection:
        return await create_source(connection, name, f"http://{name}/")


async def tell(path: Path, source: UUID, urls: Sequence[str], most_new_hosts: int | None = None) -> list[SubmitAnswer]:
    """As a feed of the source would."""
    async with path.database.transaction() as connection:
        submitter = Submitter(source, EntryOrigin.FEED, most_new_hosts=most_new_hosts)
        delay = path.services.settings.politeness.delay
        return await submit(connection, submitter, [FoundUrl(url) for url in urls], default_delay=delay)


@asynccontextmanager
async def working(path: Path, told: list[Finished]) -> AsyncIterator[asyncio.Event]:
    """One worker with ten places; the event is set whenever something was finished."""
    stop, news = asyncio.Event(), asyncio.Event()

    def hear(one: Finished) -> None:
        told.append(one)
        news.set()

    port = path.sim._server.sockets[0].getsockname()[1] if path.sim._server else 0
    async with (
        open_web(path.services, "w", SimResolver(port, clock=SystemClock())) as web,
        Listener(path.services.dsn, [CHANNEL], path.services.random) as listener,
        heartbeat_of(path.services, "w") as heart,
    ):
        lease_worker = asyncio.create_task(worker_of(path.services, web, Unread(), listener, heart, hear).run(stop))
        try:
            yield news
        finally:
            stop.set()
            lease_worker.cancel()
            await asyncio.wait([lease_worker])


async def until_all(news: asyncio.Event, told: list[Finished], wanted: set[str]) -> None:
    async with asyncio.timeout(LONGEST_RUN_S):
        while wanted - {one.lease.url for one in told}:
            news.clear()
            await news.wait()


def asked_hosts(path: Path, prefix: str) -> int:
    return len({visit.host for visit in path.visits() if visit.host.startswith(prefix)})


@pytest.mark.long
async def test_two_thousand_silent_names_do_not_stop_twenty_healthy_publishers(database_url: str) -> None:
    silent = [f"silent{n}.test" for n in range(2_000)]
    healthy = [f"healthy{n}.test" for n in range(20)]
    sites = dict.fromkeys((*silent, *healthy), SITE)
    async with opened_path(database_url, sites, {"fetch.concurrency": str(PLACES)}) as path:
        for host in silent:
            path.sim.script(host, StallAt())
        flood = await add_source(path.database, "flood.test")
        await tell(path, flood, [f"http://{host}/" for host in silent])
        wanted = {f"http://{host}{page}" for host in healthy for page in PAGES}
        for host in healthy:
            publisher = await add_source(path.database, host)
            await tell(path, publisher, [f"http://{host}{page}" for page in PAGES])
        told: list[Finished] = []
        async with working(path, told) as news:
            await until_all(news, told, wanted)
        # Half of the places are theirs at the most, and each of them is taken for as long as a request may last.
        assert asked_hosts(path, "silent") <= 2 * PLACES
        await path.database.execute("DELETE FROM slots")


async def test_a_flood_that_begins_later_does_not_slow_publishers_that_answer(database_url: str) -> None:
    """They have answered before, so that they come first whatever their source brings."""
    silent = [f"silent{n}.test" for n in range(300)]
    healthy = [f"healthy{n}.test" for n in range(5)]
    async with opened_path(
        database_url, dict.fromkeys((*silent, *healthy), SITE), {"fetch.concurrency": str(PLACES)}
    ) as path:
        for host in silent:
            path.sim.script(host, StallAt())
        one_source = await add_source(path.database, "links.test")
        told: list[Finished] = []
        async with working(path, told) as news:
            await tell(path, one_source, [f"http://{host}/" for host in healthy])
            await until_all(news, told, {f"http://{host}/" for host in healthy})
            await tell(path, one_source, [f"http://{host}/" for host in silent])
            async with asyncio.timeout(LONGEST_RUN_S):
                while asked_hosts(path, "silent") < PLACES // 2:
                    await asyncio.sleep(0.05)
            wanted = {f"http://{host}{page}" for host in healthy for page in PAGES}
            await tell(path, one_source, sorted(wanted))
            await until_all(news, told, wanted)
        assert asked_hosts(path, "silent") <= PLACES // 2
        assert not [one.lease.host for one in told if one.lease.host in silent]
        await path.database.execute("DELETE FROM slots")


@pytest.mark.long
async def test_one_domain_has_its_share_of_a_worker_while_others_wait(database_url: str) -> None:
    """Fifty subdomains that take their time: in the line before the others, and yet not in their way."""
    slow = [f"s{n}.slow.test" for n in range(50)]
    quick = [f"quick{n}.test" for n in range(10)]
    async with opened_path(
        database_url, dict.fromkeys((*slow, *quick), SITE), {"fetch.concurrency": str(PLACES)}
    ) as path:
        source = await add_source(path.database, "slow.test")
        await tell(path, source, [f"http://{host}{page}" for page in PAGES for host in slow])
        for host in quick:
            await tell(path, await add_source(path.database, host), [f"http://{host}{page}" for page in PAGES])
        # All of them have answered before.
        await path.database.execute("UPDATE hosts SET is_doubted = false")
        for host in slow:
            path.sim.script(host, SlowStart(1_500))
        told: list[Finished] = []
        async with working(path, told) as news:
            await until_all(news, told, {f"http://{host}{page}" for host in quick for page in PAGES})
        finished = [one.lease.host for one in told]
        assert sum(host in slow for host in finished) <= 30
        await path.database.execute("DELETE FROM slots")
