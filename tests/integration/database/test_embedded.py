import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from headwater.database.embedded import EmbeddedServer
from headwater.database.programs import bundled_programs
from headwater.database.server_user import user_for
from headwater.errors import EmbeddedServerFailed

QUICK = {"fsync": "off", "shared_buffers": "16MB"}

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir(0o711)
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=711", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


async def ask(dsn: str, question: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


async def is_running(server: EmbeddedServer) -> bool:
    return (await server.status()).running_pid is not None


async def test_what_was_stored_is_there_after_a_stop_and_a_start(server: EmbeddedServer) -> None:
    await ask(await server.start(), "create table kept as select 7 as a")
    await server.stop()
    assert not await is_running(server)
    assert await ask(await server.start(), "select a from kept") == 7


@pytest.mark.long
@pytest.mark.parametrize("version", [16, 18])
async def test_both_versions_sort_by_bytes_and_know_letters(open_folder: Path, version: int) -> None:
    async with EmbeddedServer(open_folder / "pg", version=version, settings=QUICK) as dsn:
        assert str(await ask(dsn, "show server_version")).startswith(str(version))
        assert await ask(dsn, "select lower('ÄЖ') || to_tsvector('simple', 'ÄЖ')") == "äж'äж':1"
        assert await ask(dsn, "select string_agg(a, '' order by a) from unnest('{a,B,ä}'::text[]) a") == "Baä"
        assert await ask(dsn, "show server_encoding") == "UTF8"


@pytest.mark.long
@pytest.mark.parametrize("name", ["with space", 'it\'s $HOME `x` "y"', "a,b", "ü" * 60])
async def test_any_folder_name_will_do(open_folder: Path, name: str) -> None:
    server = EmbeddedServer(open_folder / name, settings=QUICK)
    async with server as dsn:
        assert await ask(dsn, "select 1") == 1
        socket = (await server.status()).socket
        assert socket.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(socket)


@pytest.mark.long
async def test_it_listens_on_its_socket_only(server: EmbeddedServer) -> None:
    assert await ask(await server.start(), "show listen_addresses") == ""


@pytest.mark.long
async def test_settings_passed_in_win(open_folder: Path) -> None:
    async with EmbeddedServer(open_folder / "pg", settings={**QUICK, "work_mem": "3MB"}) as dsn:
        assert await ask(dsn, "show work_mem") == "3MB"
        assert await ask(dsn, "show shared_buffers") == "16MB"


@pytest.mark.long
async def test_variables_of_other_servers_do_not_lead_astray(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "nowhere", "PGUSER": "x", "PGDATABASE": "x", "PGDATA": "/x"}.items():
        monkeypatch.setenv(name, value)
    assert await ask(await server.start(), "select current_user || current_database()") == "headwaterheadwater"


@pytest.mark.long
async def test_status_tells_where_everything_is(server: EmbeddedServer) -> None:
    before = await server.status()
    assert (before.running_pid, before.cluster_version) == (None, None)
    await server.start()
    after = await server.status()
    assert after.cluster_version == 18
    assert after.program_version.startswith("postgres (PostgreSQL) 18.")
    assert after.running_pid == int((after.data / "postmaster.pid").read_text().splitlines()[0])
    assert list(after.log.glob("postgresql-*.log"))
    assert server.binary("psql").exists()


@pytest.mark.long
async def test_stop_without_a_server_is_fine(server: EmbeddedServer) -> None:
    await server.stop()
    assert not server.directory.exists()
    await server.start()
    await server.stop()
    await server.stop()


@pytest.mark.long
async def test_a_killed_server_comes_back_with_what_was_committed(server: EmbeddedServer) -> None:
    dsn = await server.start()
    await ask(dsn, "create table kept as select 7 as a")
    pid = (await server.status()).running_pid
    assert pid
    os.kill(pid, signal.SIGKILL)
    assert await ask(await server.start(), "select a from kept") == 7


@pytest.mark.long
async def test_a_pid_file_that_names_some_other_process_is_not_believed(server: EmbeddedServer) -> None:
    await server.start()
    await server.stop()
    stale = server.directory / "data" / "postmaster.pid"
    owner = stale.parent.stat().st_uid
    # Of the same user: PostgreSQL itself knows that a process of somebody else is not its own.
    other = await asyncio.create_subprocess_exec("sleep", "600", user=owner if os.geteuid() == 0 else None)
    try:
        stale.write_text(f"{other.pid}\n{stale.parent}\n1\n5432\n\n\n")
        os.chown(stale, owner, -1)
        assert await ask(await server.start(), "select 1") == 1
    finally:
        other.kill()
        await other.wait()


@pytest.mark.long
async def test_the_pid_of_a_live_server_is_believed(server: EmbeddedServer) -> None:
    await server.start()
    second = EmbeddedServer(server.directory, settings=QUICK)
    before = (await server.status()).running_pid
    await second.start()
    assert (await second.status()).running_pid == before
    await second.stop()
    assert await is_running(server)


@pytest.mark.long
async def test_a_cancelled_start_leaves_no_server(server: EmbeddedServer) -> None:
    await server.start()
    await server.stop()
    starting = asyncio.create_task(server.start())
    while not (server.directory / "data" / "postmaster.pid").exists():
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not await is_running(server)


@pytest.mark.long
async def test_a_set_up_cut_short_is_begun_again(server: EmbeddedServer) -> None:
    starting = asyncio.create_task(server.start())
    while not list(server.directory.glob("incomplete-*/PG_VERSION")):
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    (server.directory / "incomplete-left-by-a-kill").mkdir()
    assert await ask(await server.start(), "select 1") == 1
    assert not list(server.directory.glob("incomplete-*"))


@pytest.mark.long
async def test_data_of_another_version_is_refused_by_name(server: EmbeddedServer) -> None:
    await server.start()
    await server.stop()
    with pytest.raises(EmbeddedServerFailed, match="made by PostgreSQL 18, and this is PostgreSQL 16") as caught:
        await EmbeddedServer(server.directory, version=16).start()
    assert "dump it with 18" in caught.value.fix


@pytest.mark.long
async def test_a_folder_with_something_else_in_it_is_left_alone(server: EmbeddedServer) -> None:
    (server.directory / "data").mkdir(parents=True)
    (server.directory / "data" / "diary.txt").write_text("dear diary")
    with pytest.raises(EmbeddedServerFailed, match="not a PostgreSQL data directory"):
        await server.start()
    assert (server.directory / "data" / "diary.txt").read_text() == "dear diary"


@pytest.mark.long
async def test_a_damaged_cluster_is_reported_with_the_log(server: EmbeddedServer) -> None:
    await server.start()
    await server.stop()
    (server.directory / "data" / "global" / "pg_control").unlink()
    with pytest.raises(EmbeddedServerFailed, match=r"could not be started: .*pg_control") as caught:
        await server.start()
    assert str(server.directory / "log") in caught.value.fix


@pytest.mark.long
async def test_a_file_in_the_way_is_reported(open_folder: Path) -> None:
    (open_folder / "file").write_text("")
    with pytest.raises(EmbeddedServerFailed, match="cannot be used for the database: Not a directory"):
        await EmbeddedServer(open_folder / "file" / "pg").start()


@pytest.mark.long
async def test_a_socket_folder_that_is_open_to_others_is_refused(server: EmbeddedServer) -> None:
    socket = (await server.status()).socket
    socket.mkdir(parents=True)
    socket.chmod(0o777)
    if user := user_for(server.directory / "data"):
        os.chown(socket, user.uid, user.gid)
    with pytest.raises(EmbeddedServerFailed, match="belongs to another user or is open to others"):
        await server.start()


@pytest.mark.long
def test_a_version_that_does_not_exist_is_refused() -> None:
    with pytest.raises(EmbeddedServerFailed, match="no embedded PostgreSQL 9") as caught:
        bundled_programs(9)
    assert "16 and 18" in caught.value.fix


async def test_a_full_disk_is_named(open_folder: Path) -> None:
    with small_disk(open_folder / "disk") as disk:
        with pytest.raises(
            EmbeddedServerFailed, match=r"could not be set up, since the disk of .*/pg is full"
        ) as caught:
            await EmbeddedServer(disk / "pg", settings=QUICK).start()
        assert "Make room on that disk" in caught.value.fix
        assert not (disk / "pg" / "data").exists()


@pytest.mark.long
@as_root
async def test_under_root_the_server_is_somebody_else_and_our_folders_stay_closed(open_folder: Path) -> None:
    outer = open_folder / "outer"
    outer.mkdir(0o711)
    server = EmbeddedServer(outer / "new" / "pg", settings=QUICK)
    async with server as dsn:
        pid = (await server.status()).running_pid
        assert Path(f"/proc/{pid}").stat().st_uid != 0
        assert await ask(dsn, "select 1") == 1
    assert outer.stat().st_mode & 0o777 == 0o711
    for private in ("data", "log", "socket"):
        assert (server.directory / private).stat().st_mode & 0o077 == 0


@pytest.mark.long
@as_root
async def test_under_root_a_closed_parent_is_named_and_not_opened(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir(0o700)
    with pytest.raises(EmbeddedServerFailed, match=f"who may not enter {closed}") as caught:
        await EmbeddedServer(closed / "pg", settings=QUICK).start()
    assert "/var/lib/headwater" in caught.value.fix
    assert closed.stat().st_mode & 0o777 == 0o700
