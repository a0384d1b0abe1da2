"""Servers that talk out of turn, requests that are given up half-way, and what is left of a connection then."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from tests.integration.net.talk import Line, Server, answer, says, serving
from tests.integration.net.test_transport import BRIEF, HI, OpenGate, ask, problem

from headwater.clock import SystemClock
from headwater.net.body import Complete, Truncated
from headwater.net.problems import FetchProblem, Problem
from headwater.net.transport import Response, TransferLimits, Transport
from headwater.simweb.resolver import SimResolver
from headwater.urls.canonical import canonicalise

SILENT = says(b"")
EVIL = answer(b"evil")
PATIENT = TransferLimits(total=timedelta(seconds=20))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not holds():
            await asyncio.sleep(0)


def kept(transport: Transport) -> list[bool]:
    """Of every idle connection, whether it can be used again."""
    return [not one.should_close for waiting in transport._connectors[0]._conns.values() for one, _ in waiting]


async def test_what_a_server_says_to_an_idle_connection_answers_nothing() -> None:
    async with serving(HI) as server, server.transport() as transport:
        await ask(transport, server)
        server.writers[0].write(EVIL)
        await until(lambda: kept(transport) == [False])
        gate = OpenGate()
        found = await transport.request("GET", server.url(), {}, gate=gate, limits=TransferLimits())
        assert isinstance(found, Response)
        assert (found.body, found.is_reused, gate.openings) == (b"hi", False, 1)


@pytest.mark.parametrize("is_kept", [True, False])
async def test_what_a_server_says_before_it_is_asked_is_no_answer(is_kept: bool) -> None:
    async with serving(HI) as server, server.transport() as transport:

        class Gate(OpenGate):
            async def open(self) -> None:
                await super().open()
                if self.openings == 1:
                    await server.is_met.wait()
                    server.writers[0].write(EVIL)
                    (held,) = transport._connectors[0]._acquired
                    await until(lambda: held.should_close)

            def sent(self, sent_from: str | None = None) -> None:
                pass

        if is_kept:
            await ask(transport, server)
        found = await transport.request("GET", server.url(), {}, gate=Gate(), limits=TransferLimits())
        if is_kept:
            assert isinstance(found, Response)
            assert found.body == b"hi"
        else:
            assert isinstance(found, FetchProblem)
            assert found.kind is Problem.RESET


@pytest.mark.parametrize(
    "wire",
    [
        answer(b"hi") + EVIL,
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n" + EVIL,
        b"HTTP/1.1 204 No Content\r\n\r\n" + EVIL,
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n" + EVIL,
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + EVIL,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + EVIL,
    ],
)
async def test_a_second_answer_behind_the_first_is_thrown_away(wire: bytes) -> None:
    async with serving(says(wire), HI) as server, server.transport() as transport:
        await ask(transport, server)
        assert (await ask(transport, server)).body == b"hi"
        assert len(server.visitors) == 2


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 2", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 2"),
        ("Content-Length: 2", "Content-Length: 3"),
        ("Content-Length: -2",),
        ("Content-Length: 2, 2",),
        ("Content-Length: 99999999999999999999",),
        ("X: a\0b",),
        ("X: a\rb",),
    ],
)
async def test_a_head_that_can_be_read_in_two_ways_is_not_read(lines: tuple[str, ...]) -> None:
    wire = "".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines, "")).encode()
    async with serving(says(wire + b"2\r\nhi\r\n0\r\n\r\n")) as server, server.transport() as transport:
        assert await problem(transport, server) is Problem.BAD_RESPONSE
        assert not transport._connectors[0]._conns


async def test_a_chunk_that_breaks_in_the_middle_of_a_body_ends_it_at_once() -> None:
    # More than is taken from a socket at a time, so that the head is known before the frame breaks.
    wire = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n80000\r\n" + b"x" * 0x80000 + b"\r\nZZ\r\n"
    async with serving(says(wire)) as server, server.transport() as transport:
        assert (await ask(transport, server, limits=PATIENT)).content == Truncated(b"x" * 0x80000)
        await server.is_left.wait()


async def test_a_body_that_took_long_leaves_its_connection_fit_for_another() -> None:
    async with serving(says(answer(b"x" * 600_000))) as server, server.transport() as transport:
        for _ in range(3):
            assert (await ask(transport, server)).content == Complete(b"x" * 600_000)
        assert len(server.visitors) == 1
        (idle,) = transport._connectors[0]._conns.values()
        assert len(idle[0][0].closed._callbacks) == 1  # type: ignore[union-attr]


async def test_heads_that_only_announce_another_are_not_read_for_ever() -> None:
    wire = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    async with serving(says(wire * 10 + answer(b"hi"))) as server, server.transport() as transport:
        assert (await ask(transport, server)).body == b"hi"
    async with serving(says(wire * 1_000)) as server, server.transport() as transport:
        assert await problem(transport, server, PATIENT) is Problem.BAD_RESPONSE
        await server.is_left.wait()


class NoAnswer(AbstractResolver):
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return await asyncio.Future()

    async def close(self) -> None:
        pass


class ShutGate:
    def __init__(self) -> None:
        self.is_asked = asyncio.Event()

    async def open(self) -> None:
        self.is_asked.set()
        await asyncio.Event().wait()

    def sent(self, sent_from: str | None = None) -> None:
        pass


PHASES = ["name", "handshake", "gate", "head", "body"]
HALF = says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi")


@asynccontextmanager
async def stuck_in(
    phase: str, limits: TransferLimits
) -> AsyncIterator[tuple[Transport, Server, "asyncio.Task[Response | FetchProblem]"]]:
    """A request that has got as far as `phase`, and gets no further."""
    line: Line = HALF if phase == "body" else SILENT
    resolver = NoAnswer() if phase == "name" else None
    async with serving(line) as server, server.transport(resolver=resolver) as transport:
        gate = ShutGate() if phase == "gate" else OpenGate()
        place = {"name": "http://far.test", "handshake": f"https://127.0.0.1:{server.port}"}
        url = canonicalise(place.get(phase, f"http://127.0.0.1:{server.port}") + "/")
        asking = asyncio.create_task(transport.request("GET", url, {}, gate=gate, limits=limits))
        reached: dict[str, Callable[[], Awaitable[object]]] = {
            "name": lambda: until(lambda: bool(transport._connectors[0]._acquired)),
            "gate": lambda: until(lambda: isinstance(gate, ShutGate) and gate.is_asked.is_set()),
            "handshake": server.is_met.wait,
            "head": lambda: until(lambda: bool(server.heads)),
            "body": lambda: until(lambda: bool(server.heads)),
        }
        await reached[phase]()
        yield transport, server, asking


async def require_nothing_left(transport: Transport, server: Server, descriptors: int) -> None:
    connector = transport._connectors[0]
    assert not connector._acquired
    assert not connector._acquired_per_host
    assert not connector._conns
    if server.visitors:
        await server.is_left.wait()
    await until(lambda: open_descriptors() <= descriptors)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("phase", PHASES)
async def test_a_request_given_up_in_any_phase_leaves_nothing_behind(phase: str) -> None:
    descriptors = open_descriptors() + 1  # the listener's
    async with stuck_in(phase, TransferLimits()) as (transport, server, asking):
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await require_nothing_left(transport, server, descriptors)


@pytest.mark.parametrize("phase", PHASES)
async def test_the_deadline_holds_in_every_phase_and_leaves_nothing_behind(phase: str) -> None:
    descriptors = open_descriptors() + 1
    async with stuck_in(phase, BRIEF) as (transport, server, asking):
        found = await asking
        assert isinstance(found, FetchProblem)
        assert found.kind is Problem.TIMEOUT
        await require_nothing_left(transport, server, descriptors)


async def test_an_address_of_version_6_is_asked_in_its_brackets() -> None:
    try:
        async with serving(HI, place="[::1]") as server, server.transport() as transport:
            assert (await ask(transport, server)).address == "::1"
            assert f"Host: [::1]:{server.port}\r\n".encode() in server.heads[0]
    except OSError:
        pytest.skip("no IPv6 here")


async def test_a_name_in_other_letters_is_asked_by_its_ascii_form() -> None:
    async with serving(HI) as server:
        resolver = SimResolver(server.port, clock=SystemClock())
        async with server.transport(resolver=resolver) as transport:
            url = canonicalise("http://zürich.test/straße?ä")
            assert isinstance(
                await transport.request("GET", url, {}, gate=OpenGate(), limits=TransferLimits()), Response
            )
        assert server.heads[0].startswith(b"GET /stra%C3%9Fe?%C3%A4 HTTP/1.1\r\nHost: xn--zrich-kva.test\r\n")


async def test_a_tunnel_is_told_the_proxys_password() -> None:
    async with serving(says(answer(b"", status="407 Who"))) as server:
        async with server.transport(proxy=f"http://user:word@127.0.0.1:{server.port}") as transport:
            url = canonicalise("https://far.test/a")
            for _ in range(2):
                found = await transport.request("GET", url, {}, gate=OpenGate(), limits=TransferLimits())
                assert isinstance(found, FetchProblem)
                assert "word" not in found.detail
        for head in server.heads:
            assert head.count(b"Proxy-Authorization: Basic dXNlcjp3b3Jk\r\n") == 1
