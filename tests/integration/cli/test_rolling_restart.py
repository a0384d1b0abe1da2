"""A rollout under load: every fetch process is replaced by a new one, one after another, as a person would do it."""

import asyncio
import signal
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.faults import invariants
from tests.faults.world import Articles, Workbench
from tests.integration.cli.conftest import LIMIT_SECONDS, Starts
from tests.integration.fetch.conftest import UNHURRIED
from tests.integration.frontier.surgery import until

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb
from headwater.sources.store import create_source

if TYPE_CHECKING:
    import subprocess

# Hosts are addresses of this machine: the programs are started as they are, and resolve no names.
HOSTS, PROCESSES = 24, 3
# Queued at once for every host, whenever fewer than that are left for each.
PAGES_AT_ONCE = 10
PLACES = [f"127.1.0.{number}" for number in range(1, HOSTS + 1)]
DELAY = timedelta(milliseconds=220)
# Longer than any moment in which only two of three work, on a machine that is busy with other things.
LONGEST_STANDSTILL = timedelta(seconds=5)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    clock = SystemClock()
    web = SimWeb({place: Articles() for place in PLACES}, clock=clock, real=clock, random=random_from(1))
    port = await web.start(PLACES)
    async with database.transaction() as connection:
        source = await create_source(connection, "Tests", "http://tests.test/")
    yield Workbench(database, web, port, SimResolver(port, clock=clock), source)
    await web.stop()


class Fleet:
    """Processes of `headwater run fetch`, of which one is replaced at a time."""

    def __init__(self, starts: Starts, database: Database, environment: dict[str, str]) -> None:
        self._starts, self._database, self._environment = starts, database, environment
        self.codes: list[int] = []
        self.said = ""

    async def start(self) -> "subprocess.Popen[str]":
        """When it works."""
        process = self._starts("run", "fetch", **self._environment)

        async def is_seen() -> bool:
            assert process.poll() is None, process.stderr and process.stderr.read()
            query = "select exists (select from role_processes where pid = $1 and role = 'fetch')"
            return bool(await self._database.fetchval(query, process.pid))

        await until(is_seen)
        return process

    async def stop(self, process: "subprocess.Popen[str]") -> None:
        """As systemd and containers do it."""
        process.send_signal(signal.SIGTERM)
        _, said = await asyncio.to_thread(process.communicate, timeout=LIMIT_SECONDS)
        self.said += said
        self.codes.append(process.returncode)


async def queue_more(bench: Workbench, queued: list[str]) -> None:
    begin = len(queued) // HOSTS
    more = [f"http://{place}:{bench.port}/page{begin + number}" for number in range(PAGES_AT_ONCE) for place in PLACES]
    await bench.queue(*more)
    queued += more


async def keep_loaded(bench: Workbench, queued: list[str]) -> None:
    """Nobody ever waits for work."""
    while True:
        waiting = await bench.database.fetchval("select count(*) from url_frontier where status = 'pending'")
        if waiting < HOSTS * PAGES_AT_ONCE:
            await queue_more(bench, queued)
        await asyncio.sleep(0.1)


@pytest.mark.long
async def test_fetchers_replaced_one_by_one_lose_nothing_and_fetch_nothing_twice(
    bench: Workbench, database_url: str, starts: Starts
) -> None:
    pages = list[str]()
    await queue_more(bench, pages)
    fleet = Fleet(
        starts,
        bench.database,
        {
            "HEADWATER_DATABASE__URL": database_url,
            "HEADWATER_NETWORK__ALLOW": f"127.1.0.0/16:{bench.port}",
            "HEADWATER_POLITENESS__DELAY": f"{DELAY.total_seconds()}s",
            "HEADWATER_FETCH__CONTACT": "mailto:test@headwater.test",
            "HEADWATER_EXTRACT__CHILDREN": "1",
            **{f"HEADWATER_{name.upper().replace('.', '__')}": value for name, value in UNHURRIED.items()},
        },
    )
    await bench.database.execute(
        "update hosts set base_delay_ms = $1, delay_ms = $1", DELAY // timedelta(milliseconds=1)
    )
    loading = asyncio.create_task(keep_loaded(bench, pages))
    running = [await fleet.start() for _ in range(PROCESSES)]
    clock = SystemClock()
    began = clock.monotonic()
    for _ in range(PROCESSES):
        new = await fleet.start()
        await fleet.stop(running.pop(0))
        running.append(new)
    ended = clock.monotonic()
    loading.cancel()
    await asyncio.wait([loading])
    await bench.until_settled()
    for process in running:
        await fleet.stop(process)

    visited = [f"http://{visit.host}:{bench.port}{visit.target}" for visit in bench.pages()]
    assert sorted(visited) == sorted(pages)
    assert set(await bench.rows("status, held, crash_count, retry_count")) == {("fetched", None, 0, 0)}
    assert await invariants.broken(bench.database) == []
    assert await invariants.lost_urls(bench.database, pages) == []
    assert await invariants.fetched_without_document(bench.database) == []
    assert invariants.hosts_asked_too_soon(bench.sim.visits.all(), DELAY) == []
    assert {*fleet.codes} <= {0, 130, 143}, fleet.said
    assert "Traceback" not in fleet.said
    meanwhile = [began, *(visit.arrived for visit in bench.pages() if began <= visit.arrived <= ended), ended]
    longest = max(later - earlier for earlier, later in pairwise(meanwhile))
    assert longest < LONGEST_STANDSTILL.total_seconds()
