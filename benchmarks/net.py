"""What politeness, guarding and pooling cost beside bare aiohttp, and what a fetch in the air weighs.

Both sides of every comparison ask the same simulated web for the same pages from the same process, in many short rounds
taken in turns, so that a busy moment of the machine meets both; a figure is the median over the pairs of rounds, and
the half of the pairs around it is printed beside it. CPU seconds are the client's own: the web runs in another process,
on another core where there is one.

"Ours" is everything but the database: canonical URL, a look-out that never objects, a slot that is open, guarded
transport, capped body.

"Slots alone" is one way taken twice: the same question by the same function through the same transport, with the
same turn of the event loop before it. On one side it has a slot of its own from a keeper that always grants: the grant,
the slot, the wait for its window, the look at the clock in the moment before the head is sent, the start and the end
noted. On the other side nobody is asked. The question itself, and what a 429 would ask for, are on both sides: they are
no slot's. What is made of a visit afterwards, a row for the fetch log, is made where it is handed to the database, and
stands on the far side of the line like everything there.

Pooling is measured against opening a connection for each page, on loopback without TLS and
without distance: the least it can gain.
"""

import asyncio
import gc
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from benchmarks.net_clients import Fetch, OurClients, bare_aiohttp, our_transport
from benchmarks.net_memory import Weight, weight_at
from benchmarks.net_world import PAGE_BYTES, host, simulated_web
from benchmarks.simweb import pin
from headwater.net.transport import Pooling

# As many as connections are kept for by default, each asked by one worker only, as slots would have it.
HOSTS = 100
WORKERS = 50
# Short beside what disturbs them: a pair that was met unequally is then one of many, and the median does not see it.
ROUND_S = 0.12
PAIRS = 50
SLOT_PAIRS = 120
WARM_UP_S = 0.5


@dataclass(frozen=True)
class Round:
    pages: int
    cpu_s: float
    wall_s: float

    @property
    def per_cpu_s(self) -> float:
        return self.pages / self.cpu_s

    @property
    def per_s(self) -> float:
        return self.pages / self.wall_s


@dataclass(frozen=True)
class Compared:
    """Medians over pairs of rounds."""

    ours: float
    theirs: float
    ratio: float
    middle_half: tuple[float, float]  # of the pairs' ratios

    @property
    def overhead(self) -> float:
        return 1 / self.ratio - 1

    def __str__(self) -> str:
        low, high = self.middle_half
        return f"{self.overhead:+.1%} CPU, half of the pairs between {1 / high - 1:+.1%} and {1 / low - 1:+.1%}"


async def worker(fetch: Fetch, number: int, until: float) -> int:
    """Pages fetched, no URL twice: a crawl does not profit from what was parsed before."""
    hosts = [host(n) for n in range(number, HOSTS, WORKERS)]
    for asked in count():
        if time.monotonic() >= until:
            return asked
        body = await fetch(f"http://{hosts[asked % len(hosts)]}/{time.monotonic_ns()}/{number}.html")
        assert len(body) == PAGE_BYTES, len(body)
    raise AssertionError("count() ended")


async def one_round(fetch: Fetch, seconds: float = ROUND_S) -> Round:
    gc.collect()
    cpu, began = time.process_time(), time.monotonic()
    pages = await asyncio.gather(*(worker(fetch, number, began + seconds) for number in range(WORKERS)))
    return Round(sum(pages), time.process_time() - cpu, time.monotonic() - began)


