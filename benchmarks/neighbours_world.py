"""The web of the neighbours benchmark: healthy news sites and their hostile neighbour, in a process of its own."""

import asyncio
import multiprocessing as mp
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

from tests.clocks import ManualClock

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.simweb.neighbours import AttackName, Followed, Plan, beside
from headwater.simweb.neighbours.neighbourhood import MACHINE
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.server import SimWeb
from headwater.simweb.world import World

# Healthy publishers live on machines of their own, as on the real web, and not on the neighbour's.
HOSTS_OF_A_MACHINE = 10


@dataclass(frozen=True, slots=True)
class Served:
    port: int
    places: tuple[str, ...]  # the addresses it listens on
    addresses: Mapping[str, str]  # where each name leads
    followed: tuple[Followed, ...]
    urls: Mapping[str, Sequence[str]]  # of each healthy publisher, by its home


def healthy_urls(world: World, hosts: int, pages: int) -> dict[str, list[str]]:
    news = (one for one in world.publishers if one.kind == "news" and not one.reprints)
    found = ((one.home, [item.url for item in islice(world.items(one, WORLD_BEGINS), pages)]) for one in news)
    return dict(islice(((home, urls) for home, urls in found if len(urls) == pages), hosts))


async def serve(parent: Connection, attacks: Sequence[AttackName], hosts: int, pages: int) -> None:
    # Time stands still: what a publisher has is what there is.
    world = World(1, hosts * 3, start=WORLD_BEGINS, rate=5.0, crawl_delays=(), cached_pages=hosts * pages)
    urls = healthy_urls(world, hosts, pages)
    assert len(urls) == hosts, "give fewer hosts or pages"
    aims = tuple(listed[-1] for listed in urls.values())
    neighbours = beside(world.sites, Plan(tuple(attacks), aims, heavy_pages=300, deadly_pages=300))
    web = SimWeb(neighbours.sites, clock=ManualClock(WORLD_BEGINS), real=SystemClock(), random=random_from(1))
    neighbours.script(web)
    healthy = [f"127.0.1.{n + 1}" for n in range(-(-hosts // HOSTS_OF_A_MACHINE))]
    places = ("127.0.0.1", MACHINE, *healthy)
    addresses = (
        dict(zip((urlsplit(home).netloc for home in urls), cycle(healthy), strict=False)) | neighbours.addresses()
    )
    parent.send(Served(await web.start(places), places, addresses, neighbours.followed, urls))
    await asyncio.to_thread(parent.recv)
    await web.stop()


def run_server(parent: Connection, attacks: Sequence[AttackName], hosts: int, pages: int) -> None:
    asyncio.run(serve(parent, attacks, hosts, pages))


@contextmanager
def served_web(attacks: Sequence[AttackName], hosts: int, pages: int) -> Iterator[Served]:
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=run_server, args=(theirs, attacks, hosts, pages), daemon=True)
    server.start()
    # Only the child may hold its end, or a child that died would be waited for for ever.
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.send("stop")
        server.join()
