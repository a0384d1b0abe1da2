"""There is one way to the web, and nobody gets through it without a slot."""

import ast
import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest
from tests.architecture.modules import MODULES, SOURCE, nodes_of, tree_of

from headwater.clock import SystemClock
from headwater.fetch.held_slot import HeldSlot, Request, SlotMissed, send_once
from headwater.net.guard import AddressGuard, parse_allowed_place
from headwater.net.identity import Identity
from headwater.net.transport import Response, TransferLimits, Transport
from headwater.politeness.slots import NoSlot, NotBefore, StartWindow, Visit
from headwater.urls.canonical import CanonicalUrl, canonicalise

# Whoever names one of these could open a connection. Values and errors of aiohttp, and its server side, cannot.
WAYS_OUT = (
    "aiohttp.ClientSession",
    "aiohttp.TCPConnector",
    "aiohttp.UnixConnector",
    "aiohttp.BaseConnector",
    "aiohttp.request",
    "aiohttp.client",
    "aiohttp.connector",
    "asyncio.open_connection",
    "asyncio.open_unix_connection",
    "asyncio.create_connection",
    "socket.create_connection",
    "socket.socket",
    "urllib.request",
    "http.client",
    "ftplib",
    "smtplib",
    "telnetlib",
    "xmlrpc",
    "requests",
    "httpx",
    "urllib3",
    "websockets",
    "playwright",
    "redis",
    "asyncpg.connect",
    "asyncpg.create_pool",
)
# Methods of whatever object: of an event loop, or of a socket.
OPENING_METHODS = frozenset({"create_connection", "create_unix_connection", "create_datagram_endpoint", "sock_connect"})
EXCEPTIONS = {
    "net/": ("aiohttp", "socket"),
    "database/": ("asyncpg", "socket"),  # PostgreSQL
    "deliver/sinks/redis.py": ("redis",),  # a server that the operator named, after the guard's word on its addresses
    "simweb/": ("aiohttp", "socket", "asyncio"),  # plays the web
    "fetch/browser.py": ("playwright",),  # a browser without a network
    "fetch/render": ("playwright",),  # its types
    "client/": ("http.client",),  # of programs that call the API; nothing of ours imports it
    "serve/server.py": ("socket",),  # listens, and asks nobody
    "run/service_manager.py": ("socket",),  # tells the manager of services on this machine
}
# A sink's server is the operator's own, and needs no slot.
ASKERS = ("fetch/held_slot.py", "fetch/render", "deliver/http.py")


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in MODULES:
        yield file.relative_to(SOURCE).as_posix(), tree_of(file)


