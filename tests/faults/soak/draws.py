"""The faults that a soak draws from, by their rows in the page on reliability. Each begins and ends by itself."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import asyncpg
from tests.faults.proxy import Proxy
from tests.faults.soak.crew import Crew, Member
from tests.faults.soak.search_server import SearchServer
from tests.faults.soak.town import TownHall

from headwater.chance import Random
from headwater.database.embedded import EmbeddedServer
from headwater.database.postmaster import running_pid

# The default of `lease.duration`, as which all roles run.
LEASE_SECONDS = 60.0
KILLS, KILL_EVERY_SECONDS = 6, 5.0
FROZEN_SECONDS = LEASE_SECONDS + 20
CUTS = 3
CUT_ROUNDS, CUT_EVERY_SECONDS = 3, 10.0
SNAPSHOT_SECONDS = 100.0
SINK_AWAY_SECONDS = 60.0
SICK_SECONDS, SICK_SHARE = 20.0, 0.5
RETRY_AFTER_SECONDS, TURNED_AWAY = 25.0, 20
LOOK_EVERY_SECONDS = 0.5
RATE_WINDOW_SECONDS = 5.0
SLOWEST_SECONDS = 240.0

HELD = "select bucket, url_hash from slots where owner = $1 and url_hash is not null"
# Neither held by somebody else, nor brought to an end since.
NOT_AGAIN = """
    select count(*) from unnest($1::smallint[], $2::bytea[]) as held (bucket, url_hash)
    where not exists (select from slots s where s.bucket = held.bucket and s.url_hash = held.url_hash and s.owner <> $3)
      and not exists (select from fetch_log l where l.bucket = held.bucket and l.url_hash = held.url_hash
                                                and l.at > $4 and l.verdict <> 'crashed')"""
SESSIONS = """
    select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'headwater%'"""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass
class Figures:
    """What the faults showed while they lasted."""

    drawn: dict[str, int] = field(default_factory=dict)
    killed: int = 0
    entries_held: int = 0
    given_back_seconds: list[float] = field(default_factory=list)
    run_again_seconds: list[float] = field(default_factory=list)
    restart_back_seconds: list[float] = field(default_factory=list)
    slow_ends: list[str] = field(default_factory=list)
    left_behind: int = 0
    cuts: int = 0
    sessions_ended: int = 0


@dataclass
class Stage:
    town: TownHall
    server: EmbeddedServer
    dsn: str
    proxy: Proxy
    crew: Crew
    search: SearchServer
    random: Random
    figures: Figures = field(default_factory=Figures)
    # Requests so far, each second.
    seen: list[tuple[float, int]] = field(default_factory=list)
    at_database: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, query: str, *values: Any) -> list[asyncpg.Record]:
        """By a connection of its own, as often as it takes."""
        while True:
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
                connection = await asyncpg.connect(self.dsn, timeout=5, command_timeout=60)
                try:
                    found: list[asyncpg.Record] = await connection.fetch(query, *values)
                    return found
                finally:
                    connection.terminate()
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    async def ask_one(self, query: str, *values: Any) -> Any:
        return (await self.ask(query, *values))[0][0]

    def rate(self, since: float, until: float) -> float:
        inside = [(moment, count) for moment, count in self.seen if since <= moment <= until]
        if len(inside) < 2:
            return 0.0
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


async def kill(stage: Stage, member: Member) -> None:
    """And see when everything it held is free again, and when it was begun by another."""
    held = await stage.ask(HELD, member.owner)
    moment = await stage.ask_one("select clock_timestamp()")
    member.kill()
    killed = monotonic()
    stage.figures.killed += 1
    stage.figures.entries_held += len(held)
    if not held:
        return
    while await stage.ask(HELD, member.owner) and monotonic() < killed + SLOWEST_SECONDS:
        await asyncio.sleep(LOOK_EVERY_SECONDS)
    stage.figures.given_back_seconds.append(round(monotonic() - killed, 1))
    keys = [row["bucket"] for row in held], [row["url_hash"] for row in held]
    while await stage.ask_one(NOT_AGAIN, *keys, member.owner, moment) and monotonic() < killed + SLOWEST_SECONDS:
        await asyncio.sleep(LOOK_EVERY_SECONDS)
    stage.figures.run_again_seconds.append(round(monotonic() - killed, 1))


def somebody_at(stage: Stage, role: str, *, leaves: int = 0) -> Member | None:
    """One of those at work, where so many others stay."""
    found = stage.crew.at_work(role)
    return stage.random.choice(found) if len(found) > leaves else None


async def kill_a_fetcher(stage: Stage) -> None:
    if victim := somebody_at(stage, "fetch"):
        await kill(stage, victim)


async def kill_again_and_again(stage: Stage) -> None:
    """Any role, one every five seconds."""
    watching = []
    for _ in range(KILLS):
        if victim := somebody_at(stage, stage.random.choice(("fetch", "fetch", "poll", "deliver", "maintain"))):
            watching.append(asyncio.create_task(kill(stage, victim)))
        await asyncio.sleep(KILL_EVERY_SECONDS)
    await asyncio.gather(*watching)


async def freeze_a_fetcher(stage: Stage) -> None:
    if victim := somebody_at(stage, "fetch", leaves=1):
        victim.freeze()
        await asyncio.sleep(FROZEN_SECONDS)
        victim.thaw()


async def end_a_role(stage: Stage) -> None:
    if victim := somebody_at(stage, stage.random.choice(("fetch", "fetch", "poll", "deliver"))):
        code = await victim.end()
        if code != 0:
            stage.figures.slow_ends.append(f"{victim.owner} ended with {code}")
        stage.figures.left_behind += await stage.ask_one("select count(*) from slots where owner = $1", victim.owner)


async def restart_the_database(stage: Stage) -> None:
    async with stage.at_database:
        before = stage.rate(monotonic() - 20, monotonic())
        pid = running_pid(stage.server.directory / "data")
        assert pid
        os.kill(pid, signal.SIGINT)
        while running_pid(stage.server.directory / "data") == pid:
            await asyncio.sleep(0.02)
        await stage.server.start()
        back = monotonic()
    while monotonic() < back + SLOWEST_SECONDS:
        await asyncio.sleep(LOOK_EVERY_SECONDS)
        now = monotonic()
        if now > back + RATE_WINDOW_SECONDS and stage.rate(now - RATE_WINDOW_SECONDS, now) >= 0.9 * before:
            break
    stage.figures.restart_back_seconds.append(round(monotonic() - back - RATE_WINDOW_SECONDS, 1))


async def cut_claims(stage: Stage) -> None:
    planned = stage.proxy.cut("claim_entries", "once it is answered", times=CUTS)
    with suppress(TimeoutError):
        async with asyncio.timeout(LEASE_SECONDS):
            while planned.left:
                await asyncio.sleep(LOOK_EVERY_SECONDS)
    planned.left = 0
    stage.figures.cuts += planned.done


async def end_all_sessions(stage: Stage) -> None:
    for _ in range(CUT_ROUNDS):
        async with stage.at_database:
            stage.figures.sessions_ended += await stage.ask_one(SESSIONS)
        await asyncio.sleep(CUT_EVERY_SECONDS)


async def hold_a_snapshot(stage: Stage) -> None:
    """Idle in a transaction that has an id: vacuum removes nothing that is younger."""
    with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        connection = await asyncpg.connect(stage.dsn)
        try:
            await connection.execute("begin; select txid_current()")
            await asyncio.sleep(SNAPSHOT_SECONDS)
        finally:
            connection.terminate()


async def take_the_search_server_away(stage: Stage) -> None:
    await stage.search.ask("away")
    await asyncio.sleep(SINK_AWAY_SECONDS)
    await stage.search.ask("back")


async def make_names_sick(stage: Stage) -> None:
    stage.crew.tell_all(sick_share=SICK_SHARE)
    await asyncio.sleep(SICK_SECONDS)
    stage.crew.tell_all(sick_share=0.0)


async def turn_visitors_away(stage: Stage) -> None:
    await stage.town.turn_away(stage.random, TURNED_AWAY, RETRY_AFTER_SECONDS)
    await asyncio.sleep(2 * RETRY_AFTER_SECONDS)


FAULTS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "F1": kill_a_fetcher,
    "F3": kill_again_and_again,
    "F7": freeze_a_fetcher,
    "F10": end_a_role,
    "F12": restart_the_database,
    "F15": cut_claims,
    "F17": end_all_sessions,
    "F25": hold_a_snapshot,
    "F32": take_the_search_server_away,
    "F35": make_names_sick,
    "F41": turn_visitors_away,
}
# Only one of each at a time: a second one would end what the first one began.
ALONE = ("F32", "F35")
