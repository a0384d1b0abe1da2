"""Pages per second that the simulated web serves from one core, beside aiohttp.web with the same page.

The server runs alone on one core, the client on the other where there is one. The client is a bare protocol that
counts bytes, so that the server is what is measured. The rate is the best of three short rounds; on a busy machine
pages per second of the server's own CPU time is the steadier figure.
"""

import asyncio
import json
import multiprocessing as mp
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from typing import cast

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.simweb.message import Page, Request
from headwater.simweb.server import SimWeb

HOSTS = 1_000
PAGE_BYTES = 20_000
CONNECTIONS = 64
ROUND_S = 1.5
ROUNDS = 3


@dataclass(frozen=True)
class Served:
    """What the server itself counted."""

    pages: int
    cpu_s: float


@dataclass(frozen=True)
class Figures:
    pages_per_s: float
    pages_per_cpu_s: float


Serve = Callable[[Connection], Coroutine[None, None, None]]


class OnePageSite:
    """A page of its own for every host, all of one length so that a client can count bytes."""

    def __init__(self, number: int) -> None:
        lead = f"<!doctype html><title>Site {number:06}</title><p>"
        self._page = Page(lead.encode().ljust(PAGE_BYTES, b"x"), last_modified=datetime(2026, 1, 1, tzinfo=UTC))

    def page(self, request: Request, now: datetime) -> Page:
        return self._page


def host(number: int) -> str:
    return f"site-{number:06}.test"


async def serve_simweb(parent: Connection) -> None:
    clock = SystemClock()
    sites = {host(number): OnePageSite(number) for number in range(HOSTS)}
    web = SimWeb(sites, clock=clock, real=clock, random=random_from(1))
    parent.send(await web.start())
    await report_when_asked(parent, lambda: len(web.visits.all()) + web.visits.dropped)
    await web.stop()


async def serve_aiohttp(parent: Connection) -> None:
    from aiohttp import web

    bodies = {host(number): b"<!doctype html>".ljust(PAGE_BYTES, b"x") for number in range(HOSTS)}
    asked = 0

    async def page(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.Response(body=bodies[request.host], content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    parent.send(runner.addresses[0][1])
    await report_when_asked(parent, lambda: asked)
    await runner.cleanup()


async def report_when_asked(parent: Connection, pages: Callable[[], int]) -> None:
    cpu = time.process_time()
    await asyncio.to_thread(parent.recv)
    parent.send(Served(pages(), time.process_time() - cpu))


def run_server(serve: Serve, parent: Connection) -> None:
    pin(0)
    asyncio.run(serve(parent))


def pin(core: int) -> None:
    """Not among the cores we may use now: a child inherits its parent's one core."""
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        with suppress(OSError):
            os.sched_setaffinity(0, {core})


class Client(asyncio.Protocol):
    """Asks for one page after the other on one kept connection; every answer has the same size."""

    def __init__(self, requests: list[bytes], done: asyncio.Event) -> None:
        self._requests = requests
        self._done = done
        self._size = 0
        self._missing = 0
        self.answered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._requests[0])

    def data_received(self, data: bytes) -> None:
        if not self._size:
            head, _, _ = data.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK"), head
            self._size = self._missing = len(head) + 4 + PAGE_BYTES
        self._missing -= len(data)
        if self._missing == 0:
            self.answered += 1
            self._missing = self._size
            if self._done.is_set():
                self._transport.close()
            else:
                self._transport.write(self._requests[self.answered % len(self._requests)])


async def drive(port: int) -> float:
    """Pages per second over one round."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    clients = []
    for number in range(CONNECTIONS):
        requests = [
            f"GET /news/{n}.html HTTP/1.1\r\nHost: {host(n)}\r\nUser-Agent: benchmark\r\nAccept: */*\r\n\r\n".encode()
            for n in range(number, HOSTS, CONNECTIONS)
        ]
        _, client = await loop.create_connection(partial(Client, requests, done), "127.0.0.1", port)
        clients.append(client)
    began, before = time.monotonic(), sum(client.answered for client in clients)
    await asyncio.sleep(ROUND_S)
    rate = (sum(client.answered for client in clients) - before) / (time.monotonic() - began)
    done.set()
    return rate


def measure(serve: Serve) -> Figures:
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=run_server, args=(serve, theirs), daemon=True)
    server.start()
    port = ours.recv()
    best = max(asyncio.run(drive(port)) for _ in range(ROUNDS))
    ours.send("stop")
    served: Served = ours.recv()
    server.join()
    assert served.pages > best * ROUND_S, "the server answered fewer pages than the client counted"
    return Figures(best, served.pages / served.cpu_s)


def main() -> None:
    pin(1)
    print(f"{HOSTS:,} hosts, pages of {PAGE_BYTES:,} bytes, {CONNECTIONS} kept connections, one server core")
    simweb = measure(serve_simweb)
    print(f"simulated web  {simweb.pages_per_s:8,.0f} pages/s, {simweb.pages_per_cpu_s:8,.0f} per second of its CPU")
    peer = measure(serve_aiohttp)
    print(f"aiohttp.web    {peer.pages_per_s:8,.0f} pages/s, {peer.pages_per_cpu_s:8,.0f} per second of its CPU")
    figures = {
        "benchmark": "simweb",
        "pages_per_s": round(simweb.pages_per_s),
        "vs_aiohttp_web": round(simweb.pages_per_s / peer.pages_per_s, 2),
        "pages_per_cpu_s": round(simweb.pages_per_cpu_s),
        "vs_aiohttp_web_per_cpu_s": round(simweb.pages_per_cpu_s / peer.pages_per_cpu_s, 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
