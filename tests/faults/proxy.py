"""A proxy between a process of ours and PostgreSQL that loses what a network loses, at a moment a test chooses.

It reads as much of the protocol as it needs to know which statement a message belongs to, and cuts a connection before
that statement arrives, or once the server has begun to answer it. It can also be slow: a delay before every answer, and
a limit of bytes per second.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

Moment = Literal["before it arrives", "once it is answered"]
SIMPLE, PARSE, BIND = b"Q", b"P", b"B"
ASKS_FOR_TLS = bytes.fromhex("04d2162f")
HEAD_BYTES = 5
CHUNK_BYTES = 64 * 1024


@dataclass
class Cut:
    """The connection that sends a statement with this text is cut, for the next so many of them."""

    text: str
    moment: Moment
    left: int
    done: int = 0
    has_happened: asyncio.Event = field(default_factory=asyncio.Event)

    def happen(self) -> None:
        self.done += 1
        self.has_happened.set()


@dataclass
class Proxy:
    upstream: str
    delay_seconds: float = 0.0
    bytes_per_second: float | None = None
    cuts: list[Cut] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _port: int = 0

    @property
    def dsn(self) -> str:
        there = urlsplit(self.upstream)
        user = there.netloc.rpartition("@")[0]
        return f"postgresql://{user}@127.0.0.1:{self._port}{there.path}"

    def cut(self, text: str, moment: Moment, times: int = 1) -> Cut:
        planned = Cut(text, moment, times)
        self.cuts.append(planned)
        return planned

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            server_reader, server_writer = await connected_to(self.upstream)
        except OSError:
            # The server is away: whoever asks for it is told so.
            writer.close()
            self._tasks.discard(task)
            return
        line = Line(self, reader, writer, server_reader, server_writer)
        try:
            await line.carry()
        finally:
            for one in (writer, server_writer):
                one.close()
            self._tasks.discard(task)

    async def end(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def slowly(self, size: int) -> None:
        if self.bytes_per_second:
            await asyncio.sleep(size / self.bytes_per_second)


@dataclass
class Line:
    """One connection through the proxy."""

    proxy: Proxy
    client: asyncio.StreamReader
    to_client: asyncio.StreamWriter
    server: asyncio.StreamReader
    to_server: asyncio.StreamWriter
    _statements: dict[bytes, str] = field(default_factory=dict)
    _awaited: Cut | None = None

    async def carry(self) -> None:
        ways = [asyncio.create_task(self._to_server()), asyncio.create_task(self._to_client())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _to_server(self) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._greet()
            while True:
                head = await self.client.readexactly(HEAD_BYTES)
                body = await self.client.readexactly(int.from_bytes(head[1:], "big") - 4)
                planned = self._planned(head[:1], body)
                if planned is not None and planned.moment == "before it arrives":
                    planned.happen()
                    return
                # Before it is sent on: the answer may be there at once.
                self._awaited = planned or self._awaited
                await self.proxy.slowly(len(head) + len(body))
                self.to_server.write(head + body)
                await self.to_server.drain()

    async def _greet(self) -> None:
        """The first messages have no letter: a question for TLS, which is denied, and a start-up or a cancellation."""
        while True:
            size = await self.client.readexactly(4)
            body = await self.client.readexactly(int.from_bytes(size, "big") - 4)
            if body != ASKS_FOR_TLS:
                self.to_server.write(size + body)
                return
            self.to_client.write(b"N")

    def _planned(self, kind: bytes, body: bytes) -> Cut | None:
        text = self._text_of(kind, body)
        for planned in self.proxy.cuts:
            if text is not None and planned.left and planned.text in text:
                planned.left -= 1
                return planned
        return None

    def _text_of(self, kind: bytes, body: bytes) -> str | None:
        """Of the statement this message runs; None where it runs none."""
        if kind == SIMPLE:
            return body.rstrip(b"\0").decode()
        if kind == PARSE:
            name, text, _ = body.split(b"\0", 2)
            self._statements[name] = text.decode()
        if kind == BIND:
            _, name, _ = body.split(b"\0", 2)
            return self._statements.get(name)
        return None

    async def _to_client(self) -> None:
        with suppress(ConnectionError):
            while chunk := await self.server.read(CHUNK_BYTES):
                if self._awaited is not None:
                    self._awaited.happen()
                    return
                if self.proxy.delay_seconds:
                    await asyncio.sleep(self.proxy.delay_seconds)
                await self.proxy.slowly(len(chunk))
                self.to_client.write(chunk)
                await self.to_client.drain()


async def connected_to(dsn: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(dsn)
    asked = parse_qs(address.query)
    if "host" in asked:
        folder, port = unquote(asked["host"][0]), asked.get("port", ["5432"])[0]
        return await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.{port}")
    return await asyncio.open_connection(address.hostname, address.port or 5432)


@asynccontextmanager
async def proxy_to(dsn: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(dsn)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy._port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
