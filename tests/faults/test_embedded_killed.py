"""The embedded PostgreSQL killed under its users: one of them starts it again, and all go on by themselves."""

import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.faults.standing import LIMIT_SECONDS, all_fetched, flags_for, queue, roles, small_web, until

from headwater.clock import SystemClock
from headwater.database.embedded import EmbeddedServer
from headwater.database.pool import Database
from headwater.database.postmaster import running_pid
from headwater.database.reviving import keep_serving
from headwater.log import make_logger

pytestmark = pytest.mark.long

QUICK = {"fsync": "off", "shared_buffers": "16MB"}
NO_PAUSE = timedelta()
HOSTS = [f"h{number}.test" for number in range(10)]


@pytest.fixture
async def server(open_folder: Path) -> AsyncIterator[EmbeddedServer]:
    embedded = EmbeddedServer(open_folder / "postgresql", settings=QUICK)
    await embedded.start()
    yield embedded
    await embedded.stop()


@asynccontextmanager
async def kept(server: EmbeddedServer, pause: timedelta = NO_PAUSE) -> AsyncIterator[io.StringIO]:
    """Watched as a role watches it; the log of that."""
    log = io.StringIO()
    logger = make_logger("info", "json", stream=log)
    keeping = asyncio.create_task(keep_serving(server, SystemClock(), logger, every=0.05, pause=pause))
    yield log
    assert not keeping.done()
    keeping.cancel()
    await asyncio.wait([keeping])


async def pid_of(server: EmbeddedServer) -> int | None:
    return running_pid(server.directory / "data")


async def kill(server: EmbeddedServer, how: signal.Signals = signal.SIGKILL) -> int:
    pid = await pid_of(server)
    assert pid
    # As if nobody had started it again for long.
    os.utime(server.directory / "gate.lock", (0, 0))
    os.kill(pid, how)
    return pid


async def other_than(server: EmbeddedServer, killed: int) -> int | None:
    """The number of a server that is not the one that was killed, and answers."""
    pid = await pid_of(server)
    return pid if pid not in (None, killed) and await server._cluster.answers() else None


async def test_two_roles_outlive_their_server_and_one_of_them_starts_it_again(open_folder: Path) -> None:
    server = EmbeddedServer(open_folder / "postgresql")
    async with small_web(HOSTS) as (_, port):
        flags = flags_for(None, port, service__data_dir=str(open_folder), lease__sweep_every="1s")
        tasks = [
            {"flags": flags, "port": port, "owner": "one", "maintains": True},
            {"flags": flags, "port": port, "owner": "two"},
        ]
        async with roles(tasks) as two:
            async with await Database.connect(server.dsn, size=1) as database:
                await queue(database, [f"http://{host}/{page}" for host in HOSTS for page in range(5)])
                await until(lambda: all_fetched(database, 10))
            killed = await kill(server)
            await until(lambda: other_than(server, killed))
            async with await Database.connect(server.dsn, size=1) as database:
                await until(lambda: all_fetched(database, 50))
                assert await database.fetchval("select count(*) from url_frontier where status = 'dead'") == 0
            assert [await one.end() for one in two] == [0, 0]
    assert len([line for one in two for line in one.logged("database_started_again")]) == 1
    assert await pid_of(server) is None


async def test_up_starts_its_server_again(open_folder: Path) -> None:
    server = EmbeddedServer(open_folder / "postgresql")
    program = str(Path(sys.executable).with_name("headwater"))
    surroundings = {"PATH": os.environ["PATH"], "XDG_CONFIG_HOME": str(open_folder)}
    command = (program, "--set", f"service.data_dir={open_folder}", "--set", "log.format=json", "up")
    process = await asyncio.create_subprocess_exec(*command, env=surroundings, stderr=subprocess.PIPE)
    try:
        await until_line(process, b"what just happened")
        async with await Database.connect(server.dsn, size=1) as database:
            await until(lambda: are_listening(database))
        killed = await kill(server)
        await until_line(process, b"database_started_again")
        assert await other_than(server, killed)
        process.send_signal(signal.SIGINT)
        await until_line(process, b"Stopped")
        async with asyncio.timeout(LIMIT_SECONDS):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    assert await pid_of(server) is None


async def test_a_server_that_was_shut_down_in_order_stays_down(server: EmbeddedServer) -> None:
    async with kept(server) as log:
        await kill(server, signal.SIGINT)
        await until(lambda: said(log, "database_was_shut_down"))
        assert await pid_of(server) is None
        assert "database_started_again" not in log.getvalue()
        await server.start()
        await kill(server)
        await until(lambda: said(log, "database_started_again"))


async def test_the_last_one_out_stops_the_server_and_nobody_starts_it_again(
    server: EmbeddedServer, open_folder: Path
) -> None:
    second = EmbeddedServer(open_folder / "postgresql", settings=QUICK)
    async with kept(second) as log:
        await second.start()
        await second.stop()
        await server.stop()
        assert await pid_of(server) is None
        assert not await second.revive(datetime.now(UTC), NO_PAUSE)
    assert "database_started_again" not in log.getvalue()


async def test_a_server_that_cannot_start_is_tried_again_after_a_pause_by_all_together(
    server: EmbeddedServer, open_folder: Path
) -> None:
    settings = server.directory / "data" / "postgresql.auto.conf"
    second = EmbeddedServer(open_folder / "postgresql", settings=QUICK)
    await second.start()
    before = settings.read_bytes()
    settings.write_text("no_such_setting = 1\n")
    await kill(server)
    async with kept(server, timedelta(hours=1)) as one, kept(second, timedelta(hours=1)) as two:
        await until(lambda: either(one, two, "database_cannot_start"))
        for _ in range(3):
            assert not await server.revive(datetime.now(UTC), timedelta(hours=1))
        assert (one.getvalue() + two.getvalue()).count("database_cannot_start") == 1
    settings.write_bytes(before)
    async with kept(second) as log:
        await until(lambda: said(log, "database_started_again"))
    await second.stop()
    assert await pid_of(server)


async def test_a_data_folder_that_was_taken_away_is_not_made_anew(server: EmbeddedServer) -> None:
    killed = await kill(server)
    data = server.directory / "data"
    data.rename(server.directory / "elsewhere")
    assert killed
    assert not server.was_killed
    assert not await server.revive(datetime.now(UTC), NO_PAUSE)
    assert not data.exists()
    (server.directory / "elsewhere").rename(data)


async def are_listening(database: Database) -> bool:
    """Poller, reader of pushes, worker and deliverer have begun: each has a listener."""
    asked = "select count(*) from pg_stat_activity where application_name = 'headwater up listener'"
    return bool(await database.fetchval(asked) == 4)


async def until_line(process: asyncio.subprocess.Process, words: bytes) -> None:
    assert process.stderr
    seen: list[bytes] = []
    async with asyncio.timeout(LIMIT_SECONDS):
        while not seen or words not in seen[-1]:
            seen.append(await process.stderr.readline())
            assert seen[-1], b"".join(seen).decode()


async def said(log: io.StringIO, event: str) -> bool:
    return event in log.getvalue()


async def either(one: io.StringIO, two: io.StringIO, event: str) -> bool:
    return await said(one, event) or await said(two, event)
