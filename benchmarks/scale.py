"""What every chore and every report costs at 200,000 sources, 5 M entries and 1 M documents, and at a tenth of that.

Run: python -m benchmarks.scale [--size S] [--quick] [--folder F]

Two databases that differ in size alone are filled by SQL (`benchmarks/scale_world.py`) on an embedded PostgreSQL. In
each, every chore of `maintain` is done, and every command that tells something is run as a process of its own: time
until it ends, processor time of the command and of the server, peak memory of the command, and blocks of our tables
that were touched. The start of a command is in its figures. Then, in the larger one with nothing due, statements of an
idle `up` are counted in the server's log, and feeds of simulated publishers are polled again and again: polls for each
second of processor time of the poller and the server together.

`--size 1` is the whole, which takes an hour and some 30 GB; `--quick` is a tenth of it. `--folder` keeps the databases
for another run.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.frontier_spent import parent_of, server_cpu_s
from benchmarks.frontier_world import database_named, plain_connection
from benchmarks.neighbours_world import Served, served_web
from benchmarks.path_sides import USER_AGENT, empty_folder
from benchmarks.path_weight import cpu_s_of
from benchmarks.scale_measuring import blocks_so_far
from benchmarks.scale_world import counts_at, fill
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.errors import UsageError
from headwater.run.maintenance import maintenance_of
from headwater.run.processes import child_processes
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.world import World
from headwater.sources.finding import find_source
from headwater.sources.source import Profile

# As it comes, but for what only a benchmark may do: lose what it wrote.
SERVER = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "8GB", "autovacuum_naptime": "1h"}
WHOLE, TENTH = 1.0, 0.1
# Of processor time: what else the machine does weighs on the time that passes.
GOAL_MS, GOAL_MB, GOAL_STATEMENTS = 1_000, 150, 10
COMMANDS = (
    "version",
    "status",
    "status --show-schedule",
    "status --all",
    "problems",
    "doctor",
    "sources list",
    "sources list --status failing",
    "sources list --status paused",
    "sources list --status struggling",
    "sources list --status warning",
    "sources list --tag rare",
    "sources show Publisher-77",
    "hosts list",
    "hosts show site-77.example",
    "frontier stats",
    "frontier list",
    "frontier list --status dead",
    "frontier list --prefix https://site-77.example/",
    "docs list",
    "docs list --since 1h",
    "docs list --language xx",
    "docs show https://site-78.example/77",
    "docs search rare7",
    "docs search harvest",
    "jobs list",
    "jobs search lorry",
    "crawl logs",
    "templates list",
    "takedown list",
    "explain https://site-78.example/77",
    "audit politeness",
    "audit politeness --hours 24",
)
# Growth says nothing of what is over in a moment.
SMALLEST_BLOCKS = 500
# An audit of a day reads all of its log, and the whole schedule is every channel; decay is looked for in every source
# once an hour; vacuum goes where rows died.
NOT_JUDGED = ("audit politeness --hours 24", "status --all", "watch_decay", "vacuum_hot_tables")
SESSION_ENDS_S = 0.2
DELAY = timedelta(milliseconds=50)
IDLE_SECONDS, POLL_SECONDS, POLLED_HOSTS = 20, 20, 40
HOURLY = "headwater.watch_decay"
STATEMENT = re.compile(r"LOG:  (?:execute|statement)")
REST = (
    "update channels set next_poll_at = now() + interval '1 day' where is_active",
    "update url_frontier set next_fetch_at = now() + interval '1 day' where status in ('pending', 'failed')",
    "update robots set expires_at = now() + interval '1 day' where expires_at < now() + interval '1 day'",
    # Pushes are polls that are due, and a hub that was quiet for long has its channel looked at.
    "delete from pushes",
    "update subscriptions set quiet_until = null, due_at = greatest(due_at, now() + interval '1 day')",
    "select refresh_hosts(array_agg(bucket), array_agg(host), statement_timestamp()) from hosts group by bucket",
    "vacuum analyze channels",
    "vacuum analyze hosts",
    "vacuum analyze robots",
)
# Of pollers that the world tells of, not of one that an earlier run measured.
UNDER_WAY = (
    "update slots set expires_at = now() + interval '1 day' where owner like 'poller %'",
    "update channels set lease_until = now() + interval '1 day' where leased_by = 'poller'",
)
DUE_AGAIN = """
update channels set next_poll_at = now()
where source_id = any ($1) and kind = 'feed' and token is null and next_poll_at > now()
"""
RUNS = "select count(*) from runs where source_id = any ($1)"


@dataclass(frozen=True, slots=True)
class Figure:
    ms: float
    cpu_ms: float  # of the command and of the server
    blocks: int
    mb: float = 0.0


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@asynccontextmanager
async def server_in(folder: Path) -> AsyncIterator[tuple[EmbeddedServer, str]]:
    server = EmbeddedServer(folder, settings=SERVER)
    async with server as dsn:
        yield server, dsn


async def world(server_dsn: str, size: float) -> str:
    """The address of a filled database, made unless it is there from an earlier run."""
    name = f"scale_{round(size * 10_000)}"
    dsn = database_named(server_dsn, name)
    async with plain_connection(server_dsn) as connection:
        if await connection.fetchval("select true from pg_database where datname = $1", name):
            say(f"{name} is there already")
            await freshen(dsn)
            return dsn
        await connection.execute(f"create database {name}_making")
    making = database_named(server_dsn, f"{name}_making")
    async with await Database.connect(making, size=1) as database:
        await migrate(database)
    began = time.monotonic()
    async with plain_connection(making) as connection:
        await fill(connection, size, lambda what: say(f"{name}: {what} after {time.monotonic() - began:.0f} s"))
    async with plain_connection(server_dsn) as connection:
        await connection.execute(f"alter database {name}_making rename to {name}")
    return dsn


async def freshen(dsn: str) -> None:
    """Of an earlier run: to the schema of today, and what was under way then is under way now."""
    async with await Database.connect(dsn, size=1) as database:
        await migrate(database)
        for statement in UNDER_WAY:
            await database.execute(statement)


def flags_for(dsn: str, folder: Path) -> dict[str, str]:
    return {"database.url": dsn, "service.data_dir": str(folder), "log.level": "error", "database.pool_size": "4"}


class Meter:
    """What was spent between two looks, on the server's side."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._server = parent_of(connection.get_server_pid())

    async def look(self) -> tuple[float, float, int]:
        return time.monotonic(), server_cpu_s(self._server), await blocks_so_far(self._connection)

    async def since(self, before: tuple[float, float, int], ended: float, cpu_s: float = 0, mb: float = 0) -> Figure:
        await asyncio.sleep(SESSION_ENDS_S)
        _, cpu, blocks = await self.look()
        spent = cpu_s + cpu - before[1]
        return Figure(round(1000 * (ended - before[0]), 1), round(1000 * spent, 1), blocks - before[2], round(mb, 1))


