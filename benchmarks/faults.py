"""Faults let loose on 20,000 feeds: the time until work is back at its rate, and all that was lost or charged.

Run: python -m benchmarks.faults [--feeds N] [--fault NAME …] [--quick]

Simulated publishers in a process of their own, an embedded PostgreSQL with a role of its own for us, and the roles
`poll`, `fetch` and `maintain` in a process each, with usual settings. Polls and documents are counted every second.
Each fault begins when the rate is steady and lasts a while; `headwater status` is run meanwhile as a person would,
and must say it. Work is back when its rate over ten seconds is four fifths of that before the fault, or nine tenths
after a mere restart of the database. At the end nothing is doubted, nothing is charged to a page or a feed, counters
equal a recount, and no host was asked too soon, by its own records.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.faults_world import Web, served_web
from benchmarks.frontier_spent import parent_of
from benchmarks.frontier_world import database_named, plain_connection
from benchmarks.path_sides import USER_AGENT, empty_folder
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.discover.adding import WantedSource, take_up
from headwater.run.processes import child_processes
from headwater.sources.source import Profile

NAME, ROLE = "faults", "headwater_faults"
ROLES = ("poll", "fetch", "maintain")
DELAY = timedelta(seconds=1)
AT_ONCE = 500
DONE = "select (select count(*) from runs) + (select count(*) from documents)"
SESSIONS = f"select pg_terminate_backend(pid) from pg_stat_activity where usename = '{ROLE}'"
DOUBTED = "select count(*) from url_frontier where held = 'suspect'"
CHARGED_PAGES = "select count(*) from url_frontier where retry_count > 0 or crash_count > 0 or status = 'dead'"
CHARGED_FEEDS = "select count(*) from channels where consecutive_errors > 0"
UNSETTLED = "select count(*) from url_frontier where status = 'fetching'"
# Of the rate before a fault, over so many seconds.
BACK_SHARE, BACK_WINDOW_S = 0.8, 10
GOAL_S = 90
STEADY_S = 20
SLOWEST_S = 240


@dataclass(slots=True)
class Stage:
    web: Web
    server: EmbeddedServer
    server_dsn: str
    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    start: Callable[[str], Awaitable[None]] = field(init=False)

    @property
    def dsn(self) -> str:
        return database_named(self.server_dsn, NAME)

    @property
    def our_dsn(self) -> str:
        """That of our own role."""
        scheme, _, rest = self.dsn.partition("://")
        return f"{scheme}://{ROLE}@{rest.partition('@')[2] or rest}"

    async def tell(self, statement: str) -> Any:
        async with plain_connection(self.dsn) as connection:
            return await connection.fetchval(statement)


@dataclass(frozen=True, slots=True)
class Fault:
    seconds: float
    begin: Callable[[Stage], Awaitable[None]]
    end: Callable[[Stage], Awaitable[None]]
    said: str  # by `headwater status` meanwhile
    back_share: float = BACK_SHARE


async def limit_connections(stage: Stage) -> None:
    await stage.tell(f"alter role {ROLE} connection limit 4")
    await stage.tell(SESSIONS)


async def allow_connections(stage: Stage) -> None:
    await stage.tell(f"alter role {ROLE} connection limit -1")


async def server_processes(stage: Stage) -> list[int]:
    """The postmaster, and all its children."""
    async with plain_connection(stage.dsn) as connection:
        postmaster = parent_of(connection.get_server_pid())
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *map(int, children)]


class Stalled:
    """Every process of the server stands still, and its clients wait."""

    def __init__(self) -> None:
        self._processes: list[int] = []

    async def begin(self, stage: Stage) -> None:
        self._processes = await server_processes(stage)
        self._signal(signal.SIGSTOP)

    async def end(self, stage: Stage) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._processes:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


async def crash_server(stage: Stage) -> None:
    """Postmaster and all, without a word."""
    for pid in await server_processes(stage):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def start_server(stage: Stage) -> None:
    await stage.server.start()


async def restart_server(stage: Stage) -> None:
    """Fast, as an administrator does it: `status` has no time to notice."""
    postmaster, *_ = await server_processes(stage)
    os.kill(postmaster, signal.SIGINT)
    while Path(f"/proc/{postmaster}").exists():
        await asyncio.sleep(0.02)
    await stage.server.start()


async def nothing(stage: Stage) -> None:
    pass


async def stop_web(stage: Stage) -> None:
    stage.web.served.stop()


async def start_web(stage: Stage) -> None:
    stage.web.served.go_on()


def killed(*names: str) -> Callable[[Stage], Awaitable[None]]:
    async def kill(stage: Stage) -> None:
        for name in names:
            stage.processes[name].kill()

    return kill


def started(*names: str) -> Callable[[Stage], Awaitable[None]]:
    async def start(stage: Stage) -> None:
        for name in names:
            await stage.start(name)

    return start


_stalled = Stalled()
FAULTS = {
    "connections": Fault(60, limit_connections, allow_connections, r"connection"),
    "stall": Fault(28, _stalled.begin, _stalled.end, r"does not answer"),
    "restart": Fault(1, restart_server, nothing, r"", back_share=0.9),
    "crash": Fault(15, crash_server, start_server, r"does not answer|does not let us in"),
    "network": Fault(90, stop_web, start_web, r"[Nn]etwork"),
    "workers": Fault(80, killed("poll", "fetch"), started("poll", "fetch"), r"poll 0.*fetch 0"),
    "maintain": Fault(60, killed("maintain"), started("maintain"), r"maintain"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    before_per_s: float
    under_per_s: float
    back_after_s: float | None  # None: not within the time that was given
    status_said_it: bool
    status: str
    doubted: int
    charged_pages: int
    charged_feeds: int

    @property
    def is_well(self) -> bool:
        is_back = self.back_after_s is not None and self.back_after_s <= GOAL_S
        return is_back and self.status_said_it and not self.doubted


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Counter:
    """Polls and documents so far, each second, whatever the database is going through."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self.seen: list[tuple[float, int]] = []

    async def run(self) -> None:
        while True:
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
                connection = await asyncpg.connect(self._dsn, timeout=5, command_timeout=10)
                try:
                    while True:
                        self.seen.append((time.monotonic(), await connection.fetchval(DONE)))
                        await asyncio.sleep(1)
                finally:
                    connection.terminate()
            await asyncio.sleep(1)

    def rate(self, since: float, until: float) -> float | None:
        """Per second; None where too little was seen."""
        inside = [(moment, done) for moment, done in self.seen if since <= moment <= until]
        if len(inside) < 2 or inside[-1][0] - inside[0][0] < (until - since) / 2:
            return None
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    async def is_back(self, healed: float, goal: float) -> float | None:
        while time.monotonic() - healed < SLOWEST_S:
            now = time.monotonic()
            rate = self.rate(now - BACK_WINDOW_S, now)
            if now - healed >= BACK_WINDOW_S and rate is not None and rate >= goal:
                return now - healed - BACK_WINDOW_S
            await asyncio.sleep(1)
        return None


