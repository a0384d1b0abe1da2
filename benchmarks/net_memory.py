"""What a process weighs with so many fetches in the air at once. Each count has a process of its own."""

import asyncio
import multiprocessing as mp
import resource
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.net_clients import our_fetcher, our_transport, reserve_slot
from benchmarks.net_world import SLOW, host
from headwater.fetch.fetcher import FetchRequest
from headwater.urls.canonical import canonicalise

ROLLUP = Path("/proc/self/smaps_rollup")
MB_KB = 1024


@dataclass(frozen=True)
class Weight:
    rss_mb: float
    pss_mb: float  # shared pages divided among their processes; 0 where the system does not tell

    def __str__(self) -> str:
        return f"{self.rss_mb:.1f} MB resident" + (f", {self.pss_mb:.1f} MB in proportion" if self.pss_mb else "")


def weight_now() -> Weight:
    if not ROLLUP.exists():
        return Weight(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MB_KB, 0.0)
    lines = (line.split() for line in ROLLUP.read_text().splitlines()[1:])
    sizes = {name: int(kilobytes) / MB_KB for name, kilobytes, _ in lines}
    return Weight(sizes["Rss:"], sizes["Pss:"])


async def weigh(port: int, count: int) -> Weight:
    """Every request is sent and no answer has begun: the moment in which a fetch holds most and does nothing."""
    async with our_transport(port) as transport:
        fetcher = our_fetcher(transport)
        urls = [canonicalise(f"http://{host(number)}{SLOW}") for number in range(count)]
        regrants = [reserve_slot(url) for url in urls]
        held = [
            asyncio.ensure_future(fetcher.fetch(FetchRequest(url), held_slot))
            for url, held_slot in zip(urls, regrants, strict=True)
        ]
        while not all(held_slot.started for held_slot in regrants):
            assert not any(fetch.done() for fetch in held), "a fetch ended that should be waiting"
            await asyncio.sleep(0.05)
        weight = weight_now()
        for fetch in held:
            fetch.cancel()
        await asyncio.gather(*held, return_exceptions=True)
    return weight


def run_weighing(parent: Connection, port: int, count: int) -> None:
    parent.send(asyncio.run(weigh(port, count)))


def weight_at(port: int, count: int) -> Weight:
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=run_weighing, args=(theirs, port, count), daemon=True)
    process.start()
    # Only the child may hold its end, or a child that died would be waited for for ever.
    theirs.close()
    weight: Weight = ours.recv()
    process.join()
    return weight
