"""One URL wherever it leads: for polls, which follow redirects across hosts, each hop with a place at its own host."""

from dataclasses import dataclass, replace

from headwater.fetch.fetcher import Fetcher, Wish
from headwater.fetch.outcomes import Later, LedAway, Outcome
from headwater.fetch.places import Places
from headwater.politeness.slots import NotBefore


@dataclass(frozen=True, slots=True)
class Follower:
    """Entries do not use this: where one of them leads to another host is an entry of its own."""

    fetcher: Fetcher
    places: Places

    async def fetch(self, wish: Wish) -> Outcome:
        """`Later` where a host on the way has no slot soon."""
        while True:
            outcome = await self._at_one_host(wish)
            if not isinstance(outcome, LedAway):
                return outcome
            # What was meant for the first server is not told to the next.
            wish = replace(
                wish,
                url=outcome.to,
                validated=wish.validated or wish.url,
                hops=outcome.hops,
                permanent=outcome.permanent,
                headers={},
                is_only_inside=False,
            )

    async def _at_one_host(self, wish: Wish) -> Outcome:
        async with self.places.seat_at(wish.url.host, wish.kind) as seat:
            if isinstance(seat, NotBefore):
                return Later(seat.wait, wish.url, wish.hops, seat.why)
            return await self.fetcher.fetch(wish, seat)
