"""The web role as a process, beside a thousand streams, slow senders, half requests and large bodies: it stays small
and answers those who ask whether it lives.
"""

import asyncio
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tests.integration.serve.people import token_of

from headwater.accounts.role import Role
from headwater.database.pool import Database

pytestmark = pytest.mark.long

LIMIT_SECONDS = 120
# As an orchestrator asks, at the longest.
HEALTH_SECONDS = 10
MOST_MB = 250
# Of one caller 300 at most.
CALLERS, STREAMS_OF_ONE = 4, 250
SLOW, HALF, LARGE = 50, 200, 20
LARGE_BYTES = 10_000_000

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def test_a_crowd_leaves_the_web_role_small_and_alive(database: Database, database_url: str) -> None:
    tokens = [await token_of(database, Role.OPERATOR, f"caller-{n}") for n in range(CALLERS)]
    async with asyncio.timeout(LIMIT_SECONDS), AsyncExitStack() as stack:
        process, host, port = await stack.enter_async_context(web_role(database_url))

        async def connected(said: str) -> Connection:
            reader, writer = await asyncio.open_connection(host, port)
            stack.callback(writer.close)
            writer.write(said.encode())
            await writer.drain()
            return reader, writer

        slow = [
            await connected("POST /api/v1/views HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{")
            for _ in range(SLOW)
        ]
        for _ in range(HALF):
            await connected("GET /healthz HTTP/1.1\r\nHost: loc")
        streams = [
            await connected(request("GET", "/api/v1/stream?topics=stats,frontier", token))
            for token in tokens
            for _ in range(STREAMS_OF_ONE)
        ]
        opened = await asyncio.gather(*(status(reader) for reader, _ in streams))
        assert set(opened) == {200}
        large = asyncio.gather(*(large_body(host, port, tokens[n % CALLERS]) for n in range(LARGE)))
        while not large.done():
            await drip(slow)
            assert await asks_health(host, port) == 200
            assert weight_mb(process.pid) < MOST_MB
        assert set(await large) <= {201, 413, 422, 429}
        # Who listened all the while hears what happens now.
        heard = asyncio.gather(*(until(reader, b'"pending":1') for reader, _ in streams))
        body = '{"url": "https://news.example/1"}'
        reader, _ = await connected(request("POST", "/api/v1/frontier/submit", tokens[0], body))
        assert await status(reader) == 201
        await heard
        assert await asks_health(host, port) == 200
        assert weight_mb(process.pid) < MOST_MB


@asynccontextmanager
async def web_role(database_url: str) -> AsyncIterator[tuple[Process, str, int]]:
    settings = {"database.url": database_url, "web.port": "0", "log.level": "error"}
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "headwater", *flags, "run", "web", stdout=DEVNULL, stderr=PIPE
    )
    try:
        yield process, *(await address(process))
    finally:
        process.terminate()
        await process.wait()


async def address(process: Process) -> tuple[str, int]:
    assert process.stderr is not None
    async for line in process.stderr:
        if found := re.search(rb"Console: http://([\d.]+):(\d+)", line):
            return found[1].decode(), int(found[2])
    raise AssertionError("it did not start")


def request(method: str, path: str, token: str, body: str = "") -> str:
    told = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{told}\r\n{body}"


async def status(reader: asyncio.StreamReader) -> int:
    line = await reader.readline()
    return int(line.split()[1])


async def large_body(host: str, port: int, token: str) -> int:
    """One URL of ten million bytes, to the one place that takes so many."""
    reader, writer = await asyncio.open_connection(host, port)
    body = '{"urls": ["https://news.example/' + "x" * (LARGE_BYTES - 40) + '"]}'
    writer.write(request("POST", "/api/v1/frontier/submit/bulk", token, body).encode())
    await writer.drain()
    found = await status(reader)
    writer.close()
    return found


async def drip(slow: Iterable[Connection]) -> None:
    for _, writer in slow:
        writer.write(b" ")
    await asyncio.sleep(0.05)


async def asks_health(host: str, port: int) -> int:
    async with asyncio.timeout(HEALTH_SECONDS):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        found = await status(reader)
        writer.close()
        return found


async def until(reader: asyncio.StreamReader, sign: bytes) -> None:
    while sign not in await reader.readline():
        assert not reader.at_eof()


def weight_mb(pid: int) -> float:
    """Of the process and its children, shared pages divided among those that share them."""
    return sum(pss_mb(one) for one in (pid, *children(pid)))


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def pss_mb(pid: int) -> float:
    told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", told, re.MULTILINE)[1]) / 1024  # type: ignore[index]