async def chores(dsn: str, folder: Path, meter: Meter) -> dict[str, Figure]:
    """Each done twice: the first time does what has waited, the second is what it costs every time."""
    figures = {}
    settings = load(Given(flags=flags_for(dsn, folder)))
    async with open_services(settings) as services:
        names = [chore.name for chore in maintenance_of(services).chores()]
        await maintenance_of(services).once()
    for name in names:
        before = await meter.look()
        # Sessions tell the server what they touched when they end.
        async with open_services(settings) as services:
            await next(chore for chore in maintenance_of(services).chores() if chore.name == name).work()
        figures[name] = await meter.since(before, time.monotonic())
        say(f"  {name:32} {told(figures[name])}")
    return figures


async def commands(dsn: str, folder: Path, meter: Meter) -> dict[str, Figure]:
    figures = {}
    environment = {**os.environ, "HEADWATER_DATABASE__URL": dsn, "HEADWATER_SERVICE__DATA_DIR": str(folder)}
    for command in COMMANDS:
        words = [word.replace("Publisher-", "Publisher ") for word in command.split()]
        before = await meter.look()
        ended, cpu_s, mb = await asyncio.to_thread(run_command, words, environment)
        figures[command] = await meter.since(before, ended, cpu_s, mb)
        say(f"  {command:32} {told(figures[command])}")
    return figures