async def status_of(stage: Stage, folder: Path) -> str:
    environment = {
        **os.environ,
        "HEADWATER_DATABASE__URL": stage.our_dsn,
        "HEADWATER_SERVICE__DATA_DIR": str(folder),
        "HEADWATER_LOG__LEVEL": "error",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "headwater", "status"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return said.decode(errors="replace")


async def endure(fault: Fault, stage: Stage, counter: Counter, folder: Path, usual: float | None) -> Outcome:
    """`usual`: the rate before the first fault. What a fault left behind is caught up with faster than that."""
    now = time.monotonic()
    before = counter.rate(now - STEADY_S, now) or 0.0
    assert before, "it ran out of work: give more with --feeds"
    began = time.monotonic()
    await fault.begin(stage)
    try:
        # Late enough for it to be noticed, early enough to hear of it while it lasts.
        await asyncio.sleep(fault.seconds * 0.6)
        said = await status_of(stage, folder)
        await asyncio.sleep(max(0.0, began + fault.seconds - time.monotonic()))
    finally:
        await fault.end(stage)
    healed = time.monotonic()
    back = await counter.is_back(healed, fault.back_share * min(before, usual or before))
    under = counter.rate(began, healed)
    return Outcome(
        round(before, 1),
        round(under or 0.0, 1),
        None if back is None else round(back, 1),
        re.search(fault.said, said) is not None,
        said,
        await stage.tell(DOUBTED),
        await stage.tell(CHARGED_PAGES),
        await stage.tell(CHARGED_FEEDS),
    )


async def follow(dsn: str, feeds: Sequence[tuple[str, str]]) -> None:
    async with await Database.connect(dsn, size=1) as database:
        for first in range(0, len(feeds), AT_ONCE):
            async with database.transaction() as connection:
                for home, feed in feeds[first : first + AT_ONCE]:
                    await take_up(connection, WantedSource(Profile(home), feeds=(feed,)), "benchmark", DELAY)
            say(f"{min(first + AT_ONCE, len(feeds)):,} of {len(feeds):,} feeds are followed")


def order_for(stage: Stage, role: str, folder: Path) -> dict[str, Any]:
    served = stage.web.served
    flags = {
        "database.url": stage.our_dsn,
        "service.data_dir": str(folder),
        "log.level": "error",
        "fetch.user_agent": USER_AGENT,
        "politeness.delay": f"{DELAY.total_seconds()}s",
        "network.allow": f"127.1.0.0/16:{served.port}",
    }
    return {"role": role, "flags": flags, "port": served.port, "addresses": served.addresses}


@asynccontextmanager
async def stage_for(feeds: int, folder: Path) -> AsyncIterator[Stage]:
    with served_web(feeds) as web:
        server = EmbeddedServer(folder / "database")
        async with server as server_dsn:
            stage = Stage(web, server, server_dsn)
            async with plain_connection(server_dsn) as connection:
                await connection.execute(f"create role {ROLE} login")
                await connection.execute(f"create database {NAME} owner {ROLE}")
            async with await Database.connect(stage.our_dsn, size=1) as database:
                await migrate(database)
            await follow(stage.our_dsn, web.served.feeds)
            async with AsyncExitStack() as running:

                async def start(role: str) -> None:
                    order = order_for(stage, role, folder)
                    (stage.processes[role],) = await running.enter_async_context(
                        child_processes("benchmarks.roles", [order])
                    )

                stage.start = start
                for role in ROLES:
                    await start(role)
                yield stage


async def run(feeds: int, names: Sequence[str], folder: Path) -> dict[str, Any]:
    outcomes: dict[str, Outcome] = {}
    usual: float | None = None
    async with stage_for(feeds, folder) as stage:
        counter = Counter(stage.dsn)
        counting = asyncio.create_task(counter.run())
        await asyncio.sleep(2 * STEADY_S)
        for name in names:
            await asyncio.sleep(STEADY_S)
            outcomes[name] = one = await endure(FAULTS[name], stage, counter, folder, usual)
            usual = usual or one.before_per_s
            say(
                f"{name:12} {one.before_per_s:6.1f}/s before, {one.under_per_s:6.1f}/s under, "
                f"back after {one.back_after_s} s; {one.doubted} doubted, {one.charged_pages} pages and "
                f"{one.charged_feeds} feeds charged; status {'said it' if one.status_said_it else 'DID NOT SAY IT'}"
            )
        counting.cancel()
        for process in stage.processes.values():
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()
        last = await ending(stage, folder)
    return {
        "benchmark": "faults",
        "feeds": feeds,
        "all_well": all(one.is_well for one in outcomes.values()) and last["counters_equal"],
        "slowest_back_s": max(SLOWEST_S if one.back_after_s is None else one.back_after_s for one in outcomes.values()),
        **last,
        "faults": {name: asdict(replace(one, status="")) for name, one in outcomes.items()},
        "status": {name: one.status for name, one in outcomes.items()},
    }


async def ending(stage: Stage, folder: Path) -> dict[str, Any]:
    """With nobody at work."""
    environment = {**os.environ, "HEADWATER_DATABASE__URL": stage.our_dsn, "HEADWATER_SERVICE__DATA_DIR": str(folder)}
    audit = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "headwater", "audit", "conservation"),
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
    )
    report = await asyncio.to_thread(stage.web.report)
    return {
        "counters_equal": await audit.wait() == 0,
        "polls": await stage.tell("select count(*) from runs"),
        "documents": await stage.tell("select count(*) from documents"),
        "still_fetching": await stage.tell(UNSETTLED),
        "requests": report["requests"],
        "smallest_gap_ms": report["smallest_gap_ms"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--feeds", type=int, default=20_000)
    parser.add_argument("--fault", dest="faults", action="append", choices=tuple(FAULTS), help="only this one")
    parser.add_argument("--quick", action="store_true", help="2,000 feeds")
    asked = parser.parse_args()
    # To be told to end is no reason to leave a server behind: treat it like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with empty_folder() as folder:
        figures = asyncio.run(run(2_000 if asked.quick else asked.feeds, asked.faults or tuple(FAULTS), folder))
    for name, said in figures.pop("status").items():
        say(f"--- headwater status during {name}\n{said}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
