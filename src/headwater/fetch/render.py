"""A page as it is after its scripts have run. The browser asks nobody: what it wants is fetched for it, or not."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from headwater.errors import UrlRejected
from headwater.fetch.browser import Browser, PageLost
from headwater.net.transport import Response
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.scope import without_www

if TYPE_CHECKING:
    from playwright.async_api import Page, Route, WebSocketRoute
from dataclasses import replace

from headwater.database.pool import Database
from headwater.fetch.fetcher import Fetcher, FetchRequest
from headwater.fetch.held_slot import HeldSlot, SlotReservations
from headwater.fetch.outcomes import Answered, FetchOutcome
from headwater.net.body import Complete
from headwater.politeness.slots import Charges, NotBefore, StartWindow

MOST_REQUESTS = 20
# A text can depend on these; looks are of no use here.
KINDS = frozenset({"document", "script", "xhr", "fetch"})
# Few are let through: cookies, reports, pins and preloads would be work for a network that is not there.
_KEPT_HEADERS = ("content-type", "content-language", "access-control-")
KIND = "render"
# The place came with the document's slot; the first part needs a grant of its own.
_PASSED = StartWindow(float("-inf"), float("-inf"), float("-inf"))


class Fetch(Protocol):
    """Fetches one address that a page wants; None where it may not be had."""

    async def __call__(self, url: CanonicalUrl, kind: str) -> Response | None: ...


class WhyFailed(StrEnum):
    DEADLINE = "deadline"
    LOST = "lost"  # the page or its browser crashed, or grew too large
    LEFT_SITE = "left_site"
    TOO_LARGE = "too_large"
    SLOW_DOWN = "slow_down"  # the host said 429 or 503 to a part


@dataclass(frozen=True, slots=True)
class Rendered:
    """`requests` were fetched for the page, the document among them."""

    html: str
    final_url: str
    requests: int


@dataclass(frozen=True, slots=True)
class RenderFailed:
    reason: WhyFailed
    requests: int
    detail: str = ""
    wait: timedelta | None = None  # how long a host that says slow down wants to be left alone


@dataclass  # without slots: the driver leaves a mark on whose method it calls
class Errands:
    """The requests of a page, answered one after the other."""

    site: CanonicalUrl
    fetch: Fetch
    most: int = MOST_REQUESTS
    asked: int = field(default=0, init=False)
    answered: int = field(default=0, init=False)
    is_busy: bool = field(default=False, init=False)
    _waiting: "asyncio.Queue[Route]" = field(default_factory=asyncio.Queue, init=False)

    def take(self, route: "Route") -> None:
        self._waiting.put_nowait(route)

    async def serve(self) -> None:
        """Until cancelled: with the render ends all that was still to be asked for it."""
        from playwright.async_api import Error

        while True:
            self.is_busy = False
            route = await self._waiting.get()
            self.is_busy = True
            response = await self._answer(route)
            # The page may have gone elsewhere meanwhile and want it no more.
            with suppress(Error):
                if response is None:
                    # Any other word would put an error page in the place of a page that tried to leave.
                    await route.abort("aborted")
                else:
                    await route.fulfill(
                        status=response.status, headers=headers_to_pass_on(response), body=response.body
                    )

    async def _answer(self, route: "Route") -> Response | None:
        request = route.request
        url = wanted_url(request.method, request.resource_type, request.url, self.site)
        if url is None or self.asked >= self.most:
            return None
        self.asked += 1
        response = await self.fetch(url, request.resource_type)
        self.answered += response is not None
        return response


@dataclass(frozen=True, slots=True)
class Renderer:
    browser: Browser
    user_agent: str
    deadline: timedelta = timedelta(seconds=20)
    quiet: timedelta = timedelta(milliseconds=500)  # so long without a question is a page at rest
    quiet_within: timedelta = timedelta(seconds=5)
    longest_html: int = 10 * 1024 * 1024

    async def render(self, url: CanonicalUrl, fetch: Fetch) -> Rendered | RenderFailed:
        """Raises RenderUnavailable without a browser, and what `fetch` raises; whatever the page does is a value."""
        errands = Errands(url, fetch)
        try:
            async with (
                asyncio.timeout(self.deadline.total_seconds()),
                self.browser.page(self.user_agent) as page,
            ):
                html, final_url = await self._see(page, errands)
        except TimeoutError:
            return RenderFailed(WhyFailed.DEADLINE, errands.answered)
        except PageLost as lost:
            return RenderFailed(WhyFailed.LOST, errands.answered, str(lost))
        if len(html) > self.longest_html:
            return RenderFailed(WhyFailed.TOO_LARGE, errands.answered)
        if not is_same_site(final_url, url):
            return RenderFailed(WhyFailed.LEFT_SITE, errands.answered, final_url)
        return Rendered(html, final_url, errands.answered)

    async def _see(self, page: "Page", errands: Errands) -> tuple[str, str]:
        # Of the context, or a window that the page opens would escape.
        await page.context.route("**/*", errands.take)
        await page.context.route_web_socket("**/*", _refuse)
        serving = asyncio.create_task(errands.serve())
        reading = asyncio.create_task(self._read(page, errands))
        try:
            await asyncio.wait({serving, reading}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()  # it only ever ends by an error
            return await reading
        finally:
            serving.cancel()
            reading.cancel()
            await asyncio.gather(serving, reading, return_exceptions=True)

    async def _read(self, page: "Page", errands: Errands) -> tuple[str, str]:
        # Not until it has loaded: a page that goes elsewhere by script before that would count as broken.
        await page.goto(errands.site.url, wait_until="commit", timeout=0)
        # Some pages never come to rest: then it is what they show by now.
        with suppress(TimeoutError):
            async with asyncio.timeout(self.quiet_within.total_seconds()):
                await page.wait_for_load_state("load", timeout=0)
                await self._quiet(errands)
        return await _html_of(page, self.longest_html), page.url

    async def _quiet(self, errands: Errands) -> None:
        asked = -1
        while asked != errands.asked or errands.is_busy:
            asked = errands.asked
            await self.browser.clock.sleep(self.quiet.total_seconds())


def wanted_url(method: str, kind: str, raw: str, site: CanonicalUrl) -> CanonicalUrl | None:
    """The address of a page's request, if we would ask for it ourselves."""
    if method != "GET" or kind not in KINDS or not is_same_site(raw, site):
        return None
    return canonicalise(raw)


