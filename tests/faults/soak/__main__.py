"""The soak: processes of ours against a simulated town while faults are drawn at random, then every invariant.

Run: python -m tests.faults.soak [--minutes N | --requests N] [--seed N] [--fetchers N]

Several processes of `fetch` and one each of `poll`, `maintain` and `deliver` work with usual settings on a PostgreSQL
of their own; one fetcher reaches it through a proxy. Every 20 to 40 seconds one of the faults of `draws.py` begins.
When the time is over or enough was requested, everything is healed, what waits is fetched, and all is compared: what
was accepted with what is known, documents with what was served, the sink with the archive. The last line is one JSON
object, and the exit code 0 only if all of it is well.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from tests.faults.proxy import proxy_to
from tests.faults.soak.crew import Crew
from tests.faults.soak.draws import ALONE, FAULTS, Stage, say
from tests.faults.soak.judging import healed, judged
from tests.faults.soak.queueing import Queue
from tests.faults.soak.search_server import SearchServer, search_server
from tests.faults.soak.town import Plan, TownHall, served_town

from headwater.chance import random_from
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.deliver import store

FIRST_DRAW_AFTER_SECONDS = 20
DRAWN_EVERY_SECONDS = (20, 40)
# Two cores: what it writes is not the point, and a power failure is not among its faults.
SERVER_SETTINGS = {"shared_buffers": "128MB", "synchronous_commit": "off", "fsync": "off", "max_wal_size": "4GB"}


def flags_for(dsn: str, town: TownHall, folder: Path) -> dict[str, str]:
    return {
        "database.url": dsn,
        "service.data_dir": str(folder),
        "network.allow": f"127.0.0.1:{town.port}",
        "politeness.delay": f"{town.plan.delay_seconds}s",
        "fetch.contact": "mailto:test@headwater.test",
        "fetch.concurrency": "50",
        "extract.children": "1",
        "log.level": "warning",
        "log.format": "json",
    }


@asynccontextmanager
async def opened_stage(asked: argparse.Namespace, folder: Path) -> AsyncIterator[Stage]:
    plan = Plan(asked.large, asked.small, asked.daily, asked.delay)
    async with AsyncExitStack() as stack:
        town = stack.enter_context(served_town(plan))
        search = stack.enter_context(search_server())
        server = EmbeddedServer(folder / "database", settings=SERVER_SETTINGS)
        dsn = await stack.enter_async_context(server)
        async with await Database.connect(dsn, size=1) as database:
            await migrate(database)
            await add_sink(database, search)
        proxy = await stack.enter_async_context(proxy_to(dsn))

        def task_of(name: str) -> dict[str, Any]:
            # One of them reaches the database through what can be cut.
            return {"port": town.port, "flags": flags_for(proxy.dsn if name == "fetch-1" else dsn, town, folder)}

        logs = folder / "logs"
        logs.mkdir()
        crew = Crew(task_of, logs)
        stack.push_async_callback(crew.kill)
        yield Stage(town, server, dsn, proxy, crew, search, random_from(asked.seed))


async def add_sink(database: Database, search: SearchServer) -> None:
    async with database.transaction() as connection:
        await store.add_sink_row(connection, "search", "elasticsearch", {"url": search.address}, None)


async def keep_counting(stage: Stage) -> None:
    while True:
        stage.seen.append((monotonic(), await stage.town.ask("requests")))
        await asyncio.sleep(1)


async def draw_faults(stage: Stage, names: list[str], is_over: asyncio.Event) -> None:
    """Several may last at once; returns when the last one has ended."""
    running: dict[asyncio.Task[None], str] = {}
    await quiet(is_over, FIRST_DRAW_AFTER_SECONDS)
    while not is_over.is_set():
        name = stage.random.choice(names)
        running = {task: of for task, of in running.items() if not task.done()}
        if name not in ALONE or name not in running.values():
            stage.figures.drawn[name] = stage.figures.drawn.get(name, 0) + 1
            say(f"{stage.seen[-1][1]:>9,} requests  {name} {FAULTS[name].__name__.replace('_', ' ')}")
            running[asyncio.create_task(carry_out(name, stage))] = name
        await quiet(is_over, stage.random.uniform(*DRAWN_EVERY_SECONDS))
    await asyncio.gather(*running)


async def carry_out(name: str, stage: Stage) -> None:
    await FAULTS[name](stage)


async def quiet(is_over: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await is_over.wait()
    except TimeoutError:
        return


async def end_in_time(stage: Stage, asked: argparse.Namespace, is_over: asyncio.Event) -> None:
    """By the clock, or by the count; the clock bounds both."""
    until = monotonic() + asked.minutes * 60
    while monotonic() < until and not (asked.requests and stage.seen and stage.seen[-1][1] >= asked.requests):
        await asyncio.sleep(1)
    is_over.set()


async def run(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    began = monotonic()
    async with opened_stage(asked, folder) as stage:
        queue = Queue(stage, asked.waiting)
        await queue.follow()
        names = [*(f"fetch-{number}" for number in range(1, asked.fetchers + 1)), "poll", "maintain", "deliver"]
        await asyncio.gather(*map(stage.crew.hire, names))
        say(f"seed {asked.seed}: {', '.join(names)}")
        is_over = asyncio.Event()
        counting = asyncio.create_task(keep_counting(stage))
        filling = asyncio.create_task(queue.keep_full(is_over))
        ending = asyncio.create_task(end_in_time(stage, asked, is_over))
        await asyncio.sleep(1)
        await draw_faults(stage, asked.faults.split(), is_over)
        await asyncio.gather(ending, filling)
        under_faults = stage.seen[-1][1] / (monotonic() - began)
        say(f"{stage.seen[-1][1]:,} requests; healing")
        drained = await healed(stage)
        figures = await judged(stage, queue, await stage.crew.dismiss())
        counting.cancel()
    seconds = round(monotonic() - began)
    head = {"soak": "headwater", "seed": asked.seed, "fetchers": asked.fetchers, "seconds": seconds}
    figures = {**head, "requests_per_second": round(under_faults, 1), "waiting_at_the_end": drained, **figures}
    return {"all_well": is_well(figures), **figures}


NOTHING = (
    *("waiting_at_the_end", "lost", "doubled", "invariants_broken", "delays_broken", "disallowed", "came_too_early"),
    *("documents_missing", "documents_wrong", "unasked_ends", "left_behind", "bad_ends", "poisoned_by_one_death"),
)


def is_well(figures: dict[str, Any]) -> bool:
    return figures["sink_equal"] and not any(figures[name] for name in NOTHING)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=60.0, help="faults are drawn for so long at most")
    parser.add_argument("--requests", type=int, default=0, help="or until so many requests were made")
    parser.add_argument("--seed", type=int, default=random_from().randrange(1_000_000))
    parser.add_argument("--fetchers", type=int, default=4)
    parser.add_argument("--faults", default=" ".join(sorted(FAULTS)), help="drawn from these")
    parser.add_argument("--large", type=int, default=150, help="hosts that always have work")
    parser.add_argument("--small", type=int, default=3_000, help="hosts with a page now and then")
    parser.add_argument("--waiting", type=int, default=8_000, help="pages, of which there are never fewer in the queue")
    parser.add_argument("--daily", type=int, default=40, help="hosts with a feed")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds between two requests to a host")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with TemporaryDirectory(prefix="headwater-soak-") as folder:
        # The server may run as another user, who has to get through here.
        Path(folder).chmod(0o711)
        figures = asyncio.run(run(asked, Path(folder)))
    print(json.dumps(figures))
    sys.exit(0 if figures["all_well"] else 1)


if __name__ == "__main__":
    main()
