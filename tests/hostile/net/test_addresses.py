"""Section A of the hostile inputs: addresses that must never be asked, in every spelling a link can have."""

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_address

import aiohttp
import pytest

from headwater.errors import UrlRejected
from headwater.net.guard import AddressGuard, BlockedAddress, parse_allowed_place
from headwater.net.problems import Problem, problem_from
from headwater.urls.canonical import canonicalise

ROWS: list[tuple[int, str, str]] = [
    (1, "http://127.0.0.1/", "block"),
    (2, "http://127.255.255.254/", "block"),
    (3, "http://0.0.0.0/", "block"),
    (4, "http://0/", "block"),
    (5, "http://2130706433/", "block"),
    (6, "http://0x7f000001/", "block"),
    (7, "http://0177.0.0.1/", "block"),
    (8, "http://0x7f.1/", "block"),
    (9, "http://127.1/", "block"),
    (10, "http://017700000001/", "block"),
    (11, "http://①②⑦.⓪.⓪.①/", "block"),
    (12, "http://127。0。0。1/", "block"),
    (13, "http://１２７.0.0.1/", "block"),
    (14, "http://127.0.0.1%00.example.com/", "reject"),
    (14, "http://127.0.0.1\x00.example.com/", "reject"),
    (15, "http://localhost/", "block"),
    (15, "http://localhost./", "block"),
    (15, "http://LOCALHOST/", "block"),
    (16, "http://[::1]/", "block"),
    (17, "http://[::]/", "block"),
    (18, "http://[::ffff:127.0.0.1]/", "block"),
    (18, "http://[::ffff:7f00:1]/", "block"),
    (18, "http://[::ffff:8.8.8.8]/", "block"),
    (19, "http://[::127.0.0.1]/", "block"),
    (20, "http://[64:ff9b::7f00:1]/", "block"),
    (20, "http://[64:ff9b::a9fe:a9fe]/", "block"),
    (20, "http://[64:ff9b:1::1]/", "block"),
    (21, "http://[2002:7f00:1::1]/", "block"),
    (21, "http://[2002:a9fe:a9fe::1]/", "block"),
    (22, "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", "block"),
    (23, "http://[fe80::1%25eth0]/", "reject"),
    (23, "http://[fe80::1]/", "block"),
    (23, "http://[fc00::1]/", "block"),
    (23, "http://[fec0::1]/", "block"),
    (23, "http://[ff02::1]/", "block"),
    (24, "http://10.0.0.0/", "block"),
    (24, "http://10.255.255.255/", "block"),
    (24, "http://172.16.0.0/", "block"),
    (24, "http://172.31.255.255/", "block"),
    (24, "http://192.168.0.0/", "block"),
    (24, "http://192.168.255.255/", "block"),
    (24, "http://172.15.255.255/", "allow"),
    (24, "http://172.32.0.0/", "allow"),
    (24, "http://100.63.255.255/", "allow"),
    (24, "http://100.128.0.0/", "allow"),
    (25, "http://100.64.0.1/", "block"),
    (25, "http://100.127.255.254/", "block"),
    (26, "http://169.254.169.254/latest/meta-data/", "block"),
    (26, "http://169.254.170.2/", "block"),
    (26, "http://[fd00:ec2::254]/", "block"),
    (26, "http://100.100.100.200/", "block"),
    (26, "http://192.0.0.192/", "block"),
    (26, "http://168.63.129.16/", "block"),
    (26, "http://metadata.google.internal/", "block"),
    (26, "http://Metadata.Google.Internal./", "block"),
    (27, "http://198.18.0.1/", "block"),
    (27, "http://192.0.2.1/", "block"),
    (27, "http://198.51.100.1/", "block"),
    (27, "http://203.0.113.1/", "block"),
    (27, "http://240.0.0.1/", "block"),
    (27, "http://255.255.255.255/", "block"),
    (27, "http://224.0.0.1/", "block"),
    (27, "http://192.88.99.1/", "block"),
    (27, "http://[3fff::1]/", "block"),
    (27, "http://[5f00::1]/", "block"),
    (34, "http://93.184.216.34:22/", "block"),
    (34, "http://93.184.216.34:25/", "block"),
    (34, "http://93.184.216.34:5432/", "block"),
    (34, "http://93.184.216.34:6379/", "block"),
    (34, "http://93.184.216.34:9200/", "block"),
    (34, "http://93.184.216.34:11211/", "block"),
    (34, "https://93.184.216.34:8443/", "allow"),
]
# What a resolver may say about one name, all of it or none of it to be believed.
ANSWERS = [
    (28, ("93.184.216.34", "10.0.0.1"), "block"),
    (28, ("10.0.0.1", "93.184.216.34"), "block"),
    (29, ("93.184.216.34", "::1"), "block"),
    (32, ("127.0.0.1",), "block"),
    (0, ("93.184.216.34", "2606:4700::1111"), "allow"),
]


def fate(raw: str) -> str:
    """What becomes of a link before anything is sent, as far as the name or the literal decides it."""
    guard = AddressGuard()
    try:
        origin = canonicalise(raw).origin
        guard.check_host(origin.host)
        if address := literal(origin.host):
            guard.check(address, origin.port)
    except UrlRejected:
        return "reject"
    except BlockedAddress:
        return "block"
    return "allow"


def literal(host: str) -> str | None:
    try:
        return str(ip_address(host.strip("[]")))
    except ValueError:
        return None


@pytest.mark.parametrize(("row", "vector", "expected"), ROWS, ids=[f"A{row}-{vector!a}" for row, vector, _ in ROWS])
def test_a_link_meets_its_fate(row: int, vector: str, expected: str) -> None:
    assert fate(vector) == expected


@pytest.mark.parametrize(("row", "addresses", "expected"), ANSWERS)
def test_an_answer_is_believed_whole_or_not_at_all(row: int, addresses: tuple[str, ...], expected: str) -> None:
    try:
        AddressGuard().check_all((address, 80) for address in addresses)
        outcome = "allow"
    except BlockedAddress:
        outcome = "block"
    assert outcome == expected


class Listener:
    """A server on this machine that must not be reached; it counts who came."""

    def __init__(self) -> None:
        self.visits = 0
        self.port = 0

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visits += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    listener = Listener()
    server = await asyncio.start_server(listener.greet, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    async with server:
        yield listener


async def fetched(guard: AddressGuard, url: str) -> Problem | bytes:
    connector = aiohttp.TCPConnector(socket_factory=guard.socket_factory)
    async with aiohttp.ClientSession(connector=connector) as session:
        try:
            async with session.get(url, timeout=aiohttp.ClientTimeout(total=60)) as response:
                return await response.read()
        except aiohttp.ClientError as error:
            return problem_from(error).kind


async def test_a_refused_listener_never_sees_a_connection(listener: Listener) -> None:
    assert await fetched(AddressGuard(), f"http://127.0.0.1:{listener.port}/") is Problem.BLOCKED_ADDRESS
    assert listener.visits == 0


async def test_a_name_with_several_addresses_does_not_reach_it_either(listener: Listener) -> None:
    # The client melts two refusals into one plain error, so the name of the problem is the resolver's to keep.
    assert isinstance(await fetched(AddressGuard(), f"http://localhost:{listener.port}/"), Problem)
    assert listener.visits == 0


async def test_an_allowed_listener_is_reached_on_its_port(listener: Listener) -> None:
    guard = AddressGuard(frozenset({parse_allowed_place(f"127.0.0.1/32:{listener.port}")}))
    assert await fetched(guard, f"http://127.0.0.1:{listener.port}/") == b"hi"
    assert listener.visits == 1
