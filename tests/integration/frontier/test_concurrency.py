"""Processes of their own at work on one small world; judged by what they did and when, on the clock they share."""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from tests.integration.frontier.invariants import CHECKS, broken_invariants
from tests.integration.frontier.lease_worker import DELAY, HOSTS
from tests.integration.frontier.stage import add_source, queries
from tests.integration.frontier.surgery import until

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.maintain import fold_counters, rescue
from headwater.frontier.submit import FoundUrl, Submitter, submit

ROOT = Path(__file__).parents[3]
ENOUGH_STARTS = 200
TOLERANCE = 0.005
CREW = {
    "fetch-1": "fetch",
    "fetch-2": "fetch",
    "fetch-3": "fetch",
    "mortal": "fetch",
    "poll-1": "poll",
    "poll-2": "poll",
    "submit-1": "discover",
}


@dataclass
class Process:
    owner: str
    running: asyncio.subprocess.Process
    told: Path

    def events(self) -> list[dict[str, Any]]:
        lines = self.told.read_text().splitlines()
        # A process that was killed may have left half a line.
        return [json.loads(line) for line in lines if line.endswith("}")]

    def starts(self) -> int:
        return len([event for event in self.events() if event["what"] == "start"])

    def tell_to_end(self) -> None:
        assert self.running.stdin is not None
        self.running.stdin.close()


async def start(owner: str, role: str, address: str, source: UUID, folder: Path) -> Process:
    told = folder / f"{owner}.jsonl"
    command = ("-m", "tests.integration.frontier.lease_worker", role, address, owner, str(source))
    pipe = asyncio.subprocess.PIPE
    with told.open("wb") as output:
        running = await asyncio.create_subprocess_exec(sys.executable, *command, stdin=pipe, stdout=output, cwd=ROOT)
    return Process(owner, running, told)


async def make_world(database: Database) -> UUID:
    source = await add_source(database)
    found = [FoundUrl(f"https://{host}/{n}") for host in HOSTS for n in range(30)]
    async with database.transaction() as connection:
        await submit(connection, Submitter(source, EntryOrigin.SITEMAP), found, default_delay=DELAY)
    await database.execute("UPDATE hosts SET max_concurrency = 2 WHERE host = $1", HOSTS[0])
    return source


@pytest.mark.long
async def test_many_processes_keep_every_promise_even_when_one_is_killed(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    source = await make_world(database)
    lease_worker = [await start(owner, role, database_url, source, tmp_path) for owner, role in CREW.items()]
    mortal = next(process for process in lease_worker if process.owner == "mortal")
    watching = asyncio.create_task(watch_counters(database, database_url))
    try:
        await until(lambda: _have_begun([mortal], 10))
        await until(lambda: _holds_a_lease(database, "mortal"))
        mortal.running.kill()
        await until(lambda: _have_begun(lease_worker, ENOUGH_STARTS))
        for process in lease_worker:
            process.tell_to_end()
        codes = {process.owner: await process.running.wait() for process in lease_worker}
    finally:
        for process in lease_worker:
            if process.running.returncode is None:
                process.running.kill()
        watching.cancel()
    assert codes == dict.fromkeys(CREW, 0) | {"mortal": -9}
    looks = (await asyncio.gather(watching, return_exceptions=True))[0]
    assert isinstance(looks, asyncio.CancelledError), looks
    await until(lambda: _all_rescued(database))
    events = [event for process in lease_worker for event in process.events()]
    judge(events)
    assert await broken_invariants(database, SystemClock().now()) == []


def judge(events: list[dict[str, Any]]) -> None:
    starts = defaultdict(list)
    for event in events:
        if event["what"] == "start":
            starts[event["host"]].append(event["at"])
    assert {host: close for host, at in starts.items() if (close := list(too_close(sorted(at))))} == {}
    assert list(twice_at_a_time(events)) == []


def too_close(starts: list[float]) -> Iterator[float]:
    gaps = (later - earlier for earlier, later in pairwise(starts))
    return (gap for gap in gaps if gap < DELAY.total_seconds() - TOLERANCE)


def twice_at_a_time(events: list[dict[str, Any]]) -> Iterator[str]:
    """URLs begun by somebody while somebody else was at them."""
    at_work: dict[str, str] = {}
    for event in sorted((event for event in events if "url" in event and "at" in event), key=lambda event: event["at"]):
        if event["what"] == "end":
            at_work.pop(event["url"], None)
            continue
        if at_work.get(event["url"], "mortal") != "mortal":
            yield event["url"]
        at_work[event["url"]] = event["owner"]


async def watch_counters(database: Database, database_url: str) -> None:
    """As maintenance does while all are at work; and at every moment the numbers must be those of a recount."""
    connection = await asyncpg.connect(database_url)
    try:
        while True:
            await rescue(database)
            await fold_counters(database)
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                assert await connection.fetch(queries.count_entries) == await connection.fetch(queries.recount_entries)
                for claim, check in CHECKS.items():
                    assert await connection.fetch(check) == [], claim
            await asyncio.sleep(0.05)
    finally:
        await connection.close()


async def _have_begun(lease_worker: list[Process], count: int) -> bool:
    return sum(process.starts() for process in lease_worker) >= count


async def _holds_a_lease(database: Database, owner: str) -> bool:
    return bool(await database.fetchval("SELECT count(*) FROM slots WHERE owner = $1", owner))


async def _all_rescued(database: Database) -> bool:
    await rescue(database)
    return not await database.fetchval("SELECT count(*) FROM slots")