# A process begins with the memory of the one it was forked from: a small one starts the command and tells what it used.
LAUNCHER = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def run_command(words: list[str], environment: Mapping[str, str]) -> tuple[float, float, float]:
    """When it had ended, its processor time, and its largest memory in MB."""
    launcher = [sys.executable, "-S", "-E", "-c", LAUNCHER]
    program = [sys.executable, "-m", "headwater", *words]
    done = subprocess.run([*launcher, *program], env=dict(environment), capture_output=True, check=True, text=True)
    ended = time.monotonic()
    code, cpu_s, mb = json.loads(done.stdout)
    assert code in (0, 1), f"{' '.join(words)}: {done.stderr}"
    return ended, cpu_s, mb


async def rest(connection: Any) -> None:
    """Nothing is due for the next hours."""
    for statement in REST:
        await connection.execute(statement)


async def idle_statements_per_s(server: EmbeddedServer, dsn: str, folder: Path, served: Served) -> float:
    """Of an `up` with nothing to do, by the server's own log, once the look at every source after its start is over."""
    async with (
        plain_connection(dsn) as connection,
        child_processes("benchmarks.roles", [task(dsn, folder, served, "up")]),
    ):
        await asyncio.sleep(IDLE_SECONDS / 2)
        await connection.execute("alter system set log_statement = 'all'")
        await connection.execute("select pg_reload_conf()")
        said = HOURLY
        while HOURLY in said:
            before = len(logged(server))
            await asyncio.sleep(IDLE_SECONDS)
            said = logged(server)[before:]
        await connection.execute("alter system reset log_statement")
        await connection.execute("select pg_reload_conf()")
    return len(STATEMENT.findall(said)) / IDLE_SECONDS


def logged(server: EmbeddedServer) -> str:
    return "".join(file.read_text(errors="replace") for file in sorted((server.directory / "log").iterdir()))


def task(dsn: str, folder: Path, served: Served, role: str) -> dict[str, Any]:
    flags = {
        **flags_for(dsn, folder),
        "fetch.user_agent": USER_AGENT,
        "poll.tick": "500ms" if role == "poll" else "60s",
        "politeness.delay": f"{DELAY.total_seconds()}s",
        "network.allow": ",".join(f"{place}:{served.port}" for place in served.places),
    }
    return {"flags": flags, "port": served.port, "addresses": dict(served.addresses), "role": role}


def feeds_of(served: Served) -> dict[str, str]:
    """The first feed of each publisher, by its home; the world there is made anew from the same seed."""
    world = World(1, POLLED_HOSTS * 3, start=WORLD_BEGINS, rate=5.0, crawl_delays=())
    return {one.home: one.feeds[0].url for one in world.publishers if one.home in served.urls and one.feeds}


async def followed(database: Database, home: str, feed: str) -> UUID:
    """A source for a publisher; in a folder of an earlier run it is there already."""
    try:
        async with database.transaction() as connection:
            return await take_up(connection, WantedSource(Profile(home), feeds=(feed,)), "benchmark", DELAY)
    except UsageError:
        return (await find_source(database, home)).id


