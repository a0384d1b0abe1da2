"""One URL wherever it leads: for polls, which follow redirects across hosts, each hop with a place at its own host."""

from dataclasses import dataclass, replace

from headwater.fetch.fetcher import Fetcher, FetchRequest
from headwater.fetch.outcomes import Later, LedAway, Outcome, TakenDown
from headwater.fetch.preflight import is_taken_down
from headwater.fetch.slot_reservations import SlotReservations
from headwater.politeness.slots import NotBefore
from headwater.urls.canonical import CanonicalUrl


async def is_closed_for_good(reservations: SlotReservations, refused: NotBefore, url: CanonicalUrl) -> bool:
    """A host that was taken down is closed for thousands of years: that is no wait."""
    return refused.why == "closed" and await is_taken_down(reservations.slots.database, url)


@dataclass(frozen=True, slots=True)
class Follower:
    """Entries do not use this: where one of them leads to another host is an entry of its own."""

    fetcher: Fetcher
    reservations: SlotReservations

    async def fetch(self, request: FetchRequest) -> Outcome:
        """`Later` where a host on the way has no slot soon."""
        while True:
            outcome = await self._at_one_host(request)
            if not isinstance(outcome, LedAway):
                return outcome
            # What was meant for the first server is not told to the next.
            request = replace(
                request,
                url=outcome.to,
                validated=request.validated or request.url,
                hops=outcome.hops,
                permanent=outcome.permanent,
                headers={},
                is_only_inside=False,
            )

    async def _at_one_host(self, request: FetchRequest) -> Outcome:
        async with self.reservations.reserve_slot(request.url.host, request.kind) as held_slot:
            if isinstance(held_slot, NotBefore) and await is_closed_for_good(self.reservations, held_slot, request.url):
                return TakenDown(request.url)
            if isinstance(held_slot, NotBefore):
                return Later(held_slot.wait, request.url, request.hops, held_slot.why)
            return await self.fetcher.fetch(request, held_slot)
