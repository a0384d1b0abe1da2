"""The slot held at one host: how it is reserved, waited for, used for one request after the other, and ended."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

from headwater.clock import Clock
from headwater.figures import CONDITIONAL, POLITENESS_WAIT, WAIT_BOUNDS, Figures
from headwater.net.caching import retry_after
from headwater.net.problems import FetchProblem
from headwater.net.transport import Response, TransferLimits, Transport
from headwater.politeness.slots import (
    HOST_SAID_SLOW_DOWN,
    HOST_UNJUDGED,
    NotBefore,
    Regranter,
    Settlement,
    Slot,
    SlotKeeper,
    StartWindow,
    Visit,
)
from headwater.urls.canonical import CanonicalUrl

# One for all: a visit is never changed.
NO_VISIT = Visit()
_RequestEnd = tuple[float, int | None, int | None]  # when it was, the status, the bytes of the body
SLOW_DOWN = frozenset({429, 503})
LONGEST_CLOSURE = timedelta(hours=24)
NOT_MODIFIED = 304
CONDITIONS = frozenset({"If-None-Match", "If-Modified-Since"})


class SlotMissed(Exception):
    """The slot had passed before the request could begin, and there was no other soon."""

    def __init__(self, answer: NotBefore) -> None:
        super().__init__(answer.reason)
        self.answer = answer


class Regrants(Protocol):
    """Gives a held slot its next turn, and notes the request before."""

    async def regrant(self, bucket: int, token: UUID, past: Visit) -> StartWindow | NotBefore: ...


@dataclass(slots=True)
class HeldSlot:
    bucket: int
    host: str
    token: UUID
    window: StartWindow
    kind: str
    slots: Regrants
    clock: Clock
    started: float | None = field(default=None, init=False)
    close_for: timedelta | None = field(default=None, init=False)  # what a 429 or 503 asked for
    machine: str | None = field(default=None, init=False)  # where the host stands, once it has answered
    sent_from: str | None = field(default=None, init=False)  # of the last request
    waited: float = field(default=0.0, init=False)  # seconds, for the slot of the request that is under way
    _end: _RequestEnd | None = field(default=None, init=False)
    _is_fresh: bool = field(default=True, init=False)

    @property
    def past(self) -> Visit:
        """The request that ended last here, until it is written down."""
        if self.started is None or self._end is None:
            return NO_VISIT
        ended, status, body_bytes = self._end
        duration = timedelta(0, ended - self.started)
        late = self.window.lateness(self.started)
        return Visit(late, duration, status, body_bytes, self.kind, self.machine, self.sent_from)

    async def ready(self, kind: str) -> NotBefore | None:
        """Wait for the next slot, or say when to come back. The first request uses the slot that was granted first."""
        if self._is_fresh:
            self._is_fresh = False
        elif refused := await self._move_on():
            return refused
        self.kind = kind
        await self._opening()
        return None

    def taken_wait(self) -> float:
        """How long politeness kept the last request waiting, told once."""
        waited, self.waited = self.waited, 0.0
        return waited

    async def open(self) -> None:
        """Asked in the moment before a request's head is sent. Too late beside others means another slot."""
        now = self.clock.monotonic()
        # The client repeats a request by itself when a kept connection turns out to be dead: that is another start.
        while self.started is not None or not self.window.allows(now):
            if self.started is not None:
                self.ended()
            if refused := await self._move_on():
                raise SlotMissed(refused)
            await self._opening()
            now = self.clock.monotonic()
        self.started = now

    def sent(self, sent_from: str | None = None) -> None:
        """The head is on its way: this is the latest that the request can have begun."""
        self.started = self.clock.monotonic()
        self.sent_from = sent_from

    def ended(
        self, status: int | None = None, body_bytes: int | None = None, close_for: timedelta | None = None
    ) -> None:
        """Note how the request went, if it ever began; it is written down with the next slot or with the settlement."""
        self.close_for = close_for
        self._end = self.clock.monotonic(), status, body_bytes

    def break_off(self) -> None:
        """A request that nobody saw to its end has begun all the same, and the next one keeps its distance."""
        if self._end is None:
            self.ended()

    async def _move_on(self) -> NotBefore | None:
        answer = await self.slots.regrant(self.bucket, self.token, self.past)
        self.started = self._end = None
        if isinstance(answer, NotBefore):
            return answer
        self.window = answer
        return None

    def _opening(self) -> Awaitable[None]:
        # Also for no time at all: a turn of the event loop lets work of one kind come together, and saves more than it
        # costs.
        wait = self.window.earliest - self.clock.monotonic()
        self.waited += max(0.0, wait)
        return self.clock.sleep(wait) if wait > 0 else asyncio.sleep(0)


