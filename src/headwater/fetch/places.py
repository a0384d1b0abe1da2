"""Places at hosts for whatever is no entry of the frontier: polls, robots.txt elsewhere, a person's test fetch."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from headwater.clock import Clock
from headwater.fetch.seat import Seat
from headwater.politeness.seats import Regranter
from headwater.politeness.settlement import Settlement
from headwater.politeness.slots import NotBefore, Slot, SlotKeeper

LONGEST_CLOSURE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Places:
    slots: SlotKeeper
    regranter: Regranter
    clock: Clock

    @asynccontextmanager
    async def seat_at(self, host: str, kind: str) -> AsyncIterator[Seat | NotBefore]:
        """A seat for the length of the block, or when to come back for one."""
        slot = await self.slots.reserve(host, kind)
        if isinstance(slot, NotBefore):
            yield slot
            return
        seat = self.seat(slot, kind)
        try:
            yield seat
        finally:
            await self.regranter.end(settlement_for(seat))

    def seat(self, slot: Slot, kind: str) -> Seat:
        return Seat(slot.bucket, slot.host, slot.token, slot.window, kind, self.regranter, self.clock)


def settlement_for(seat: Seat) -> Settlement:
    """Its last request is noted with its end; a host that asks us to slow down is heard, whatever it was asked."""
    past = seat.past
    return Settlement(
        bucket=seat.bucket,
        token=seat.token,
        host=seat.host,
        verdict="done" if past.started_after is not None else "released",
        http_status=past.status,
        body_bytes=past.body_bytes,
        started_after=past.started_after,
        kind=past.kind,
        duration_ms=past.milliseconds,
        close_for=None if seat.close_for is None else min(seat.close_for, LONGEST_CLOSURE),
        close_reason=None if seat.close_for is None else "retry_after",
        temper=0 if seat.close_for is None else 1,
    )
