"""Four ways to get a page: bare aiohttp, one question without a slot, the same in a slot, and the whole fetcher."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from uuid import UUID

import aiohttp

from headwater.chance import new_id, random_from
from headwater.clock import SystemClock
from headwater.fetch.fetcher import Clear, Fetcher, FetchRequest
from headwater.fetch.held_slot import HeldSlot, Request, send_once
from headwater.fetch.outcomes import Answered
from headwater.net.body import Complete
from headwater.net.guard import AddressGuard, parse_allowed_place
from headwater.net.identity import Identity
from headwater.net.transport import Pooling, Response, TransferLimits, Transport
from headwater.politeness.slots import StartWindow, Visit
from headwater.simweb.resolver import SimResolver
from headwater.urls.canonical import CanonicalUrl, canonicalise

# From the text of a URL to its unpacked body.
Fetch = Callable[[str], Awaitable[bytes]]

AGENT = "HeadwaterBench/1.0"
LIMITS = TransferLimits()
CLOCK = SystemClock()
TOKEN = new_id()
OPEN_S = 60.0
# Comes with the lease, like the token: nobody works it out for a slot.
BUCKET = 0


class AlwaysClear:
    async def look(self, url: CanonicalUrl, held_slot: HeldSlot) -> Clear:
        return Clear(LIMITS.body_bytes)


class AlwaysGrants:
    async def regrant(self, bucket: int, token: UUID, past: Visit) -> StartWindow:
        return open_window()


class NoSlot(HeldSlot):
    """What is left where nobody is asked for a slot: the turn of the event loop, which saves a request more
    than it costs because work of one kind comes together. With it on both sides what differs is the slots' own work."""

    async def ready(self, kind: str) -> None:
        await asyncio.sleep(0)

    async def open(self) -> None:
        pass

    def sent(self, sent_from: str | None = None) -> None:
        pass

    def ended(
        self, status: int | None = None, body_bytes: int | None = None, close_for: timedelta | None = None
    ) -> None:
        pass


def open_window() -> StartWindow:
    now = CLOCK.monotonic()
    return StartWindow(now, now + OPEN_S, now)


GRANTS = AlwaysGrants()
NO_SLOT = NoSlot(BUCKET, "", TOKEN, open_window(), "page", GRANTS, CLOCK)


def reserve_slot(url: CanonicalUrl) -> HeldSlot:
    return HeldSlot(BUCKET, url.host, TOKEN, open_window(), "page", GRANTS, CLOCK)


def our_transport(port: int, pooling: Pooling | None = None) -> Transport:
    return Transport(
        identity=Identity(AGENT),
        guard=AddressGuard(frozenset({parse_allowed_place(f"127.0.0.1:{port}")})),
        clock=CLOCK,
        pooling=pooling or Pooling(),
        resolver=SimResolver(port, clock=CLOCK),
    )


def our_fetcher(transport: Transport) -> Fetcher:
    return Fetcher(transport, AlwaysClear(), LIMITS, CLOCK, random_from(1))


@asynccontextmanager
async def bare_aiohttp(port: int, coding: str) -> AsyncIterator[Fetch]:
    """What anybody would write: a session, its own timeouts, the body read in one go."""
    connector = aiohttp.TCPConnector(limit=0, resolver=SimResolver(port, clock=CLOCK))
    headers = {"User-Agent": AGENT, "Accept": "*/*", "Accept-Encoding": coding}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def fetch(url: str) -> bytes:
            async with session.get(url) as response:
                return await response.read()

        yield fetch


@dataclass(frozen=True)
class OurClients:
    """One transport, asked in three ways."""

    transport: Transport
    coding: str

    @cached_property
    def fetcher(self) -> Fetcher:
        return our_fetcher(self.transport)

    async def without_slot(self, url: str) -> bytes:
        return await self._ask(canonicalise(url), NO_SLOT)

    async def in_slot(self, url: str) -> bytes:
        target = canonicalise(url)
        return await self._ask(target, reserve_slot(target))

    async def _ask(self, target: CanonicalUrl, held_slot: HeldSlot) -> bytes:
        asked = Request(target, "page", LIMITS, {"Accept-Encoding": self.coding})
        return body_of(await send_once(self.transport, asked, held_slot))

    async def through_fetcher(self, url: str) -> bytes:
        target = canonicalise(url)
        request = FetchRequest(target, headers={"Accept-Encoding": self.coding})
        outcome = await self.fetcher.fetch(request, reserve_slot(target))
        assert isinstance(outcome, Answered), outcome
        return body_of(outcome.response)


def body_of(answer: object) -> bytes:
    assert isinstance(answer, Response), answer
    assert isinstance(answer.content, Complete), answer.content
    return answer.content.body