def names_in(tree: ast.Module) -> Iterator[str]:
    """Everything a module could reach outside itself, under its full name, however it was imported."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                known[one.asname or one.name.partition(".")[0]] = one.name if one.asname else one.name.partition(".")[0]
                yield one.name
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                known[one.asname or one.name] = f"{node.module}.{one.name}"
                yield f"{node.module}.{one.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield spelt_out(node, known)
    if "importlib.import_module" in known.values() or "importlib" in known.values():
        # By a name in a string, wherever that stands.
        yield from (str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant))


def spelt_out(node: ast.expr, known: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{spelt_out(node.value, known)}.{node.attr}"
    return known.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


def ways_out_of(tree: ast.Module) -> set[str]:
    named = {way for name in names_in(tree) for way in WAYS_OUT if name == way or name.startswith(f"{way}.")}
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return named | (called & OPENING_METHODS)


def is_excused(module: str, way: str) -> bool:
    excused = (ways for place, ways in EXCEPTIONS.items() if module.startswith(place))
    return any(way == one or way.startswith(f"{one}.") for ways in excused for one in ways)


def test_no_module_opens_a_connection_beside_the_transport() -> None:
    found = [(module, way) for module, tree in modules() for way in ways_out_of(tree) if not is_excused(module, way)]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import aiohttp\nsession = aiohttp.ClientSession()\n",
        "from aiohttp import ClientSession as Friendly\n",
        "import aiohttp as a\nsession = a.ClientSession()\n",
        "import asyncio\nasync def f():\n    return await asyncio.open_connection('x', 80)\n",
        "async def f(loop):\n    return await loop.create_connection(None, 'x', 80)\n",
        "import socket\ns = socket.create_connection(('x', 80))\n",
        "from socket import socket\n",
        "import urllib.request\n",
        "from urllib.request import urlopen\n",
        "from urllib import request\n",
        "from http import client\n",
        "import requests\n",
        "def f():\n    import httpx\n",
        "def f():\n    from redis.asyncio import Redis\n",
        "from importlib import import_module\nplay = import_module('playwright.async_api')\n",
    ],
)
def test_every_way_out_would_be_found(code: str) -> None:
    assert ways_out_of(ast.parse(code))


def test_the_search_does_not_shoot_at_everything() -> None:
    assert not ways_out_of(ast.parse("from aiohttp import web\nfrom urllib.parse import urlsplit\nimport asyncio\n"))


def test_only_the_one_asker_makes_requests() -> None:
    callers = [
        file.relative_to(SOURCE).as_posix()
        for file in MODULES
        for node in nodes_of(file)
        if isinstance(node, ast.Attribute) and node.attr == "request" and "transport" in ast.unparse(node.value).lower()
    ]
    assert "fetch/held_slot.py" in callers
    assert not [module for module in callers if not module.startswith(ASKERS)]


def test_a_request_cannot_be_written_without_a_gate() -> None:
    gate = inspect.signature(Transport.request).parameters["gate"]
    assert gate.default is inspect.Parameter.empty
    assert gate.kind is inspect.Parameter.KEYWORD_ONLY


class Forgetful:
    """A server that answers the first request of a connection and drops it at the second; notes each head."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.talks: list[asyncio.Task[object] | None] = []

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.talks.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError):
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Forgetful, Transport, CanonicalUrl]]:
    server = Forgetful()
    async with await asyncio.start_server(server.greet, "127.0.0.1", 0) as listener:
        place = "{}:{}".format(*listener.sockets[0].getsockname())
        guard = AddressGuard(frozenset({parse_allowed_place(place)}))
        async with Transport(Identity("Tester/1"), guard, SystemClock()) as transport:
            yield server, transport, canonicalise(f"http://{place}/")
        await asyncio.gather(*(talk for talk in server.talks if talk))


class ShutGate:
    async def open(self) -> None:
        raise SlotMissed(NotBefore(timedelta(hours=1), NoSlot.CLOSED))

    def sent(self, sent_from: str | None = None) -> None:
        pass


async def test_behind_a_shut_gate_not_one_byte_is_sent() -> None:
    async with serving() as (server, transport, url):
        with pytest.raises(SlotMissed):
            await transport.request("GET", url, {}, gate=ShutGate(), limits=TransferLimits())
        assert server.heads == []


@dataclass
class Grants:
    """Slots as a host would give them, counted; the times are always right."""

    clock: SystemClock
    most: int = 100
    given: list[Visit] = field(default_factory=list)

    def window(self) -> StartWindow:
        now = self.clock.monotonic()
        return StartWindow(now, now + 60, now)

    async def regrant(self, bucket: int, token: UUID, past: Visit) -> StartWindow | NotBefore:
        if len(self.given) >= self.most:
            return NotBefore(timedelta(hours=1), NoSlot.DELAY)
        self.given.append(past)
        return self.window()


def with_held_slot(grants: Grants) -> HeldSlot:
    return HeldSlot(1, "h.test", UUID(int=1), grants.window(), "page", grants, grants.clock)


async def test_one_grant_opens_the_gate_once() -> None:
    grants = Grants(SystemClock())
    held_slot = with_held_slot(grants)
    assert await held_slot.ready("page") is None
    for openings in range(3):
        await held_slot.open()
        assert len(grants.given) == openings  # the first is the one that came with the held slot


async def test_what_the_client_repeats_by_itself_needs_a_slot_of_its_own() -> None:
    """A kept connection that dies under a request makes the client send it again: two heads, two slots."""
    async with serving() as (server, transport, url):
        grants = Grants(SystemClock())
        held_slot = with_held_slot(grants)
        asked = Request(url, "page", TransferLimits(), {})
        answers = [await send_once(transport, asked, held_slot) for _ in range(2)]
        assert [isinstance(answer, Response) for answer in answers] == [True, True]
        assert len(server.heads) == 3
        assert 1 + len(grants.given) == 3


async def test_without_that_slot_the_client_repeats_nothing() -> None:
    async with serving() as (server, transport, url):
        grants = Grants(SystemClock(), most=1)
        held_slot = with_held_slot(grants)
        asked = Request(url, "page", TransferLimits(), {})
        assert isinstance(await send_once(transport, asked, held_slot), Response)
        assert isinstance(await send_once(transport, asked, held_slot), NotBefore)
        assert len(server.heads) == 2
