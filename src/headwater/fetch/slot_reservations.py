"""Places at hosts for whatever is no entry of the frontier: polls, robots.txt elsewhere, a person's test fetch."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from headwater.clock import Clock
from headwater.fetch.held_slot import HeldSlot
from headwater.politeness.regrants import Regranter
from headwater.politeness.settlement import HOST_SAID_SLOW_DOWN, HOST_UNJUDGED, Settlement
from headwater.politeness.slots import NotBefore, Slot, SlotKeeper

LONGEST_CLOSURE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class SlotReservations:
    slots: SlotKeeper
    regranter: Regranter
    clock: Clock

    @asynccontextmanager
    async def reserve_slot(self, host: str, kind: str) -> AsyncIterator[HeldSlot | NotBefore]:
        """A held slot for the length of the block, or when to come back for one."""
        slot = await self.slots.reserve(host, kind)
        if isinstance(slot, NotBefore):
            yield slot
            return
        held_slot = self.held_slot(slot, kind)
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
        duration_ms=past.milliseconds,
        close_for=None if held_slot.close_for is None else min(held_slot.close_for, LONGEST_CLOSURE),
        close_reason=None if held_slot.close_for is None else "retry_after",
        host_feedback=HOST_UNJUDGED if held_slot.close_for is None else HOST_SAID_SLOW_DOWN,
    )
