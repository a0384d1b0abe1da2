"""A small simulated web on a loopback port, and a client that shows exactly what came over the wire."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import aiohttp
import pytest
from tests.clocks import ManualClock

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.simweb.message import Page, Request
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb

BODY = b"<!doctype html><title>Harbour</title><p>" + b"many plain words " * 200
ROBOTS = b"User-agent: *\nDisallow: /members/\n"


# No reprs: pytest writes them out for every test, and one page is large.
@dataclass(frozen=True, repr=False)
class DictSite:
    pages: Mapping[str, Page]
    asked: list[tuple[Request, datetime]] = field(default_factory=list)

    def page(self, request: Request, now: datetime) -> Page | None:
        self.asked.append((request, now))
        return self.pages.get(request.path)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(repr=False)
class Farm:
    web: SimWeb
    clock: ManualClock
    site: DictSite
    port: int = 0

    async def wire(self, request: bytes) -> bytes:
        """Everything the server says until it closes the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        try:
            return await reader.read()
        finally:
            writer.close()

    async def ask(self, url: str, method: str = "GET", body: bytes = b"", **headers: str) -> Reply:
        host, _, path = url.partition("/")
        lines = [f"{method} /{path} HTTP/1.1", f"Host: {host}", "Connection: close", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return reply_from(await self.wire("\r\n".join(lines).encode() + b"\r\n\r\n" + body))

    def session(self, timeout_s: float = 60) -> aiohttp.ClientSession:
        resolver = SimResolver(self.port, clock=SystemClock())
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=resolver), timeout=aiohttp.ClientTimeout(total=timeout_s)
        )


def reply_from(wire: bytes) -> Reply:
    head, _, body = wire.partition(b"\r\n\r\n")
    status_line, *lines = head.decode().split("\r\n")
    return Reply(int(status_line.split(" ")[1]), dict(line.split(": ", 1) for line in lines), body)


@pytest.fixture
async def farm() -> AsyncIterator[Farm]:
    modified = datetime(2026, 1, 1, tzinfo=UTC)
    pages = {
        "/": Page(BODY, last_modified=modified, cache_control="max-age=60"),
        "/robots.txt": Page(ROBOTS, "text/plain"),
        "/large": Page(bytes(20_000_000), "application/octet-stream"),
    }
    clock = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    site = DictSite(pages)
    hosts = {"a.test": site, "b.test": DictSite(pages)}
    made = Farm(SimWeb(hosts, clock=clock, real=SystemClock(), random=random_from(1)), clock, site)
    made.port = await made.web.start()
    yield made
    await made.web.stop()
