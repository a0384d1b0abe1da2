"""The fetch path on a real database against the simulated web, with its own small sites."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ssl import SSLContext
from uuid import UUID

import pytest

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.fetch.fetcher import FetchRequest
from headwater.fetch.held_slot import HeldSlot
from headwater.fetch.outcomes import FetchOutcome
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.frontier.verdicts import Fetched, Verdict
from headwater.ingest.journey import Finished, Journey
from headwater.ingest.page_store import NOTHING, PageEffects
from headwater.net.transport import Response
from headwater.politeness.slots import NotBefore
from headwater.rights.record import StatedIn, UseStatement
from headwater.run.fetching import journey_of
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.message import Page, Request
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb
from headwater.simweb.visits import Visit
from headwater.sources.store import create_source
from headwater.urls.canonical import canonicalise
from headwater.web import Web, open_web

QUICK = timedelta(milliseconds=50)


class Unread:
    """Whatever is fetched is left as it came: what is made of pages is tested elsewhere."""

    async def expect(self, leases: Sequence[Lease]) -> None:
        pass

    def forget(self, lease: Lease) -> None:
        pass

    async def revisit_in(self, lease: Lease) -> timedelta | None:
        return None

    async def wants_rights(self, lease: Lease) -> bool:
        return False

    async def read(
        self, lease: Lease, fetched: Fetched, response: Response, outside: Sequence[UseStatement] = ()
    ) -> tuple[Verdict, PageEffects]:
        return fetched, NOTHING

    async def read_feed(self, lease: Lease, now: datetime, outside: Sequence[UseStatement] = ()) -> PageEffects:
        return NOTHING

    async def restated(self, lease: Lease, told: Sequence[UseStatement], places: frozenset[StatedIn]) -> PageEffects:
        return NOTHING


class SmallSite:
    """Pages by path, or by path and query; robots.txt is missing unless it is one of them."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = dict(pages)

    def page(self, request: Request, now: datetime) -> Page | None:
        return self.pages.get(f"{request.path}?{request.query}") or self.pages.get(request.path)


def robots(text: str) -> Page:
    return Page(text.encode(), "text/plain")


@dataclass
class Path:
    """Everything between a test and the simulated web."""

    services: Services
    sim: SimWeb
    web: Web
    resolver: SimResolver
    source: UUID

    @property
    def database(self) -> Database:
        return self.services.database

    async def fetch(self, url: str, **fetch_request: object) -> FetchOutcome | NotBefore:
        target = canonicalise(url)
        async with self.web.reservations.reserve_slot(target.host, "test") as held_slot:
            if isinstance(held_slot, NotBefore):
                return held_slot
            assert isinstance(held_slot, HeldSlot)
            return await self.web.fetcher.fetch(FetchRequest(target, **fetch_request), held_slot)  # type: ignore[arg-type]

    async def queue(self, *urls: str) -> None:
        async with self.database.transaction() as connection:
            submitter = Submitter(self.source, EntryOrigin.MANUAL)
            delay = self.services.settings.politeness.delay
            await submit(connection, submitter, [FoundUrl(url) for url in urls], default_delay=delay)

    async def travel_all(self, count: int = 1) -> list[Finished]:
        journey = self.journey()
        claimed = await Claimer(self.database, SystemClock(), "w", timedelta(seconds=60)).claim(count)
        return [await journey.travel(lease) for lease in claimed.leases]

    def journey(self) -> Journey:
        return replace(journey_of(self.services, self.web, Unread()), random=random_from(1), rendering=None)

    async def reopen(self) -> None:
        """As if every host had rested long enough."""
        await self.database.execute("delete from host_closures")
        await self.database.execute("update hosts set closed_until = '-infinity', next_slot_at = '-infinity'")
        await self.database.execute(
            "select refresh_hosts(array_agg(bucket), array_agg(host), clock_timestamp()) from hosts"
        )

    def visits(self) -> list[Visit]:
        return self.sim.visits.all()

    def asked(self) -> list[str]:
        return [f"{visit.host}{visit.target}" for visit in self.visits()]


# A busy machine has its children read for longer than a page is given, or sooner told to hurry.
UNHURRIED = {"extract.timeout": "300s", "extract.hurry_after": "300s"}


@asynccontextmanager
async def opened_path(
    database_url: str,
    sites: Mapping[str, SmallSite],
    flags: Mapping[str, str] | None = None,
    tls: tuple[SSLContext, SSLContext] | None = None,
) -> AsyncIterator[Path]:
    """`tls`: what the simulated web shows, and whom we trust."""
    shown, trust = tls or (None, None)
    clock = SystemClock()
    sim = SimWeb(sites, clock=clock, real=clock, random=random_from(1))
    port = await sim.start(context=shown)
    settings = {
        "database.url": database_url,
        "network.allow": f"127.0.0.1:{port}",
        "politeness.delay": "50ms",
        "fetch.contact": "mailto:test@headwater.test",
        "log.level": "error",
        **UNHURRIED,
        **(flags or {}),
    }
    resolver = SimResolver(port, clock=clock)
    async with (
        open_services(load(Given(flags=settings))) as services,
        open_web(services, "tester", resolver, trust=trust) as web,
    ):
        async with services.database.transaction() as connection:
            source = await create_source(connection, "Tests", "http://tests.test/")
        try:
            yield Path(services, sim, web, resolver, source)
        finally:
            await sim.stop()


@pytest.fixture
def sites() -> dict[str, SmallSite]:
    html = Page(b"<html><title>One</title><p>Hello</html>")
    return {
        "a.test": SmallSite({"/": html, "/one": html, "/two": html, "/three": html}),
        "b.test": SmallSite({"/": html, "/one": html}),
    }


@pytest.fixture
async def path(database_url: str, sites: dict[str, SmallSite]) -> AsyncIterator[Path]:
    async with opened_path(database_url, sites) as opened:
        yield opened
