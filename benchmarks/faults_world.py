"""A web of very many small publishers, in a process of its own that can be stopped like a network that is away."""

import asyncio
import multiprocessing as mp
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import cycle
from multiprocessing.connection import Connection
from typing import Any

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.simweb.message import Page, Request
from headwater.simweb.server import SimWeb

# Of five hosts four have one feed, and one has two.
FEEDS_OF_FIVE_HOSTS = 6
HOSTS_OF_A_MACHINE = 80
ITEMS_OF_A_FEED = 5
PARAGRAPHS, SENTENCES, WORDS_OF_A_SENTENCE = 4, 5, 14
WORDS = [
    "river",
    "harbour",
    "council",
    "budget",
    "school",
    "weather",
    "railway",
    "museum",
    "bridge",
    "garden",
    "market",
]


@dataclass(frozen=True, slots=True)
class Served:
    port: int
    places: tuple[str, ...]
    addresses: dict[str, str]
    feeds: tuple[tuple[str, str], ...]  # the home and the feed of each source
    pid: int

    def stop(self) -> None:
        """Whoever asks waits for an answer until they give up."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)


class Publisher:
    """Any host: two feeds whose items never change, and an article at every other path."""

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/robots.txt":
            return Page(b"User-agent: *\nAllow: /\n", "text/plain")
        if request.path.startswith("/sitemap"):
            return None
        if request.path.rpartition("/")[2] in ("feed", "feed-2"):
            return Page(feed_of(request.host, request.path), "application/rss+xml")
        return Page(article_at(f"{request.host}{request.path}"))


def feed_of(host: str, path: str) -> bytes:
    section = path.rpartition("/")[2]
    urls = [f"http://{host}/{section}/story-{number}" for number in range(ITEMS_OF_A_FEED)]
    items = "".join(f"<item><title>{url}</title><link>{url}</link><guid>{url}</guid></item>" for url in urls)
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>{host}</title>{items}</channel></rss>'.encode()


def article_at(address: str) -> bytes:
    """Its text is no other page's."""
    random = random_from(address)

    def sentence() -> str:
        return f"{' '.join(random.choices(WORDS, k=WORDS_OF_A_SENTENCE))} {random.randrange(10**9)}.".capitalize()

    text = "".join(f"<p>{' '.join(sentence() for _ in range(SENTENCES))}</p>" for _ in range(PARAGRAPHS))
    return f"<html><title>{address}</title><article><h1>{address}</h1>{text}</article></html>".encode()


def hosts_for(feeds: int) -> list[str]:
    return [f"site-{number}.test" for number in range(-(-feeds * 5 // FEEDS_OF_FIVE_HOSTS))]


def feeds_on(hosts: list[str]) -> list[tuple[str, str]]:
    first = [(f"http://{host}/", f"http://{host}/feed") for host in hosts]
    second = [(f"http://{host}/second/", f"http://{host}/feed-2") for host in hosts[::5]]
    return first + second


async def serve(parent: Connection, feeds: int) -> None:
    hosts, publisher = hosts_for(feeds), Publisher()
    web = SimWeb(dict.fromkeys(hosts, publisher), clock=SystemClock(), real=SystemClock(), random=random_from(1))
    machines = -(-len(hosts) // HOSTS_OF_A_MACHINE)
    places = tuple(f"127.1.{number // 250}.{number % 250 + 1}" for number in range(machines))
    port = await web.start(places)
    parent.send(
        Served(port, places, dict(zip(hosts, cycle(places), strict=False)), tuple(feeds_on(hosts)), os.getpid())
    )
    await asyncio.to_thread(parent.recv)
    parent.send(web.report()["total"])
    await web.stop()


def run_server(parent: Connection, feeds: int) -> None:
    asyncio.run(serve(parent, feeds))


class Web:
    """The served web; `report` is told once, at its end."""

    def __init__(self, served: Served, pipe: Connection) -> None:
        self.served = served
        self._pipe = pipe

    def report(self) -> dict[str, Any]:
        self._pipe.send("stop")
        told: dict[str, Any] = self._pipe.recv()
        return told


@contextmanager
def served_web(feeds: int) -> Iterator[Web]:
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=run_server, args=(theirs, feeds), daemon=True)
    server.start()
    # Only the child may hold its end, or a child that died would be waited for for ever.
    theirs.close()
    try:
        yield Web(ours.recv(), ours)
    finally:
        server.kill()
        server.join()
