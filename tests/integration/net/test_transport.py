"""The transport on real connections: what goes over the wire, and what is made of what comes back."""

import asyncio
from datetime import timedelta

import pytest
from tests.integration.net.talk import Line, Server, answer, hangs_up, says, serving

from headwater.clock import SystemClock
from headwater.net.body import BodyOutcome, Complete, TooLarge, Truncated
from headwater.net.problems import FetchProblem, Problem
from headwater.net.transport import Pooling, Response, TransferLimits, Transport
from headwater.simweb.resolver import SimResolver
from headwater.urls.canonical import canonicalise

HI = says(answer(b"hi"))
BRIEF = TransferLimits(total=timedelta(seconds=0.2))
IMPATIENT = TransferLimits(total=timedelta(seconds=60), read=timedelta(seconds=0.1))


class OpenGate:
    def __init__(self) -> None:
        self.openings = 0

    async def open(self) -> None:
        self.openings += 1

    def sent(self, sent_from: str | None = None) -> None:
        pass


async def ask(
    transport: Transport,
    server: Server,
    path: str = "/",
    method: str = "GET",
    headers: dict[str, str] | None = None,
    limits: TransferLimits | None = None,
) -> Response:
    found = await transport.request(
        method, server.url(path), headers or {}, gate=OpenGate(), limits=limits or TransferLimits()
    )
    assert isinstance(found, Response), found
    return found


async def problem(transport: Transport, server: Server, limits: TransferLimits | None = None) -> Problem:
    found = await transport.request("GET", server.url(), {}, gate=OpenGate(), limits=limits or TransferLimits())
    assert isinstance(found, FetchProblem), found
    return found.kind


async def test_the_head_is_exactly_this() -> None:
    async with serving(HI) as server, server.transport() as transport:
        await ask(transport, server, "/a%20b?c=%C3%A9")
        assert server.heads == [
            b"GET /a%20b?c=%C3%A9 HTTP/1.1\r\n"
            b"Host: 127.0.0.1:" + str(server.port).encode() + b"\r\n"
            b"User-Agent: Tester/1\r\nFrom: t@h.test\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
        ]


async def test_a_given_header_takes_the_place_of_ours_in_whatever_case() -> None:
    async with serving(HI) as server, server.transport() as transport:
        await ask(transport, server, headers={"accept": "application/json", "If-None-Match": '"é"'})
        assert server.heads[0].lower().count(b"accept:") == 1
        assert b"accept: application/json\r\n" in server.heads[0]
        assert 'If-None-Match: "é"\r\n'.encode() in server.heads[0]


@pytest.mark.parametrize(
    "header", [("X", "a\r\nEvil: 1"), ("X", "a\nb"), ("X\r\nEvil", "1"), ("X", "a\0b"), ("X", "\udc80")]
)
async def test_a_header_that_would_end_early_is_not_sent(header: tuple[str, str]) -> None:
    async with serving(HI) as server, server.transport() as transport:
        with pytest.raises(ValueError, match="would end"):
            await ask(transport, server, headers=dict([header]))
        assert server.heads == []


async def test_a_connection_is_used_again_and_says_so() -> None:
    async with serving(HI) as server, server.transport() as transport:
        answers = [await ask(transport, server, path) for path in ("/1", "/2", "/3")]
        assert [one.is_reused for one in answers] == [False, True, True]
        assert [one.address for one in answers] == ["127.0.0.1", None, None]
        assert transport.figures.counts == {"connections.new": 1, "connections.reused": 2}
        assert len(server.visitors) == 1


async def test_beyond_the_budget_a_connection_is_not_kept_even_if_the_server_would() -> None:
    async with serving(HI) as server:
        resolver = SimResolver(server.port, clock=SystemClock())
        async with server.transport(pooling=Pooling(idle=1), resolver=resolver) as transport:
            for host in ("a.test", "b.test", "b.test", "a.test"):
                url = canonicalise(f"http://{host}/")
                await transport.request("GET", url, {}, gate=OpenGate(), limits=TransferLimits())
        assert [b"Connection: close\r\n" in head for head in server.heads] == [False, True, True, False]
        assert len(server.visitors) == 3


