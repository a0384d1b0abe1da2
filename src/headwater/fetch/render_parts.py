"""A render on the fetch path: the document we have, and its parts asked for in the place we hold."""

from dataclasses import dataclass, replace

from headwater.database.pool import Database
from headwater.fetch.fetcher import Fetcher, FetchRequest
from headwater.fetch.held_slot import HeldSlot
from headwater.fetch.outcomes import Answered, Outcome
from headwater.fetch.render import MOST_REQUESTS, Rendered, Renderer, RenderFailed, WhyFailed
from headwater.fetch.slot_reservations import SlotReservations
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.politeness.charges import Charges
from headwater.politeness.slots import NotBefore
from headwater.politeness.window import StartWindow
from headwater.urls.canonical import CanonicalUrl

KIND = "render"
# The place came with the document's slot; the first part needs a grant of its own.
_PASSED = StartWindow(float("-inf"), float("-inf"), float("-inf"))


@dataclass(frozen=True, slots=True)
class Rendering:
    renderer: Renderer
    fetcher: Fetcher
    reservations: SlotReservations
    database: Database

    async def render(self, document: Response, held_slot: HeldSlot) -> Rendered | RenderFailed:
        """`document` was fetched in `held_slot`, which is still held; what it asks for is charged to its host."""
        charges = Charges(self.database, held_slot.clock, MOST_REQUESTS - 1)
        own_slot = HeldSlot(held_slot.bucket, held_slot.host, held_slot.token, _PASSED, KIND, charges, held_slot.clock)
        # A part that fails is left out: the page has a deadline, and the host has been asked enough.
        parts = Parts(replace(self.fetcher, retries=0), self.reservations, document, own_slot)
        try:
            result = await self.renderer.render(document.url, parts)
        finally:
            # Cut off in the middle, a request has begun all the same.
            if own_slot.past.started_after is None:
                own_slot.ended()
            await charges.note(held_slot.bucket, held_slot.token, own_slot.past)
        if own_slot.close_for is None:
            return result
        held_slot.close_for = own_slot.close_for
        return RenderFailed(WhyFailed.SLOW_DOWN, result.requests, wait=own_slot.close_for)


@dataclass(frozen=True, slots=True)
class Parts:
    """Takedown, robots.txt and guard are asked for each part as for any request."""

    fetcher: Fetcher
    reservations: SlotReservations
    document: Response
    own_slot: HeldSlot

    async def __call__(self, url: CanonicalUrl, kind: str) -> Response | None:
        if kind == "document" and url.url == self.document.url.url:
            return self.document
        if self.own_slot.close_for is not None:
            return None
        outcome = await self._fetch(FetchRequest(url, KIND))
        if isinstance(outcome, Answered) and isinstance(outcome.response.content, Complete):
            return outcome.response
        return None

    async def _fetch(self, request: FetchRequest) -> Outcome | NotBefore:
        if request.url.host == self.own_slot.host:
            return await self.fetcher.fetch(request, self.own_slot)
        # With or without `www.` is the same site, but another host with slots of its own.
        async with self.reservations.reserve_slot(request.url.host, KIND) as held_slot:
            return held_slot if isinstance(held_slot, NotBefore) else await self.fetcher.fetch(request, held_slot)
