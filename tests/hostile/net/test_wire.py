"""Rows 66 to 71 of the hostile inputs as they come over a real connection: what our client's errors are called."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest

from headwater.net.problems import NETWORK_ERRORS, Problem, problem_from

OK = b"HTTP/1.1 200 OK\r\n"
SHORT = OK + b"Content-Length: 30\r\n\r\nabc"
ROWS: list[tuple[int, bytes, Problem]] = [
    (67, OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\nabc", Problem.TRUNCATED),
    (69, OK + b"Content-Length: 1000000000000000000\r\n\r\nabc", Problem.TRUNCATED),
    (69, OK + b"Content-Length: " + b"9" * 40 + b"\r\n\r\nabc", Problem.BAD_RESPONSE),
    (69, OK + b"Content-Length: -5\r\n\r\nabc", Problem.BAD_RESPONSE),
    (69, OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", Problem.BAD_RESPONSE),
    (69, OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", Problem.BAD_RESPONSE),
    (70, OK + b"".join(b"X%d: a\r\n" % n for n in range(10_000)) + b"\r\n", Problem.HEADER_LIMIT),
    (70, OK + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n", Problem.HEADER_LIMIT),
    (70, OK + b"X: a\x00b\r\nContent-Length: 0\r\n\r\n", Problem.BAD_RESPONSE),
    (71, b"\x00\x01nonsense\r\n\r\n", Problem.BAD_RESPONSE),
    (71, b"<html>HTTP/0.9</html>", Problem.BAD_RESPONSE),
    (71, b"HTTP/1.1 9999 X\r\nContent-Length: 0\r\n\r\n", Problem.BAD_RESPONSE),
    (38, SHORT, Problem.TRUNCATED),
    (38, b"", Problem.RESET),
]

Talk = Callable[[asyncio.StreamWriter], Awaitable[None]]
Serve = Callable[[Talk], Awaitable[int]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts a server that reads one request head and then talks as it was told; gives its port."""
    servers: list[asyncio.Server] = []

    async def started(talk: Talk) -> int:
        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            await talk(writer)
            writer.close()

        servers.append(await asyncio.start_server(meet, "127.0.0.1", 0))
        return int(servers[0].sockets[0].getsockname()[1])

    yield started
    for server in servers:
        server.close()


async def problem_at(port: int, seconds: float = 60) -> Problem | None:
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        try:
            async with session.get(
                f"http://127.0.0.1:{port}/", timeout=aiohttp.ClientTimeout(total=seconds)
            ) as response:
                await response.read()
        except NETWORK_ERRORS as error:
            return problem_from(error).kind
    return None


@pytest.mark.parametrize(("row", "answer", "expected"), ROWS, ids=[f"D{row}-{str(wire)[:50]}" for row, wire, _ in ROWS])
async def test_a_broken_answer_has_a_name(row: int, answer: bytes, expected: Problem, serve: Serve) -> None:
    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    assert await problem_at(await serve(talk)) is expected


async def test_a_reset_before_the_answer_is_a_reset(serve: Serve) -> None:
    async def talk(writer: asyncio.StreamWriter) -> None:
        connection: socket.socket = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    assert await problem_at(await serve(talk)) is Problem.RESET


@pytest.mark.parametrize("said", [b"", SHORT])
async def test_silence_ends_with_the_total_timeout(said: bytes, serve: Serve) -> None:
    is_given_up = asyncio.Event()

    async def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await is_given_up.wait()

    problem = await problem_at(await serve(talk), seconds=0.1)
    is_given_up.set()
    assert problem is Problem.TIMEOUT


async def test_a_closed_port_refuses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert await problem_at(port) is Problem.CONNECT_REFUSED


async def test_tls_with_a_server_that_speaks_none_is_a_tls_problem() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server, aiohttp.ClientSession() as session:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(aiohttp.ClientConnectorError) as failure:
            await session.get(f"https://127.0.0.1:{port}/", timeout=aiohttp.ClientTimeout(total=60))
    assert problem_from(failure.value).kind is Problem.TLS
