"""Witnesses on this machine: servers nobody may talk to, and the list of every address that was dialled."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.255.255.254", "::1")


@dataclass
class Ears:
    """One port on several loopback addresses, behind which there would be an answer."""

    port: int = 0
    connections: int = 0
    bytes_heard: int = 0
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    @property
    def heard(self) -> tuple[int, int]:
        return self.connections, self.bytes_heard

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        while said := await reader.read(65_536):
            self.bytes_heard += len(said)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Ears]:
    ears = Ears()
    sockets = _one_port_of_all()
    ears.port = sockets[0].getsockname()[1]
    servers = [await asyncio.start_server(ears.greet, sock=each) for each in sockets]
    try:
        yield ears
    finally:
        ears.hang_up()
        for server in servers:
            server.close()


def _one_port_of_all() -> list[socket.socket]:
    while True:
        first = socket.create_server((ADDRESSES[0], 0))
        opened = [first]
        try:
            opened += [_bound(address, first.getsockname()[1]) for address in ADDRESSES[1:]]
        except OSError:
            # Another program has that port on one of them: the next one drawn may be free on all.
            first.close()
            continue
        return opened


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family)


@dataclass
class _Wiretap:
    """The interpreter's own word on every connect; such a hook cannot be taken out again, so there is one."""

    is_laid: bool = False
    dialled: set[tuple[str, int]] | None = None

    def note(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.dialled is not None and event == "socket.connect" and isinstance(arguments[1], tuple):
            self.dialled.add(arguments[1][:2])


_WIRETAP = _Wiretap()


@contextmanager
def tapped() -> Iterator[set[tuple[str, int]]]:
    """Every (address, port) this process tries to connect to; the database's socket has neither."""
    if not _WIRETAP.is_laid:
        sys.addaudithook(_WIRETAP.note)
        _WIRETAP.is_laid = True
    _WIRETAP.dialled = set()
    try:
        yield _WIRETAP.dialled
    finally:
        _WIRETAP.dialled = None
