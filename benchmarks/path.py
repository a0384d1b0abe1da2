"""Pages per second on their whole way, from the queue to a stored document, beside Scrapy with trafilatura.

Run: python -m benchmarks.path [--pages N] [--seconds S] [--hosts H] [--warm-up PAGES] [--quick]

Both crawl the same news pages of the same simulated web, as heavy as real ones, one after the other and in turns. Both
obey robots.txt, ask a host once per half second and one request at a time, and have 128 requests in the air. Ours is
one fetching process as it comes, with a reading child for each core, over an embedded PostgreSQL, fsync on, and a page
counts when its document and its outbox row are committed. Scrapy keeps its queue on disk (JOBDIR) and writes lines of
JSON. It calls trafilatura as it comes, for text and metadata. It is measured in one process, and as two processes with
half of the hosts each, which is what it offers on two cores; and in one with `fast=True`, which is what our own general
extractor asks trafilatura for. It detects no languages and no duplicates, keeps no links, versions or index: ours does
all of that in its time.

Ours is measured twice: cold, where the general extractor reads every page, and warm, where the hosts' templates are
known. They are learned before, once, by the same workers from the first pages of every host.

A rate is counted over a window that begins when as many pages are done as there are hosts, so that starting up and most
of robots.txt lie before it. Figures are medians over the rounds, ratios are taken within each round. Memory is the sum
of the proportional set sizes of all processes of a side, its database included, at the end of the window, in the
heaviest round. The simulated web takes its share of the cores from both; its pages are packed before the first comes.

Where others use the machine, believe CPU time per page: a side of many processes gets more of a busy machine than a
side of one, and its rate looks better than it is.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import median
from typing import Any

from benchmarks.path_sides import Crawl, Side, Task, headwater, learned, scrapy
from benchmarks.path_weight import are_alive, cpu_s_of, pss_mb_of
from benchmarks.path_world import Plot, Seen, Web, simulated_web

DELAY = timedelta(seconds=0.5)
LOOK_EVERY_S = 0.5
SLOWEST_START_S = 120
NOTHING_SEEN = Seen(0, {}, 0)
PEERS: Mapping[str, Side] = {"two_scrapy": scrapy(2), "fast_scrapy": scrapy(1, is_fast=True)}


@dataclass(frozen=True, slots=True)
class Plan:
    hosts: int
    pages: int
    seconds: float
    rounds: int
    warm_up: int = 0  # pages; 0: as many as there are hosts

    @property
    def plot(self) -> Plot:
        return Plot(self.hosts, self.pages // self.hosts)


QUICK = Plan(hosts=240, pages=7_200, seconds=6, rounds=2)
FULL = Plan(hosts=400, pages=20_000, seconds=30, rounds=3)


@dataclass(frozen=True, slots=True)
class Run:
    """One window of one side."""

    pages: int
    seconds: float
    cpu_s: float
    pss_mb: float
    web_cores: float
    words: float
    seen: Seen = NOTHING_SEEN

    @property
    def per_s(self) -> float:
        return self.pages / self.seconds

    @property
    def cpu_ms_per_page(self) -> float:
        return 1000 * self.cpu_s / self.pages

    def __str__(self) -> str:
        return (
            f"{self.per_s:6.1f} pages/s, {self.cpu_ms_per_page:5.1f} ms CPU each, {self.pss_mb:4.0f} MB, "
            f"{self.words:.0f} words a page; web {self.web_cores:.2f} cores; "
            f"{self.seen.requests:,} requests, {self.seen.too_soon} too soon, statuses {self.seen.statuses}"
        )


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def begun(crawl: Crawl, pages: int) -> None:
    async with asyncio.timeout(SLOWEST_START_S):
        while await crawl.done() < pages:
            assert are_alive(crawl.processes), "a process ended before its time"
            await asyncio.sleep(LOOK_EVERY_S)


async def window(crawl: Crawl, web: Web, plan: Plan) -> Run:
    """From here for so many seconds."""
    cpu_before, web_before = cpu_s_of(crawl.processes), cpu_s_of([web.pid])
    began, before = time.monotonic(), await crawl.done()
    await asyncio.sleep(plan.seconds)
    pages, seconds = await crawl.done() - before, time.monotonic() - began
    cpu_s, web_s = cpu_s_of(crawl.processes) - cpu_before, cpu_s_of([web.pid]) - web_before
    assert before + pages < len(web.served.urls), "it ran out of pages: give more with --pages"
    return Run(pages, seconds, cpu_s, pss_mb_of(crawl.processes), web_s / seconds, await crawl.mean_words())


async def run(side: Side, web: Web, plan: Plan) -> Run:
    async with side(Task(web.served.port, web.served.urls, DELAY)) as crawl:
        await begun(crawl, plan.warm_up or plan.hosts)
        measured = await window(crawl, web, plan)
    # Only now: until the end it may have been impolite.
    return replace(measured, seen=web.report())


async def sides(web: Web, plan: Plan) -> dict[str, Side]:
    templates = await learned(Task(web.served.port, web.served.urls, DELAY), plan.hosts)
    web.report()
    say(f"learned before: {len(json.loads(templates))} templates of {plan.hosts} hosts")
    return {"ours": headwater(None), "warm": headwater(templates), "scrapy": scrapy(1), **PEERS}


async def rounds(web: Web, plan: Plan) -> dict[str, list[Run]]:
    compared = await sides(web, plan)
    runs: dict[str, list[Run]] = {name: [] for name in compared}
    for number in range(plan.rounds):
        for name, side in compared.items():
            runs[name].append(await run(side, web, plan))
            say(f"round {number + 1}  {name:10} {runs[name][-1]}")
    return runs


def ratio(ours: Sequence[Run], theirs: Sequence[Run]) -> float:
    return median(one.per_s / other.per_s for one, other in zip(ours, theirs, strict=True))


def figures_of(side: Sequence[Run], prefix: str = "") -> dict[str, Any]:
    found = {
        "pages_per_s": round(median(run.per_s for run in side), 1),
        "cpu_ms_per_page": round(median(run.cpu_ms_per_page for run in side), 1),
        "rss_mb": round(max(run.pss_mb for run in side)),
        "words_per_page": round(median(run.words for run in side)),
        "web_cores": round(median(run.web_cores for run in side), 2),
        "requests_too_soon": sum(run.seen.too_soon for run in side),
        "pages_counted": sum(run.pages for run in side),
    }
    return {prefix + name: figure for name, figure in found.items()}


def figures(runs: Mapping[str, Sequence[Run]], web: Web, plan: Plan) -> dict[str, Any]:
    ours, warm, peer = runs["ours"], runs["warm"], runs["scrapy"]
    our_cpu, warm_cpu, peer_cpu = (median(run.cpu_ms_per_page for run in side) for side in (ours, warm, peer))
    return {
        "benchmark": "path",
        "pages": len(web.served.urls),
        "hosts": plan.hosts,
        "page_kb": round(web.served.page_bytes / 1000),
        "seconds": plan.seconds,
        "rounds": plan.rounds,
        **figures_of(ours),
        **figures_of(warm, "warm_"),
        **figures_of(peer, "scrapy_"),
        **{name: figure for peer in PEERS for name, figure in figures_of(runs[peer], f"{peer}_").items()},
        "vs_scrapy": round(ratio(ours, peer), 2),
        **{f"vs_{name}": round(ratio(ours, runs[name]), 2) for name in PEERS},
        "vs_scrapy_per_cpu_s": round(peer_cpu / our_cpu, 2),
        "warm_vs_scrapy": round(ratio(warm, peer), 2),
        **{f"warm_vs_{name}": round(ratio(warm, runs[name]), 2) for name in PEERS},
        "warm_vs_scrapy_per_cpu_s": round(peer_cpu / warm_cpu, 2),
    }


def plan_asked_for() -> Plan:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, help="how many there are to crawl")
    parser.add_argument("--seconds", type=float, help="how long each side is measured in each round")
    parser.add_argument("--hosts", type=int, help="on how many sites the pages are")
    parser.add_argument("--warm-up", type=int, help="pages done before the measuring begins")
    parser.add_argument("--quick", action="store_true", help="about three minutes")
    asked = vars(parser.parse_args())
    plan = QUICK if asked.pop("quick") else FULL
    return replace(plan, **{name: value for name, value in asked.items() if value})


def main() -> None:
    plan = plan_asked_for()
    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with simulated_web(plan.plot, DELAY) as web:
        served = web.served
        say(f"{len(served.urls):,} pages of {served.page_bytes / 1000:.0f} kB on average, on {plan.hosts} hosts")
        runs = asyncio.run(rounds(web, plan))
        print(json.dumps(figures(runs, web, plan)))


if __name__ == "__main__":
    main()
