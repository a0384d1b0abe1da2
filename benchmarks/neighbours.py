"""The rate at which healthy publishers are fetched while a hostile neighbour attacks, as a share of their rate before.

Run: python -m benchmarks.neighbours [--attack NAME …] [--hosts H] [--pages N] [--seconds S] [--rounds R] [--quick]

Each attack is measured in a run of its own, from an empty database: all roles in one process with their usual settings,
an embedded PostgreSQL, and news sites that wait to be fetched, each a source of its own. A page counts when its
document is committed. When the rate is steady it is counted over a window; then the neighbour's sources are followed,
and it is counted again over a window that begins at that moment. Both windows lie in one run, so what else the machine
does weighs on both. `nothing` is a run without any attack: its figure says how steady the machine is. The figure of an
attack is the median over the rounds.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.frontier_world import plain_connection
from benchmarks.neighbours_world import Served, served_web
from benchmarks.path_sides import USER_AGENT, empty_folder
from headwater.discover.adding import WantedSource, take_up
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.run.processes import child_processes
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.neighbours import AttackName, Followed
from headwater.sources.source import Profile, SourceKind
from headwater.sources.store import create_source

DELAY = timedelta(seconds=1)
LOOK_EVERY_S = 0.2
SLOWEST_START_S = 120
ATTACKS: Mapping[str, tuple[AttackName, ...]] = {
    "nothing": (),
    "heavy_listing": ("heavy_listing",),
    "silent_names": ("silent_names",),
    "heavy_subdomains": ("heavy_subdomains",),
    "deadly_page": ("deadly_page",),
    "foreign_flood": ("foreign_flood",),
    "all": ("heavy_listing", "silent_names", "heavy_subdomains", "deadly_page", "foreign_flood"),
}
COUNT = "select count(*) from documents where source_id = any($1)"


@dataclass(frozen=True, slots=True)
class Shape:
    attacks: tuple[str, ...] = tuple(ATTACKS)
    hosts: int = 40
    pages: int = 150  # of each host
    seconds: float = 40
    rounds: int = 2


FULL = Shape()
QUICK = Shape(tuple(name for name in ATTACKS if name != "nothing"), hosts=30, pages=30, seconds=4, rounds=1)


@dataclass(frozen=True, slots=True)
class Rates:
    """Healthy pages per second, before the attack and under it."""

    before: float
    under: float

    @property
    def share(self) -> float:
        return self.under / self.before


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def flags_of(folder: Path, served: Served) -> dict[str, str]:
    """As they come, but for what a simulated web needs: its port on this machine, and polls that begin at once."""
    return {
        "service.data_dir": str(folder),
        "log.level": "error",
        "fetch.user_agent": USER_AGENT,
        "politeness.delay": f"{DELAY.total_seconds()}s",
        "poll.tick": "500ms",
        "network.allow": ",".join(f"{place}:{served.port}" for place in served.places),
    }


async def fill(services: Services, served: Served) -> list[Any]:
    """The pages of every healthy publisher, each under a source of its own."""
    sources = []
    async with services.database.transaction() as connection:
        for home, urls in served.urls.items():
            source = await create_source(connection, home, home, "news")
            await submit(
                connection, Submitter(source, EntryOrigin.FEED), [FoundUrl(url) for url in urls], default_delay=DELAY
            )
            sources.append(source)
    return sources


async def follow(services: Services, followed: Sequence[Followed]) -> None:
    for one in followed:
        wanted = WantedSource(Profile(one.url, kind=SourceKind(one.kind)), feeds=one.feeds, sitemaps=one.sitemaps)
        async with services.database.transaction() as connection:
            await take_up(connection, wanted, "benchmark", DELAY)


async def rate(done: Callable[[], Awaitable[int]], seconds: float) -> float:
    began, before = time.monotonic(), await done()
    await asyncio.sleep(seconds)
    return (await done() - before) / (time.monotonic() - began)


async def measure(attacks: Sequence[AttackName], shape: Shape) -> Rates:
    with served_web(attacks, shape.hosts, shape.pages) as served, empty_folder() as folder:
        flags = flags_of(folder, served)
        async with open_services(load(Given(flags=flags))) as services:
            sources = await fill(services, served)
            order = {"role": "up", "flags": flags, "port": served.port, "addresses": dict(served.addresses)}
            async with (
                plain_connection(services.dsn) as connection,
                child_processes("benchmarks.roles", [order]) as (roles,),
            ):

                async def done() -> int:
                    return int(await connection.fetchval(COUNT, sources))

                async with asyncio.timeout(SLOWEST_START_S):
                    while await done() < shape.hosts * 2:
                        await asyncio.sleep(LOOK_EVERY_S)
                before = await rate(done, shape.seconds)
                await follow(services, served.followed)
                under = await rate(done, shape.seconds)
                assert await done() < shape.hosts * shape.pages, "it ran out of pages: give more with --pages"
                # It would finish what it has begun, silence among it, and nothing of that counts.
                roles.kill()
                return Rates(before, under)


async def rounds(shape: Shape) -> dict[str, list[Rates]]:
    measured: dict[str, list[Rates]] = {name: [] for name in shape.attacks}
    for number in range(shape.rounds):
        for name in shape.attacks:
            one = await measure(ATTACKS[name], shape)
            measured[name].append(one)
            say(f"round {number + 1}  {name:17} {one.before:6.1f} → {one.under:6.1f} pages/s, {one.share:.2f}")
    return measured


def figures(measured: Mapping[str, Sequence[Rates]], shape: Shape) -> dict[str, Any]:
    shares = {name: round(median(one.share for one in runs), 2) for name, runs in measured.items()}
    attacked = [share for name, share in shares.items() if ATTACKS[name]]
    return {
        "benchmark": "neighbours",
        "hosts": shape.hosts,
        "seconds": shape.seconds,
        "rounds": shape.rounds,
        "healthy_pages_per_s": round(median(one.before for runs in measured.values() for one in runs), 1),
        "healthy_rate_under_attack": min(attacked, default=None),
        "by_attack": shares,
    }


def shape_asked_for() -> Shape:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--attack", dest="attacks", action="append", choices=tuple(ATTACKS), help="only this one")
    parser.add_argument("--hosts", type=int, help="healthy publishers")
    parser.add_argument("--pages", type=int, help="pages of each")
    parser.add_argument("--seconds", type=float, help="length of each window")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true", help="under two minutes")
    asked = vars(parser.parse_args())
    shape = QUICK if asked.pop("quick") else FULL
    asked["attacks"] = tuple(asked["attacks"] or ())
    return replace(shape, **{name: value for name, value in asked.items() if value})


def main() -> None:
    shape = shape_asked_for()
    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    say(f"{shape.hosts} healthy publishers, one page a second from each at most")
    print(json.dumps(figures(asyncio.run(rounds(shape)), shape)))


if __name__ == "__main__":
    main()
