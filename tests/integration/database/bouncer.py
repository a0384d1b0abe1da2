"""A real pgbouncer in front of the server of a test."""

import asyncio
import os
import pwd
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
SETTINGS = """\
[databases]
* = {place}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 50
server_reset_query =
{more}
"""


@asynccontextmanager
async def bouncer(
    folder: Path, url: str, *, size: int = 1, mode: str = "transaction", more: str = ""
) -> AsyncIterator[str]:
    """The address of the database `url` through a pool of `size` connections; server_reset_query would hide leaks."""
    assert PROGRAM
    port = _free_port()
    settings = folder / f"pgbouncer-{port}.ini"
    settings.write_text(SETTINGS.format(place=_place_of(url), port=port, mode=mode, size=size, more=more))
    settings.chmod(0o644)
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "-q", *_as_user_of(url), str(settings)), stderr=asyncio.subprocess.DEVNULL
    )
    address = f"postgresql://headwater@127.0.0.1:{port}{urlsplit(url).path}"
    try:
        await _until_it_answers(address, process)
        yield address
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _until_it_answers(address: str, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(300):
        while True:
            assert process.returncode is None, "pgbouncer ended"
            try:
                connection = await asyncpg.connect(address, statement_cache_size=0)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            await connection.close()
            return


def _place_of(url: str) -> str:
    address = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    user = f" user={unquote(address.username or 'headwater')}"
    password = f" password={unquote(address.password)}" if address.password else ""
    host = query.get("host") or address.hostname or "127.0.0.1"
    return f"host={host} port={query.get('port') or address.port or 5432}{user}{password}"


def _as_user_of(url: str) -> tuple[str, ...]:
    """It refuses to run as root, and a socket in a folder of its own lets in only whom the folder belongs to."""
    if os.geteuid() != 0:
        return ()
    host = parse_qs(urlsplit(url).query).get("host", [""])[0]
    owner = Path(host).stat().st_uid if host.startswith("/") else 0
    return ("-u", pwd.getpwuid(owner).pw_name if owner else "nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