async def compared(ours: Fetch, theirs: Fetch, rate: Callable[[Round], float], pairs: int = PAIRS) -> Compared:
    for fetch in (ours, theirs):
        await one_round(fetch, WARM_UP_S)
    # What is there for good is not gone through again before each round.
    gc.freeze()
    our_rates: list[float] = []
    their_rates: list[float] = []
    for pair in range(pairs):
        # Whoever goes first meets another machine than whoever goes second: take turns in that too.
        turns = [(ours, our_rates), (theirs, their_rates)]
        for fetch, rates in turns if pair % 2 else reversed(turns):
            rates.append(rate(await one_round(fetch)))
    gc.unfreeze()
    ratios = [one / other for one, other in zip(our_rates, their_rates, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Compared(statistics.median(our_rates), statistics.median(their_rates), middle, (low, high))


async def beside_bare_aiohttp(port: int, coding: str) -> Compared:
    async with our_transport(port) as transport, bare_aiohttp(port, coding) as bare:
        clients = OurClients(transport, coding)
        found = await compared(clients.through_fetcher, bare, lambda round_: round_.per_cpu_s)
    print(f"{coding:9} fetcher {found.ours:7,.0f}, bare aiohttp {found.theirs:7,.0f} pages per CPU second: {found}")
    return found


async def slots_alone(port: int) -> Compared:
    async with our_transport(port) as transport:
        clients = OurClients(transport, "identity")
        found = await compared(clients.in_slot, clients.without_slot, lambda round_: round_.per_cpu_s, pairs=SLOT_PAIRS)
    print(f"slots     with {found.ours:10,.0f}, without {found.theirs:12,.0f} pages per CPU second: {found}")
    return found


async def pooling(port: int) -> Compared:
    # A budget of one host: everybody else is asked to close.
    async with our_transport(port) as kept, our_transport(port, Pooling(idle=1)) as closed:
        with_pool, without = OurClients(kept, "identity"), OurClients(closed, "identity")
        found = await compared(with_pool.through_fetcher, without.through_fetcher, lambda round_: round_.per_s)
        assert kept.figures.counts["connections.reused"] > kept.figures.counts["connections.new"]
        assert closed.figures.counts["connections.new"] > closed.figures.counts["connections.reused"]
    print(f"pooling   on {found.ours:12,.0f}, off {found.theirs:16,.0f} pages per second", flush=True)
    return found


def weights(port: int) -> dict[int, Weight]:
    found = {concurrent: weight_at(port, concurrent) for concurrent in (1, 100, 1_000)}
    for concurrent, weight in found.items():
        print(f"memory    {concurrent:5,} fetches in the air: {weight}", flush=True)
    return found


async def rates(port: int) -> dict[str, float]:
    plain = await beside_bare_aiohttp(port, "identity")
    packed = await beside_bare_aiohttp(port, "gzip")
    slots = await slots_alone(port)
    pooled = await pooling(port)
    return {
        "pages_per_cpu_s": round(plain.ours),
        "vs_bare_aiohttp": round(plain.ratio, 3),
        "vs_bare_aiohttp_gzip": round(packed.ratio, 3),
        "overhead": round(plain.overhead, 3),
        "slots_overhead": round(slots.overhead, 3),
        "slots_us": round(1e6 / slots.ours - 1e6 / slots.theirs, 1),
        "pooling_gain": round(pooled.ratio, 2),
    }


def main() -> None:
    print(f"{HOSTS} hosts, {WORKERS} at once, pages of {PAGE_BYTES:,} bytes, no URL twice")
    with simulated_web() as port:
        # Not before: a child inherits the cores of its parent.
        pin(1)
        figures = asyncio.run(rates(port))
        found = weights(port)
    figures |= {f"rss_mb_at_{concurrent}": round(weight.rss_mb, 1) for concurrent, weight in found.items()}
    figures["kb_per_fetch"] = round((found[1_000].rss_mb - found[100].rss_mb) * 1024 / 900, 1)
    print(f"CPU over bare aiohttp {figures['overhead']:.1%}, budget 25 %")
    print(f"CPU for slots alone   {figures['slots_overhead']:.1%}, budget 5 %")
    print(f"pooling, times the rate {figures['pooling_gain']:.2f}")
    print(json.dumps({"benchmark": "net", **figures}))


if __name__ == "__main__":
    main()