async def polls_per_cpu_s(dsn: str, folder: Path, served: Served) -> float:
    """Of feeds that are polled again as soon as they may be: mostly unchanged, as most polls are."""
    order = task(dsn, folder, served, "poll")
    async with open_services(load(Given(flags=order["flags"]))) as services:
        sources = []
        for home, feed in feeds_of(served).items():
            sources.append(await followed(services.database, home, feed))
        async with plain_connection(dsn) as raw, child_processes("benchmarks.roles", [order]) as (roles,):
            server = parent_of(raw.get_server_pid())

            async def spent() -> float:
                return cpu_s_of([roles.pid]) + server_cpu_s(server)

            await asyncio.sleep(POLL_SECONDS / 4)
            cpu, runs, until = await spent(), await raw.fetchval(RUNS, sources), time.monotonic() + POLL_SECONDS
            while time.monotonic() < until:
                await raw.execute(DUE_AGAIN, sources)
                await asyncio.sleep(0.2)
            made: int = await raw.fetchval(RUNS, sources) - runs
            return made / (await spent() - cpu)


def told(figure: Figure) -> str:
    return f"{figure.ms:9,.0f} ms {figure.cpu_ms:9,.0f} ms CPU {figure.blocks:10,} blocks {figure.mb:6,.0f} MB"


async def measured(dsn: str, folder: Path) -> tuple[dict[str, Figure], dict[str, Figure]]:
    async with plain_connection(dsn) as connection:
        meter = Meter(connection)
        return await chores(dsn, folder, meter), await commands(dsn, folder, meter)


def growth_of(small: Mapping[str, Figure], large: Mapping[str, Figure]) -> dict[str, float]:
    return {
        name: round(large[name].blocks / max(one.blocks, SMALLEST_BLOCKS), 2)
        for name, one in small.items()
        if name not in NOT_JUDGED
    }


async def run(size: float, folder: Path) -> dict[str, Any]:
    async with server_in(folder / "database") as (server, server_dsn):
        dsns, results = [], []
        for one in (size / 10, size):
            # Measured at once: of what was logged in the last minutes each has its share.
            dsns.append(await world(server_dsn, one))
            say(f"{counts_at(one)}")
            results.append(await measured(dsns[-1], folder))
        with served_web((), POLLED_HOSTS, 5) as served:
            async with plain_connection(dsns[1]) as connection:
                await rest(connection)
            idle = await idle_statements_per_s(server, dsns[1], folder, served)
            say(f"idle: {idle:.1f} statements/s")
            polls = await polls_per_cpu_s(dsns[1], folder, served)
            say(f"{polls:.1f} polls for a second of processor time")
    (small_chores, small_commands), (large_chores, large_commands) = results
    growth = growth_of(small_chores | small_commands, large_chores | large_commands)
    worst = max(growth, key=lambda name: growth[name])
    return {
        "benchmark": "scale",
        "size": size,
        "worst_growth": growth[worst],
        "worst": worst,
        "status_ms": large_commands["status"].ms,
        "polls_per_cpu_s": round(polls, 1),
        "idle_statements_per_s": round(idle, 1),
        "slowest_command_ms": max(one.ms for name, one in large_commands.items() if name not in NOT_JUDGED),
        "largest_command_mb": max(one.mb for one in large_commands.values()),
        "beyond_goals": sorted(
            name
            for name, one in large_commands.items()
            if name not in NOT_JUDGED and (one.cpu_ms > GOAL_MS or one.mb > GOAL_MB)
        )
        + ["idle"] * (idle > GOAL_STATEMENTS),
        "growth": growth,
        "commands": {name: asdict(one) for name, one in large_commands.items()},
        "chores": {name: asdict(one) for name, one in large_chores.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--size", type=float, default=WHOLE, help="share of the whole; a tenth of it is measured, too")
    parser.add_argument("--quick", action="store_true", help=f"the same as --size {TENTH}")
    parser.add_argument("--folder", type=Path, help="keep the databases here, and use what is there")
    asked = parser.parse_args()
    size = TENTH if asked.quick else asked.size
    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if asked.folder:
        asked.folder.mkdir(parents=True, exist_ok=True)
        figures = asyncio.run(run(size, asked.folder))
    else:
        with empty_folder() as folder:
            figures = asyncio.run(run(size, folder))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