def is_same_site(raw: str, site: CanonicalUrl) -> bool:
    """The same host, with or without `www.`."""
    try:
        return without_www(canonicalise(raw).host) == without_www(site.host)
    except UrlRejected:
        return False


def headers_to_pass_on(response: Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name.lower().startswith(_KEPT_HEADERS)}


async def _refuse(socket: "WebSocketRoute") -> None:
    await socket.close()


async def _html_of(page: "Page", longest: int) -> str:
    """One character more than `longest` at the most. Read from a world of our own, where no script of the page runs."""
    session = await page.context.new_cdp_session(page)
    tree = await session.send("Page.getFrameTree")
    world = await session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
    # Half a surrogate pair is possible in a script's string, but in no UTF-8.
    expression = f"document.documentElement.outerHTML.toWellFormed().slice(0, {longest + 1})"
    asked = {"expression": expression, "contextId": world["executionContextId"], "returnByValue": True}
    answer = await session.send("Runtime.evaluate", asked)
    return str(answer["result"].get("value", ""))


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
        parts = PageParts(replace(self.fetcher, retries=0), self.reservations, document, own_slot)
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
class PageParts:
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

    async def _fetch(self, request: FetchRequest) -> FetchOutcome | NotBefore:
        if request.url.host == self.own_slot.host:
            return await self.fetcher.fetch(request, self.own_slot)
        # With or without `www.` is the same site, but another host with slots of its own.
        async with self.reservations.reserve_slot(request.url.host, KIND) as held_slot:
            return held_slot if isinstance(held_slot, NotBefore) else await self.fetcher.fetch(request, held_slot)