async def test_a_body_within_the_limit_is_whole_and_one_beyond_it_is_cut() -> None:
    async with serving(says(answer(b"x" * 100))) as server, server.transport() as transport:
        assert (await ask(transport, server, limits=TransferLimits(body_bytes=100))).content == Complete(b"x" * 100)
        assert (await ask(transport, server, limits=TransferLimits(body_bytes=99))).content == TooLarge(b"x" * 99)


async def test_a_body_without_end_is_left_at_the_limit() -> None:
    async def pours(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65_536)
            await writer.drain()

    async with serving(pours) as server, server.transport() as transport:
        found = await ask(transport, server, limits=TransferLimits(body_bytes=1_000_000))
        assert found.content == TooLarge(b"x" * 1_000_000)
        await server.is_left.wait()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", Truncated(b"hi")),
        (CHUNKED, Truncated(b"hi")),
        (CHUNKED + b"0\r\n\r\n", Complete(b"hi")),
        (b"HTTP/1.1 200 OK\r\n\r\nhi", Complete(b"hi")),
        (b"HTTP/1.0 200 OK\r\n\r\nhi", Complete(b"hi")),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", Complete(b"")),
        (b"HTTP/1.1 204 No Content\r\nContent-Encoding: compress\r\n\r\n", Complete(b"")),
        (b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + answer(b"hi"), Complete(b"hi")),
    ],
)
async def test_a_body_ends_where_its_framing_says(wire: bytes, expected: BodyOutcome) -> None:
    async def line(writer: asyncio.StreamWriter) -> None:
        writer.write(wire)
        writer.close()

    async with serving(line) as server, server.transport() as transport:
        assert (await ask(transport, server)).content == expected


async def test_an_answer_to_head_has_no_body_whatever_it_announces() -> None:
    wire = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Encoding: compress\r\n\r\n"
    async with serving(says(wire)) as server, server.transport() as transport:
        for _ in range(2):
            assert (await ask(transport, server, method="HEAD")).content == Complete(b"")
        assert len(server.visitors) == 1


@pytest.mark.parametrize(("body", "connections"), [(b"", 1), (b"Moved.", 2)])
async def test_the_body_of_a_redirect_is_never_read(body: bytes, connections: int) -> None:
    moved = says(answer(body, "Location: /b", "Location: /c", status="302 Found"))
    async with serving(moved, HI) as server, server.transport() as transport:
        found = await ask(transport, server)
        assert (found.status, found.content, found.locations) == (302, Complete(b""), [b"/b", b"/c"])
        assert (await ask(transport, server)).body == b"hi"
        assert len(server.visitors) == connections


@pytest.mark.parametrize("wire", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"])
@pytest.mark.parametrize("limits", [BRIEF, IMPATIENT], ids=["in all", "of reading"])
async def test_silence_is_left_when_its_time_is_over(wire: bytes, limits: TransferLimits) -> None:
    async with serving(says(wire)) as server, server.transport() as transport:
        assert await problem(transport, server, limits) is Problem.TIMEOUT
        await server.is_left.wait()


async def test_a_gate_that_takes_too_long_is_part_of_the_total() -> None:
    class SlowGate:
        async def open(self) -> None:
            await asyncio.Event().wait()

        def sent(self, sent_from: str | None = None) -> None:
            pass

    async with serving(HI) as server, server.transport() as transport:
        found = await transport.request("GET", server.url(), {}, gate=SlowGate(), limits=BRIEF)
        assert isinstance(found, FetchProblem)
        assert found.kind is Problem.TIMEOUT
        assert server.heads == []


async def test_whoever_gives_up_leaves_no_connection_behind() -> None:
    async with serving(says(b"")) as server, server.transport() as transport:
        asking = asyncio.create_task(ask(transport, server))
        await server.is_met.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.is_left.wait()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([f"X{number}: a" for number in range(198)], None),
        ([f"X{number}: a" for number in range(300)], Problem.HEADER_LIMIT),
        (["X: " + "a" * 16_000], None),
        (["X: " + "a" * 17_000], Problem.HEADER_LIMIT),
    ],
)
async def test_headers_have_a_limit_in_number_and_in_size(headers: list[str], expected: Problem | None) -> None:
    async with serving(says(answer(b"", *headers))) as server, server.transport() as transport:
        found = await transport.request("GET", server.url(), {}, gate=OpenGate(), limits=TransferLimits())
        assert (found.kind if isinstance(found, FetchProblem) else None) is expected


