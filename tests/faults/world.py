"""Workers of ours between a real PostgreSQL and a simulated web, on which faults are let loose."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import orjson
from tests.integration.fetch.conftest import UNHURRIED
from tests.integration.frontier.surgery import until

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.log import make_logger
from headwater.run.everything import run_everything
from headwater.run.fetching import run_worker
from headwater.run.polling import run_poller
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.message import Page, Request
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb
from headwater.simweb.visits import Visit
from headwater.sources.source import Profile
from headwater.sources.store import create_source

Role = Coroutine[Any, Any, None]
DELAY = timedelta(milliseconds=20)
# So long that nothing of a test happens because a lease ran out.
LONG_LEASE = "600s"
WORDS = (
    "river",
    "harbour",
    "council",
    "budget",
    "school",
    "weather",
    "railway",
    "museum",
    "bridge",
    "garden",
    "market",
)

# Asked for once for each origin, whatever its pages are.
BESIDE_PAGES = ("/robots.txt", "/.well-known/tdmrep.json")


def article(name: str, links: Sequence[str] = ()) -> bytes:
    """A page that is read as an article, whose text no other page has."""
    random = random_from(name)

    def sentence() -> str:
        return f"{name} {' '.join(random.choices(WORDS, k=14))}.".capitalize()

    paragraphs = "".join(f"<p>{' '.join(sentence() for _ in range(6))}</p>" for _ in range(4))
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return f"<html><title>{name}</title><article><h1>{name}</h1>{paragraphs}</article><ul>{anchors}</ul>".encode()


@dataclass
class Articles:
    """A host where every path is an article; `links` of a path lead on, and `pages` are something else."""

    links: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/robots.txt":
            return None
        if request.path in self.pages:
            return self.pages[request.path]
        return Page(article(f"{request.host}{request.path}", self.links.get(request.path, ())))


def feed(*urls: str) -> Page:
    items = "".join(f"<item><link>{url}</link><title>{url}</title></item>" for url in urls)
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>A feed</title>{items}</channel></rss>'
    return Page(text.encode(), "application/rss+xml")


class Lines(StringIO):
    """A log that can be asked what it says."""

    def events(self, name: str = "") -> list[dict[str, Any]]:
        said = [orjson.loads(line) for line in self.getvalue().splitlines()]
        return [event for event in said if name in ("", event["event"])]


@dataclass
class Running:
    """A role at work in this process, and what it logs."""

    log: Lines
    task: asyncio.Task[None]

    async def says(self, event: str) -> None:
        async def said() -> bool:
            if self.task.done():
                self.task.result()
            return bool(self.log.events(event))

        await until(said)


@dataclass
class Workbench:
    """`database` leads straight to PostgreSQL, past every fault between it and the workers."""

    database: Database
    sim: SimWeb
    port: int
    resolver: SimResolver
    source: UUID

    def flags(self, dsn: str, more: Mapping[str, str]) -> dict[str, str]:
        return {
            "database.url": dsn,
            "network.allow": f"127.0.0.1:{self.port}",
            "politeness.delay": f"{DELAY.total_seconds()}s",
            "fetch.contact": "mailto:test@headwater.test",
            "fetch.claim_retry_delay": "100ms",
            "poll.tick": "100ms",
            "lease.duration": LONG_LEASE,
            "extract.children": "1",
            "extract.templates": "false",
            **UNHURRIED,
            **more,
        }

    async def follow(self, home: str, feed: str) -> UUID:
        """A source with a feed, whose first poll is due."""
        async with self.database.transaction() as connection:
            return await take_up(connection, WantedSource(Profile(home), feeds=(feed,)), "tester", DELAY)

    async def queue(self, *urls: str, source: UUID | None = None) -> None:
        async with self.database.transaction() as connection:
            submitter = Submitter(source or self.source, EntryOrigin.MANUAL)
            await submit(connection, submitter, [FoundUrl(url) for url in urls], default_delay=DELAY)

    @asynccontextmanager
    async def worker(self, dsn: str, owner: str = "worker", **flags: str) -> AsyncIterator[Running]:
        """The role `fetch`; told to stop at the end of the block."""

        def role(services: Services, stop: asyncio.Event) -> Role:
            return run_worker(services, owner, stop, resolver=self.resolver)

        async with self._running(role, dsn, flags) as running:
            yield running

    @asynccontextmanager
    async def poller(self, dsn: str, owner: str = "poller", **flags: str) -> AsyncIterator[Running]:
        """The role `poll`."""

        def role(services: Services, stop: asyncio.Event) -> Role:
            return run_poller(services, owner, stop, resolver=self.resolver)

        async with self._running(role, dsn, flags) as running:
            yield running

    @asynccontextmanager
    async def everything(self, dsn: str, **flags: str) -> AsyncIterator[Running]:
        """All roles at once, as `up` runs them."""

        def role(services: Services, stop: asyncio.Event) -> Role:
            return run_everything(services, stop, resolver=self.resolver)

        async with self._running(role, dsn, flags) as running:
            yield running

    @asynccontextmanager
    async def _running(
        self, role: Callable[[Services, asyncio.Event], Role], dsn: str, flags: Mapping[str, str]
    ) -> AsyncIterator[Running]:
        given = {name.replace("__", "."): value for name, value in flags.items()}
        log, stop = Lines(), asyncio.Event()
        async with open_services(load(Given(flags=self.flags(dsn, given)))) as services:
            logger = make_logger("info", "json", stream=log)
            ours = replace(services, log=logger, network=replace(services.network, log=logger))
            task = asyncio.create_task(role(ours, stop))
            try:
                yield Running(log, task)
            finally:
                stop.set()
                await task

    async def make_due(self, host: str) -> None:
        """As if what failed at a host had waited long enough."""
        await self.database.execute(
            "update url_frontier set next_fetch_at = now() where host = $1 and status = 'failed'", host
        )
        await self.database.execute(
            "select refresh_hosts(array_agg(bucket), array_agg(host), clock_timestamp()) from hosts where host = $1",
            host,
        )

    async def until_settled(self) -> None:
        """Until every entry is fetched or dead."""
        left = "select count(*) from url_frontier where status in ('pending', 'failed', 'fetching')"

        async def nothing_left() -> bool:
            return not await self.database.fetchval(left)

        await until(nothing_left)

    async def rows(self, columns: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self.database.fetch(f"select {columns} from url_frontier order by url")]

    def asked(self) -> list[str]:
        """Pages that were asked for, in order; robots.txt and tdmrep.json left out."""
        return [f"http://{visit.host}{visit.target}" for visit in self.pages()]

    def pages(self) -> list[Visit]:
        return [visit for visit in self.sim.visits.all() if visit.path not in BESIDE_PAGES]


@asynccontextmanager
async def workbench(database: Database, sites: Mapping[str, Any]) -> AsyncIterator[Workbench]:
    clock = SystemClock()
    sim = SimWeb(sites, clock=clock, real=clock, random=random_from(1))
    port = await sim.start()
    async with database.transaction() as connection:
        source = await create_source(connection, "Tests", "http://tests.test/")
    try:
        yield Workbench(database, sim, port, SimResolver(port, clock=clock), source)
    finally:
        await sim.stop()


def hosts(count: int) -> dict[str, Articles]:
    return {f"host{number}.test": Articles() for number in range(count)}


def pages_of(names: Collection[str], count: int = 1) -> list[str]:
    return [f"http://{name}/page{number}" for name in names for number in range(count)]
