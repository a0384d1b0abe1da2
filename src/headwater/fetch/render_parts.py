"""A render on the fetch path: the document we have, and its parts asked for in the place we hold."""

from dataclasses import dataclass, replace

from headwater.database.pool import Database
from headwater.fetch.fetcher import Fetcher, Wish
from headwater.fetch.outcomes import Answered, Outcome
from headwater.fetch.places import Places
from headwater.fetch.render import MOST_REQUESTS, Rendered, Renderer, RenderFailed, WhyFailed
from headwater.fetch.seat import Seat
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.politeness.charges import Charges
from headwater.politeness.slots import NotBefore
from headwater.politeness.window import Window
from headwater.urls.canonical import CanonicalUrl

KIND = "render"
# The place came with the document's slot; the first part needs a grant of its own.
_PASSED = Window(float("-inf"), float("-inf"), float("-inf"))


@dataclass(frozen=True, slots=True)
class Rendering:
    renderer: Renderer
    fetcher: Fetcher
    places: Places
    database: Database

    async def render(self, document: Response, seat: Seat) -> Rendered | RenderFailed:
        """`document` was fetched in `seat`, which is still held; what it asks for is charged to its host."""
        charges = Charges(self.database, seat.clock, MOST_REQUESTS - 1)
        ride = Seat(seat.bucket, seat.host, seat.token, _PASSED, KIND, charges, seat.clock)
        # A part that fails is left out: the page has a deadline, and the host has been asked enough.
        parts = Parts(replace(self.fetcher, retries=0), self.places, document, ride)
        try:
            result = await self.renderer.render(document.url, parts)
        finally:
            # Cut off in the middle, a request has begun all the same.
            if ride.past.started_after is None:
                ride.ended()
            await charges.note(seat.bucket, seat.token, ride.past)
        if ride.close_for is None:
            return result
        seat.close_for = ride.close_for
        return RenderFailed(WhyFailed.SLOW_DOWN, result.requests, wait=ride.close_for)


@dataclass(frozen=True, slots=True)
class Parts:
    """Takedown, robots.txt and guard are asked for each part as for any request."""

    fetcher: Fetcher
    places: Places
    document: Response
    ride: Seat

    async def __call__(self, url: CanonicalUrl, kind: str) -> Response | None:
        if kind == "document" and url.url == self.document.url.url:
            return self.document
        if self.ride.close_for is not None:
            return None
        outcome = await self._fetch(Wish(url, KIND))
        if isinstance(outcome, Answered) and isinstance(outcome.response.content, Complete):
            return outcome.response
        return None

    async def _fetch(self, wish: Wish) -> Outcome | NotBefore:
        if wish.url.host == self.ride.host:
            return await self.fetcher.fetch(wish, self.ride)
        # With or without `www.` is the same site, but another host with slots of its own.
        async with self.places.seat_at(wish.url.host, KIND) as seat:
            return seat if isinstance(seat, NotBefore) else await self.fetcher.fetch(wish, seat)
