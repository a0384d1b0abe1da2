"""F47: nobody reads our log, or there is no room for it. Work goes on, and the log says what it lost."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest
from tests.faults.standing import CHATTER_LENGTH, LIMIT_SECONDS, all_fetched, flags_for, queue, role, small_web, until

from headwater.database.pool import Database
from headwater.lines import MOST_WAITING_BYTES

pytestmark = pytest.mark.long

HOSTS = [f"h{number}.test" for number in range(10)]
# A line is a little longer than its text.
TOO_MUCH = MOST_WAITING_BYTES * 3 // 2 // CHATTER_LENGTH


@asynccontextmanager
async def reader(into: Path) -> AsyncIterator[tuple[int, asyncio.subprocess.Process]]:
    """Another process that reads what is written to this descriptor, into a file."""
    reading, writing = os.pipe()
    with into.open("wb") as file:
        process = await asyncio.create_subprocess_exec("cat", stdin=reading, stdout=file)
    os.close(reading)
    try:
        yield writing, process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_log_reader_that_stops_does_not_stop_a_worker(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with small_web(HOSTS) as (_, port), reader(log) as (writing, cat):
        await queue(database, [f"http://{host}/{page}" for host in HOSTS for page in range(3)])
        cat.send_signal(signal.SIGSTOP)
        task = {"flags": flags_for(database_url, port), "port": port, "owner": "w", "chatter": TOO_MUCH}
        async with role(task, log_to=writing) as worker:
            os.close(writing)
            await until(lambda: all_fetched(database, 30))
            cat.send_signal(signal.SIGCONT)
            assert await worker.end() == 0
        async with asyncio.timeout(LIMIT_SECONDS):
            await cat.wait()
    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    dropped = sum(line["lines"] for line in lines if line["event"] == "log_lines_dropped")
    assert dropped > 0
    assert sum(line["event"] == "chatter" for line in lines) + dropped >= TOO_MUCH
    assert await database.fetchval("select count(*) from url_frontier where crash_count > 0") == 0


async def test_a_worker_ends_although_nobody_ever_reads_its_log(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    async with small_web(HOSTS) as (_, port), reader(tmp_path / "log") as (writing, cat):
        cat.send_signal(signal.SIGSTOP)
        task = {"flags": flags_for(database_url, port), "port": port, "owner": "w", "chatter": TOO_MUCH}
        async with role(task, log_to=writing) as worker:
            os.close(writing)
            assert await worker.end() == 0


@pytest.mark.parametrize("fate", ["its reader left", "its disk is full"])
async def test_a_log_that_cannot_be_written_does_not_stop_a_worker(
    database: Database, database_url: str, fate: str, tmp_path: Path
) -> None:
    async with small_web(HOSTS) as (_, port), reader(tmp_path / "log") as (pipe, cat):
        writing = pipe if fate == "its reader left" else os.open("/dev/full", os.O_WRONLY)
        cat.kill()
        await cat.wait()
        await queue(database, [f"http://{host}/one" for host in HOSTS])
        task = {"flags": flags_for(database_url, port), "port": port, "owner": "w", "chatter": 100}
        async with role(task, log_to=writing) as worker:
            await until(lambda: all_fetched(database, len(HOSTS)))
            assert await worker.end() == 0
        for descriptor in {pipe, writing}:
            os.close(descriptor)