class Request(NamedTuple):
    url: CanonicalUrl
    kind: str
    limits: TransferLimits
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes | None = None


async def send_once(transport: Transport, asked: Request, held_slot: HeldSlot) -> Response | FetchProblem | NotBefore:
    """Send one request in the next slot, or say when to come back. Raises NetworkDown for a failure of our own."""
    if refused := await held_slot.ready(asked.kind):
        return refused
    network = transport.network
    began = network.began() if network else 0.0
    try:
        answer = await transport.request(
            asked.method, asked.url, asked.headers, gate=held_slot, limits=asked.limits, body=asked.body
        )
    except SlotMissed as missed:
        return missed.answer
    note_request(transport.figures, asked, held_slot, answer)
    if isinstance(answer, Response):
        held_slot.machine = answer.machine or held_slot.machine
        held_slot.ended(answer.status, len(answer.body), wait_asked_for(answer))
    else:
        held_slot.ended()
    if network:
        await network.judge(asked.url.host, began, answer if isinstance(answer, FetchProblem) else None)
    return answer


def note_request(figures: Figures, asked: Request, held_slot: HeldSlot, answer: Response | FetchProblem) -> None:
    """How long it waited for its turn, and whether asking for changes alone saved its body."""
    figures.note_time(POLITENESS_WAIT, held_slot.taken_wait(), WAIT_BOUNDS)
    if CONDITIONS.isdisjoint(asked.headers):
        return
    if isinstance(answer, FetchProblem):
        figures.add(f"{CONDITIONAL}.failed")
    else:
        figures.add(f"{CONDITIONAL}.{'not_modified' if answer.status == NOT_MODIFIED else 'sent'}")


def wait_asked_for(response: Response) -> timedelta | None:
    """How long a 429 or 503 wants us to stay away; zero where it does not say, None for any other answer."""
    if response.status not in SLOW_DOWN:
        return None
    return retry_after(response.headers.get("Retry-After", ""), response.at) or timedelta()


@dataclass(frozen=True, slots=True)
class SlotReservations:
    slots: SlotKeeper
    regranter: Regranter
    clock: Clock

    @asynccontextmanager
    async def reserve_slot(self, host: str, kind: str) -> AsyncIterator[HeldSlot | NotBefore]:
        """A held slot for the length of the block, or when to come back for one."""
        began = self.clock.monotonic()
        slot = await self.slots.reserve(host, kind)
        if isinstance(slot, NotBefore):
            yield slot
            return
        held_slot = self.held_slot(slot, kind)
        held_slot.waited = self.clock.monotonic() - began
        try:
            yield held_slot
        finally:
            await self.regranter.end(settlement_for(held_slot))

    def held_slot(self, slot: Slot, kind: str) -> HeldSlot:
        return HeldSlot(slot.bucket, slot.host, slot.token, slot.window, kind, self.regranter, self.clock)


def settlement_for(held_slot: HeldSlot) -> Settlement:
    """Its last request is noted with its end; a host that asks us to slow down is heard, whatever it was asked."""
    past = held_slot.past
    return Settlement(
        bucket=held_slot.bucket,
        token=held_slot.token,
        host=held_slot.host,
        verdict="done" if past.started_after is not None else "released",
        http_status=past.status,
        body_bytes=past.body_bytes,
        started_after=past.started_after,
        kind=past.kind,
        sent_from=past.sent_from,
        duration_ms=past.milliseconds,
        close_for=None if held_slot.close_for is None else min(held_slot.close_for, LONGEST_CLOSURE),
        close_reason=None if held_slot.close_for is None else "retry_after",
        host_feedback=HOST_UNJUDGED if held_slot.close_for is None else HOST_SAID_SLOW_DOWN,
    )
