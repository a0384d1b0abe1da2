"""F14: PostgreSQL is down for longer than a lease. Nobody starts a request, nothing is half-written, all goes on."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.faults.standing import all_fetched, flags_for, queue, role, small_web, until

from headwater.clock import SystemClock
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.database.postmaster import running_pid
from headwater.frontier.reads import count_both_ways

LEASE_SECONDS = 7.0
HOSTS = [f"h{number}.test" for number in range(6)]


@pytest.fixture
async def server(open_folder: Path) -> AsyncIterator[EmbeddedServer]:
    embedded = EmbeddedServer(open_folder / "pg", settings={"fsync": "off", "shared_buffers": "32MB"})
    yield embedded
    await embedded.stop()


@pytest.mark.long
async def test_a_database_that_is_down_for_longer_than_a_lease_stops_requests_and_loses_nothing(
    server: EmbeddedServer,
) -> None:
    dsn, clock = await server.start(), SystemClock()
    async with small_web(HOSTS) as (web, port):
        async with await Database.connect(dsn, size=1) as database:
            await migrate(database)
            await queue(database, [f"http://{host}/{page}" for page in range(8) for host in HOSTS])
        flags = flags_for(dsn, port, lease__duration=f"{LEASE_SECONDS:g}s", lease__sweep_every="1s")
        async with role({"flags": flags, "port": port, "owner": "w", "maintains": True}) as worker:
            async with await Database.connect(dsn, size=1) as database:
                await until(lambda: all_fetched(database, 12))
            pid = running_pid(server.directory / "data")
            assert pid
            os.kill(pid, signal.SIGINT)
            await worker.until_logged("claim_failed")
            stopped = clock.monotonic()

            async def lease_is_over() -> bool:
                return clock.monotonic() > stopped + LEASE_SECONDS + 2

            await until(lease_is_over)
            late = [visit for visit in web.visits.all() if visit.arrived > stopped + LEASE_SECONDS]
            assert late == []
            await server.start()
            async with await Database.connect(dsn, size=2) as database:
                await until(lambda: all_fetched(database, 48))
                assert await database.fetchval("select count(*) from documents") == 48
                assert await database.fetchval("select count(*) from url_frontier where status = 'dead'") == 0
                # Its worker lived: nobody is blamed for leases that ran out meanwhile.
                assert await database.fetchval("select count(*) from fetch_log where verdict = 'crashed'") == 0
                counted, recounted = await count_both_ways(database)
                assert counted.by_source == recounted.by_source
            assert await worker.end() == 0
