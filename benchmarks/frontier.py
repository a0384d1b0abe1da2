"""Claims, settles and submits per second on an embedded PostgreSQL with its usual durability, politeness on.

Run: python -m benchmarks.frontier [--quick]

Four connections in two client processes. Rates are measured with every connection asking as fast as it can; what is
compared between sizes and shares of limited hosts is measured at one slow pace for all, in turns, because under full
load latency tells more about the number of cores than about the queue. Where others use the machine too, claims per
second of the server's own processor time is the steadier figure.
"""

import argparse
import asyncio
import json
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.frontier_clients import (
    CONNECTIONS_EACH,
    PROCESSES,
    SUBMIT_BATCH,
    Clients,
    Load,
    Tally,
    claim_and_settle,
    claim_by_textbook,
    submit_on_one,
    submit_on_several,
)
from benchmarks.frontier_spent import Spent, spent_so_far
from benchmarks.frontier_world import World, drop_textbook, limit_hosts, load_textbook, make_world, plain_connection
from headwater.database.embedded import EmbeddedServer

BATCH = 10
LARGE_BATCH = 50
SMALL, MIDDLE, BIG = 10_000, 1_000_000, 10_000_000
# 4 connections × 10 entries each 60 ms: below what 1,000 hosts at one request a second allow.
SLOW_PACE_S = 0.06
SHARES_LIMITED = (0.0, 0.5, 0.99)
TABLES = ("hosts", "url_frontier", "slots")
SIZES = """
select relname, n_dead_tup, pg_total_relation_size(relid) >> 20 from pg_stat_user_tables
where relname = any ($1) order by relname
"""


@dataclass(frozen=True)
class Plan:
    """Seconds for each part, and how often parts that are compared take turns."""

    sizes: tuple[int, ...]
    rate_s: float
    paced_s: float
    turns: int
    held_s: float


QUICK = Plan((SMALL, MIDDLE), rate_s=4, paced_s=3, turns=1, held_s=15)
FULL = Plan((SMALL, MIDDLE, BIG), rate_s=20, paced_s=10, turns=3, held_s=120)


@dataclass(frozen=True)
class Latency:
    p50: float
    p95: float
    p99: float
    most: float

    def __str__(self) -> str:
        return f"p50 {self.p50:.1f}, p95 {self.p95:.1f}, p99 {self.p99:.1f}, most {self.most:.0f} ms"


@dataclass(frozen=True)
class Rate:
    per_s: float
    call: Latency
    client_cpu: float
    wal_bytes_each: float = 0.0
    per_cpu_s: float = 0.0

    def __str__(self) -> str:
        return f"{self.per_s:>9,.0f}/s   {self.call}"


class Submits(NamedTuple):
    one: Rate
    several: Rate


class Held(NamedTuple):
    before: Rate
    during: Rate
    after: Rate


def latency_of(call_ms: list[float]) -> Latency:
    ordered = sorted(call_ms)
    p50, p95, p99 = (ordered[int(len(ordered) * share)] for share in (0.50, 0.95, 0.99))
    return Latency(p50, p95, p99, ordered[-1])


def rate_of(load: Load, tally: Tally, spent: Spent | None = None) -> Rate:
    """What was spent was spent on the warm-up too."""
    assert tally.done, "nothing was done: the queue is stuck"
    lasted = load.warm_up_s + load.seconds
    per_s = tally.done / load.seconds
    rate = Rate(per_s, latency_of(tally.call_ms), tally.cpu_s / lasted)
    if spent is None:
        return rate
    all_done = per_s * lasted
    per_cpu_s = all_done / spent.cpu_s if spent.cpu_s else 0.0
    return replace(rate, wal_bytes_each=spent.wal_bytes / all_done, per_cpu_s=per_cpu_s)


