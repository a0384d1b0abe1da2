"""The slot that a journey holds at one host: all its requests there use it, one after the other."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from headwater.clock import Clock
from headwater.politeness.settlement import Visit
from headwater.politeness.slots import NotBefore
from headwater.politeness.window import StartWindow

# One for all: a visit is never changed.
NO_VISIT = Visit()
_End = tuple[float, int | None, int | None]  # when it was, the status, the bytes of the body


class SlotMissed(Exception):
    """The slot had passed before the request could begin, and there was no other soon."""

    def __init__(self, answer: NotBefore) -> None:
        super().__init__(answer.why)
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
    _end: _End | None = field(default=None, init=False)
    _is_fresh: bool = field(default=True, init=False)

    @property
    def past(self) -> Visit:
        """The request that ended last here, until it is written down."""
        if self.started is None or self._end is None:
            return NO_VISIT
        ended, status, body_bytes = self._end
        duration = timedelta(0, ended - self.started)
        return Visit(self.window.lateness(self.started), duration, status, body_bytes, self.kind, self.machine)

    async def ready(self, kind: str) -> NotBefore | None:
        """Wait for the next slot, or say when to come back. The first request uses the slot that was granted first."""
        if self._is_fresh:
            self._is_fresh = False
        elif refused := await self._move_on():
            return refused
        self.kind = kind
        await self._opening()
        return None

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

    def sent(self) -> None:
        """The head is on its way: this is the latest that the request can have begun."""
        self.started = self.clock.monotonic()

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
        return self.clock.sleep(wait) if wait > 0 else asyncio.sleep(0)
