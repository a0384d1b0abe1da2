"""A server that says exactly what a test tells it to, and remembers every head it was sent."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from headwater.clock import SystemClock
from headwater.net.guard import AddressGuard, parse_allowed_place
from headwater.net.identity import Identity
from headwater.net.transport import Transport
from headwater.urls.canonical import CanonicalUrl, canonicalise

Line = Callable[[asyncio.StreamWriter], Awaitable[None]]


def says(answer: bytes) -> Line:
    async def line(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return line


async def hangs_up(writer: asyncio.StreamWriter) -> None:
    writer.close()


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers)
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body


@dataclass
class Server:
    """The n-th request, over whatever connection, meets the n-th line; the last line is for all that follow."""

    lines: Sequence[Line]
    place: str = "127.0.0.1"
    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    visitors: list[str] = field(default_factory=list)  # one per connection
    is_met: asyncio.Event = field(default_factory=asyncio.Event)
    is_left: asyncio.Event = field(default_factory=asyncio.Event)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    talks: list["asyncio.Task[object] | None"] = field(default_factory=list)

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.talks.append(asyncio.current_task())
        self.visitors.append(writer.get_extra_info("peername")[0])
        self.writers.append(writer)
        self.is_met.set()
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                await self.lines[min(len(self.heads), len(self.lines)) - 1](writer)
        self.is_left.set()
        writer.close()

    def url(self, path: str = "/") -> CanonicalUrl:
        return canonicalise(f"http://{self.place}:{self.port}{path}")

    def transport(self, **given: object) -> Transport:
        guard = AddressGuard(frozenset({parse_allowed_place(f"{self.place}:{self.port}")}))
        return Transport(Identity("Tester/1", "mailto:t@h.test"), guard, SystemClock(), **given)  # type: ignore[arg-type]


@asynccontextmanager
async def serving(
    *lines: Line, place: str = "127.0.0.1", context: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    server = Server(lines, place)
    async with await asyncio.start_server(server.meet, place.strip("[]"), 0, ssl=context) as listener:
        server.port = listener.sockets[0].getsockname()[1]
        yield server
        for writer in server.writers:
            writer.close()
        await asyncio.gather(*(talk for talk in server.talks if talk))