class Bench:
    """The parts, each printing a line as it goes."""

    def __init__(self, clients: Clients, plan: Plan) -> None:
        self._clients = clients
        self._plan = plan
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:6.0f} s  {text}", flush=True)

    async def world(self, dsn: str, entries: int) -> World:
        world = await make_world(dsn, entries, discoveries=entries == MIDDLE)
        self.say(f"loaded {entries:,} entries on {world.hosts:,} hosts")
        return world

    async def rate(self, world: World, batch: int, *, warm_up_s: float = 1.0, said: str = "") -> Rate:
        """As fast as it goes."""
        load = Load(world, self._plan.rate_s, batch, warm_up_s=warm_up_s)
        before = await spent_so_far(world)
        tally = await self._clients.run(claim_and_settle, load)
        spent = (await spent_so_far(world)).since(before)
        rate = rate_of(load, tally, spent)
        self.say(f"{world.entries:>10,} entries, batches of {batch}{said}: {rate}")
        return rate

    async def paced_p95(self, world: World) -> float:
        load = Load(world, self._plan.paced_s, BATCH, SLOW_PACE_S)
        return rate_of(load, await self._clients.run(claim_and_settle, load)).call.p95

    async def p95_by_size(self, worlds: list[World]) -> dict[int, float]:
        """In turns, so that a busy moment of the machine meets every size."""
        seen: dict[int, list[float]] = {world.entries: [] for world in worlds}
        for _ in range(self._plan.turns):
            for world in worlds:
                seen[world.entries].append(await self.paced_p95(world))
        found = {entries: statistics.median(values) for entries, values in seen.items()}
        self.say("slow pace, p95: " + ", ".join(f"{entries:,} entries {p95:.1f} ms" for entries, p95 in found.items()))
        return found

    async def p95_by_share_limited(self, world: World) -> dict[float, float]:
        seen: dict[float, list[float]] = {share: [] for share in SHARES_LIMITED}
        for share in SHARES_LIMITED * (self._plan.turns - 1) + SHARES_LIMITED:
            await limit_hosts(world, share)
            seen[share].append(await self.paced_p95(world))
        found = {share: statistics.median(values) for share, values in seen.items()}
        self.say("slow pace, p95: " + ", ".join(f"{share:.0%} limited {p95:.1f} ms" for share, p95 in found.items()))
        return found

    async def textbook(self, world: World) -> Rate:
        await load_textbook(world)
        load = Load(world, self._plan.rate_s)
        rate = rate_of(load, await self._clients.run(claim_by_textbook, load))
        await drop_textbook(world)
        self.say(f"{world.entries:>10,} entries, the textbook's statement: {rate}")
        return rate

    async def submit(self, world: World) -> Submits:
        load = Load(world, self._plan.rate_s, SUBMIT_BATCH)
        from_one = await self._clients.run(submit_on_one, load, processes=1)
        from_several = await self._clients.run(submit_on_several, load)
        submits = Submits(rate_of(load, from_one), rate_of(load, from_several))
        outcomes = from_one.outcomes
        self.say(f"submit in batches of {SUBMIT_BATCH:,}, {outcomes['duplicate'] / outcomes.total():.0%} duplicates")
        self.say(f"    from one connection:   {submits.one}")
        self.say(f"    from four connections: {submits.several}")
        return submits

    async def under_held_snapshot(self, world: World) -> Held:
        """Before, at the end of a long one, and after."""
        held_s = self._plan.held_s
        await self.say_sizes(world)
        before = await self.rate(world, BATCH, said=", before a snapshot")
        async with plain_connection(world.dsn) as connection, connection.transaction(isolation="repeatable_read"):
            await connection.fetchval("select count(*) from hosts")
            warm_up = held_s - self._plan.rate_s
            during = await self.rate(world, BATCH, warm_up_s=warm_up, said=f", one held {held_s:.0f} s")
        await self.say_sizes(world)
        after = await self.rate(world, BATCH, said=", after it")
        return Held(before, during, after)

    async def say_sizes(self, world: World) -> None:
        async with plain_connection(world.dsn) as connection:
            rows = await connection.fetch(SIZES, list(TABLES))
        self.say("    " + "; ".join(f"{name} {size} MB, {dead:,} dead rows" for name, dead, size in rows))