async def test_the_gate_is_asked_with_the_connection_made_and_nothing_sent() -> None:
    async with serving(HI) as server, server.transport() as transport:

        class Watching:
            async def open(self) -> None:
                await server.is_met.wait()
                assert server.heads == []

            def sent(self, sent_from: str | None = None) -> None:
                pass

        found = await transport.request("GET", server.url(), {}, gate=Watching(), limits=TransferLimits())
        assert isinstance(found, Response)


@pytest.mark.parametrize("dies", ["at the request", "at the gate"])
async def test_a_kept_connection_that_is_dead_is_replaced_once_and_the_gate_asked_again(dies: str) -> None:
    lines: list[Line] = [HI, hangs_up, HI] if dies == "at the request" else [HI]
    async with serving(*lines) as server, server.transport() as transport:
        await ask(transport, server)

        class Gate(OpenGate):
            async def open(self) -> None:
                await super().open()
                if dies == "at the gate" and self.openings == 1:
                    server.writers[0].close()
                    await server.is_left.wait()

            def sent(self, sent_from: str | None = None) -> None:
                pass

        gate = Gate()
        found = await transport.request("GET", server.url(), {}, gate=gate, limits=TransferLimits())
        assert isinstance(found, Response)
        assert gate.openings == 2
        assert len(server.visitors) == 2


async def test_a_fresh_connection_that_is_dropped_is_a_reset_and_nothing_is_repeated() -> None:
    async with serving(hangs_up) as server, server.transport() as transport:
        gate = OpenGate()
        found = await transport.request("GET", server.url(), {}, gate=gate, limits=TransferLimits())
        assert isinstance(found, FetchProblem)
        assert found.kind is Problem.RESET
        assert (gate.openings, len(server.heads)) == (1, 1)


async def test_cookies_are_never_sent_back() -> None:
    async with serving(says(answer(b"hi", "Set-Cookie: a=1; Path=/"))) as server, server.transport() as transport:
        for _ in range(2):
            await ask(transport, server)
        assert not any(b"cookie" in head.lower() for head in server.heads)


async def test_a_host_is_asked_from_the_address_we_were_given() -> None:
    async with serving(HI) as server, server.transport(local_addresses=("127.0.0.2",)) as transport:
        await ask(transport, server)
        assert server.visitors == ["127.0.0.2"]


async def test_a_proxy_is_told_the_whole_url_who_we_are_and_its_own_password() -> None:
    async with serving(HI) as server:
        proxy = f"http://user:word@127.0.0.1:{server.port}"
        async with server.transport(proxy=proxy) as transport:
            for path in ("/a", "/b", "/c"):
                url = canonicalise(f"http://far.test{path}")
                assert isinstance(
                    await transport.request("GET", url, {}, gate=OpenGate(), limits=TransferLimits()), Response
                )
        assert [head.split(b"\r\n")[0] for head in server.heads] == [
            b"GET http://far.test/%s HTTP/1.1" % letter for letter in (b"a", b"b", b"c")
        ]
        for head in server.heads:
            assert head.count(b"Host: far.test\r\n") == 1
            assert head.count(b"Proxy-Authorization: Basic dXNlcjp3b3Jk\r\n") == 1
        assert len(server.visitors) == 1


async def test_a_tunnel_is_asked_for_under_our_name_and_its_refusal_is_a_problem() -> None:
    async with serving(says(answer(b"", status="403 Forbidden"))) as server:
        async with server.transport(proxy=f"http://127.0.0.1:{server.port}") as transport:
            url = canonicalise("https://far.test/a")
            found = await transport.request("GET", url, {}, gate=OpenGate(), limits=TransferLimits())
        assert isinstance(found, FetchProblem)
        assert server.heads[0].startswith(b"CONNECT far.test:443 HTTP/1.1\r\n")
        assert b"User-Agent: Tester/1\r\n" in server.heads[0]
