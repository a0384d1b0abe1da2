"""Renders on the whole fetch path: a real Chromium, a real database, the simulated web and its visit log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest_asyncio
from tests.integration.fetch.conftest import Path, SmallSite, opened_path

from headwater.clock import SystemClock
from headwater.fetch.browser import Browser
from headwater.fetch.fetcher import FetchRequest
from headwater.fetch.held_slot import HeldSlot
from headwater.fetch.outcomes import Answered
from headwater.fetch.render import Rendered, Renderer, RenderFailed, Rendering
from headwater.net.transport import Response
from headwater.simweb.message import Page
from headwater.urls.canonical import canonicalise


def html(body: str) -> Page:
    return Page(f"<!doctype html><title>One</title><body>{body}".encode())


def script(text: str) -> Page:
    return Page(text.encode(), "text/javascript")


@dataclass
class Stage:
    """A site of one host, its `www.` twin and a stranger, and a browser to look at them with."""

    path: Path
    browser: Browser
    rendering: Rendering
    site: SmallSite
    twin: SmallSite
    stranger: SmallSite

    async def render(self, url: str = "http://a.test/") -> Rendered | RenderFailed:
        """Fetched like any page, then rendered in the same held slot."""
        async with self.with_held_slot(url) as (held_slot, document):
            return await self.rendering.render(document, held_slot)

    @asynccontextmanager
    async def with_held_slot(self, url: str = "http://a.test/") -> AsyncIterator[tuple[HeldSlot, Response]]:
        target = canonicalise(url)
        async with self.path.web.reservations.reserve_slot(target.host, "test") as held_slot:
            assert isinstance(held_slot, HeldSlot)
            document = await self.path.web.fetcher.fetch(FetchRequest(target), held_slot)
            assert isinstance(document, Answered)
            yield held_slot, document.response

    def with_renderer(self, **changes: object) -> None:
        renderer: Renderer = replace(self.rendering.renderer, **changes)  # type: ignore[arg-type]
        self.rendering = replace(self.rendering, renderer=renderer)

    def asked(self) -> list[str]:
        return [one for one in self.path.asked() if not one.endswith("/robots.txt")]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One for all tests, as for all renders: to start it takes longer than most of them."""
    async with Browser(SystemClock()) as one:
        yield one


@pytest_asyncio.fixture(loop_scope="session")
async def stage(database_url: str, browser: Browser) -> AsyncIterator[Stage]:
    site, twin, stranger = SmallSite({}), SmallSite({}), SmallSite({})
    sites = {"a.test": site, "www.a.test": twin, "b.test": stranger}
    async with opened_path(database_url, sites) as path:
        # Limits that no honest page comes near, on a busy machine neither.
        deadline, quiet_within = timedelta(seconds=60), timedelta(seconds=30)
        renderer = Renderer(browser, path.web.identity.user_agent, deadline, quiet_within=quiet_within)
        rendering = Rendering(renderer, path.web.fetcher, path.web.reservations, path.database)
        yield Stage(path, browser, rendering, site, twin, stranger)


@dataclass
class Listener:
    """A service that is none of the web's business: whoever comes is noted."""

    port: int = 0
    callers: list[object] = field(default_factory=list)


@pytest_asyncio.fixture(loop_scope="session")
async def listener() -> AsyncIterator[Listener]:
    """On the same port for TCP and for UDP."""
    heard = Listener()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, address: object) -> None:
            heard.callers.append(data)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.callers.append(writer.get_extra_info("peername"))
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    heard.port = server.sockets[0].getsockname()[1]
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        Datagrams, local_addr=("127.0.0.1", heard.port)
    )
    yield heard
    transport.close()
    server.close()