@asynccontextmanager
async def server() -> AsyncIterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    # The server may run as another user, who has to get through here and nowhere else.
    folder.chmod(0o711)
    try:
        async with EmbeddedServer(folder / "cluster") as dsn:
            yield dsn
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def measure(plan: Plan, dsn: str, clients: Clients) -> dict[str, Any]:
    bench = Bench(clients, plan)
    worlds = [await bench.world(dsn, entries) for entries in plan.sizes]
    middle = next(world for world in worlds if world.entries == MIDDLE)
    by_size = await bench.p95_by_size(worlds)
    rates = [await bench.rate(world, BATCH) for world in worlds]
    large_batches = await bench.rate(middle, LARGE_BATCH)
    textbook = await bench.textbook(middle)
    submits = await bench.submit(middle)
    held = await bench.under_held_snapshot(middle)
    by_share = await bench.p95_by_share_limited(middle)
    claims = rates[worlds.index(middle)]
    return {
        "benchmark": "frontier",
        "entries": max(plan.sizes),
        "batch": BATCH,
        "connections": PROCESSES * CONNECTIONS_EACH,
        "client_processes": PROCESSES,
        "claims_per_s": round(claims.per_s),
        "claim_p50_ms": round(claims.call.p50, 2),
        "claim_p95_ms": round(claims.call.p95, 2),
        "claim_p99_ms": round(claims.call.p99, 2),
        "claims_per_s_by_size": by_name(worlds, [round(rate.per_s) for rate in rates]),
        "claim_p95_ms_by_size": by_name(worlds, [round(rate.call.p95, 2) for rate in rates]),
        f"claims_per_s_batch_{LARGE_BATCH}": round(large_batches.per_s),
        "claims_per_server_cpu_s": round(claims.per_cpu_s),
        "client_cpu_cores": round(claims.client_cpu, 2),
        "wal_bytes_per_claim": round(claims.wal_bytes_each),
        "textbook_per_s": round(textbook.per_s, 1),
        "vs_textbook": round(claims.per_s / textbook.per_s),
        "paced_p95_ms_by_size": {str(size): round(p95, 2) for size, p95 in by_size.items()},
        "p95_ratio_big_to_10k": round(by_size[max(plan.sizes)] / by_size[SMALL], 2),
        "paced_p95_ms_by_share_limited": {f"{share:.0%}": round(p95, 2) for share, p95 in by_share.items()},
        "p95_ratio_99_to_0_limited": round(by_share[0.99] / by_share[0.0], 2),
        "submit_per_s": round(submits.several.per_s),
        "submit_per_s_from_one": round(submits.one.per_s),
        "held_snapshot_p95_ms": [round(rate.call.p95, 2) for rate in held],
        "held_snapshot_ratio": round(held.during.call.p95 / held.before.call.p95, 2),
    }


def by_name(worlds: list[World], figures: list[Any]) -> dict[str, Any]:
    return {str(world.entries): figure for world, figure in zip(worlds, figures, strict=True)}


BUDGETS = (
    ("claims and settles per second", "claims_per_s", "5,000, aim 15,000"),
    ("the same per second of server CPU", "claims_per_server_cpu_s", ""),
    ("claim p95, ms", "claim_p95_ms", "below 10"),
    ("times the textbook's statement", "vs_textbook", "100, aim 500"),
    ("p95, most entries to 10,000", "p95_ratio_big_to_10k", "within 2, aim 1.3"),
    ("p95, 99 % limited to none", "p95_ratio_99_to_0_limited", "within 2, aim 1.3"),
    ("p95, snapshot held to not", "held_snapshot_ratio", ""),
    ("URLs submitted per second, four connections", "submit_per_s", "15,000, aim 40,000"),
    ("the same from one connection", "submit_per_s_from_one", ""),
)


def table(figures: dict[str, Any]) -> str:
    lines = [f"  {what:34} {figures[name]:>10,}   {budget}".rstrip() for what, name, budget in BUDGETS]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="under two minutes, up to a million entries")
    plan = QUICK if parser.parse_args().quick else FULL

    async def run() -> dict[str, Any]:
        with Clients() as clients:
            async with server() as dsn:
                return await measure(plan, dsn, clients)

    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    figures = asyncio.run(run())
    print(table(figures))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
