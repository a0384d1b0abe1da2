"""The web of the net benchmark: a simulated one in a process of its own, with pages of ordinary text."""

import asyncio
import multiprocessing as mp
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection

from benchmarks.simweb import pin
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.pace import SlowStart
from headwater.simweb.server import SimWeb

HOSTS = 1_000
PAGE_BYTES = 20_000
SLOW = "/slow/"
# Longer than anything here waits: whoever holds a fetch open lets go of it first.
SLOW_START = SlowStart(delay_ms=60_000)
SYLLABLES = ("ka", "lo", "mi", "ren", "su", "tav", "por", "ne", "dil", "gra", "ul", "ofe")


@dataclass(frozen=True)
class OnePageSite:
    body: bytes

    def page(self, request: Request, now: datetime) -> Page:
        return Page(self.body, last_modified=datetime(2026, 1, 1, tzinfo=UTC))


def host(number: int) -> str:
    return f"site-{number:06}.test"


def page_text(number: int) -> bytes:
    """As compressible as prose is, about three to one: a page of one letter would make unpacking free."""
    random = random_from(number)
    words = ("".join(random.choices(SYLLABLES, k=random.randint(1, 4))) for _ in range(PAGE_BYTES // 4))
    return f"<!doctype html><title>Site {number}</title><p>{' '.join(words)}".encode()[:PAGE_BYTES]


async def serve(parent: Connection) -> None:
    clock = SystemClock()
    texts = [page_text(number) for number in range(20)]
    sites = {host(number): OnePageSite(texts[number % len(texts)]) for number in range(HOSTS)}
    web = SimWeb(sites, clock=clock, real=clock, random=random_from(1))
    web.script("*", SLOW_START, SLOW)
    parent.send(await web.start())
    await asyncio.to_thread(parent.recv)
    await web.stop()


def run_server(parent: Connection) -> None:
    pin(0)
    asyncio.run(serve(parent))


@contextmanager
def simulated_web() -> Iterator[int]:
    """Its port."""
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=run_server, args=(theirs,), daemon=True)
    server.start()
    try:
        yield ours.recv()
    finally:
        ours.send("stop")
        server.join()
