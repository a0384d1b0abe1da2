"""One request, one answer: the only place that opens a connection to the web."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

import aiohttp
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.streams import EMPTY_PAYLOAD
from multidict import CIMultiDict
from yarl import URL

from headwater.clock import Clock
from headwater.figures import CONNECTIONS, Figures
from headwater.net.addresses import machine_of
from headwater.net.body import (
    BodyOutcome,
    BodyReader,
    Complete,
    TooLarge,
    Truncated,
    Undecodable,
    cut_body,
    encodings_in,
)
from headwater.net.guard import AddressGuard
from headwater.net.head import head_of, header_lines
from headwater.net.identity import Identity
from headwater.net.idle import IdleBudget
from headwater.net.outage import NetworkWatch
from headwater.net.problems import NETWORK_ERRORS, FetchProblem, own_trouble, problem_from
from headwater.net.resolver import GuardedResolver
from headwater.net.validators import Validators, validators_from
from headwater.urls.canonical import CanonicalUrl
from headwater.urls.fingerprint import bucket_of

ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd"
# Origins whose place in the pool is remembered: making one costs as much as a small request.
MOST_PLACES = 1_000
MOST_HEADERS = 200
LONGEST_HEADER_BYTES = 16_384
# Heads that only announce another (1xx): without a bound they could come until the deadline, each of them parsed.
MOST_INTERIM = 20
_NOT_KEPT = {"connection": "Connection: close\r\n"}
_REPEATABLE = frozenset({"GET", "HEAD"})
_SWITCHING_PROTOCOLS = 101
Crowded = Callable[[str, str], Awaitable[None]]  # host and address, once connected: may wait, or refuse by raising


class Dialled(Protocol):
    """Told of every new connection, before anything is asked on it."""

    async def __call__(self, host: str, *, is_inside: bool) -> None: ...


class Signer(Protocol):
    """Proves who makes a request over https."""

    def lines_for(self, authority: str) -> Mapping[str, str]: ...


class Gate(Protocol):
    """Asked in the moment before a request's head is sent: without a slot it raises, and nothing is sent."""

    async def open(self) -> None: ...

    def sent(self, sent_from: str | None = None) -> None:
        """The head was handed to the connection, in the same turn of the loop; from which address of this machine."""


@dataclass(frozen=True, slots=True)
class TransferLimits:
    total: timedelta = timedelta(seconds=30)
    connect: timedelta = timedelta(seconds=10)
    read: timedelta = timedelta(seconds=30)
    body_bytes: int = 10 * 1024 * 1024
    is_only_inside: bool = False  # nothing is said unless the connection leads into a network of our own
    timeout: aiohttp.ClientTimeout = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        total, connect = self.total.total_seconds(), self.connect.total_seconds()
        # A timer is set anew for every piece that arrives: none for a timeout that the total always beats.
        read = self.read.total_seconds() if self.read < self.total else None
        timeout = aiohttp.ClientTimeout(total=total, connect=connect, sock_connect=connect, sock_read=read)
        object.__setattr__(self, "timeout", timeout)


@dataclass(frozen=True, slots=True)
class Pooling:
    """0 is no limit."""

    idle: int = 100
    per_host: int = 10
    idle_timeout: timedelta = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class Response:
    url: CanonicalUrl
    status: int
    headers: Mapping[str, str]  # any case; the first of several
    raw_headers: Sequence[tuple[bytes, bytes]]
    content: BodyOutcome
    duration: timedelta
    is_reused: bool
    address: str | None
    at: datetime  # our own wall clock: only to read dates in headers against
    asked_as: str = ""  # our product token: what a page says to it is said to us
    machine: str | None = None  # where names share a pace; None behind a proxy and in networks of our own

    @property
    def body(self) -> bytes:
        """The bytes that arrived, up to the cap."""
        match self.content:
            case Complete():
                return self.content.body
            case TooLarge() | Truncated():
                return self.content.start
            case Undecodable():
                return b""

    @property
    def locations(self) -> list[bytes]:
        if hdrs.LOCATION not in self.headers:
            return []
        return [value for name, value in self.raw_headers if name.lower() == b"location"]

    @property
    def validators(self) -> Validators:
        return validators_from(self.raw_headers)


@dataclass(slots=True)
class _RequestTrace:
    """Facts collected while one request is made."""

    host: str
    is_reused: bool = True
    address: str | None = None
    is_inside: bool = True  # every address dialled lies in a network of our own
    machine: str | None = None


# Which request a connection is dialled for; tasks that the client makes of its own inherit this.
_TRACE: ContextVar[_RequestTrace] = ContextVar("request_trace")


@dataclass(slots=True)
class _PooledOrigin:
    """An origin as the pool knows it. `request` only names it there, and is never sent."""

    connector: aiohttp.BaseConnector
    request: aiohttp.ClientRequest
    lines: Mapping[str, str]  # of every head that goes there, by name
    is_proxied: bool = False  # in the open: a tunnel is as good as the way itself
    authority: str = ""  # what a signature is for; none in the open, where anybody could take it

    async def connection(self, timeout: aiohttp.ClientTimeout) -> Connection:
        """One on which nothing was said yet: the pool also keeps those whose server went on talking."""
        while True:
            try:
                connection = await self.connector.connect(self.request, [], timeout)
            except TimeoutError as error:
                raise aiohttp.ConnectionTimeoutError("no connection in time") from error
            if not _protocol_of(connection).should_close:
                return connection
            connection.close()


class _Question(NamedTuple):
    method: str
    head: Callable[[], bytes]  # made anew when it is sent again: a signature may serve only once
    gate: Gate
    read_timeout: float | None
    dialled: Dialled | None
    crowded: Crowded | None = None
    inside: AddressGuard | None = None


@dataclass(slots=True)
class Transport:
    """`async with Transport(…)`. `resolver` None asks the system's name servers; `trust` None trusts whom it trusts."""

    identity: Identity
    guard: AddressGuard
    clock: Clock
    pooling: Pooling = field(default_factory=Pooling)
    dns_timeout: timedelta = timedelta(seconds=5)
    local_addresses: tuple[str, ...] = ()
    proxy: str | None = None
    resolver: AbstractResolver | None = None
    dialled: Dialled | None = None
    crowded: Crowded | None = None
    network: NetworkWatch | None = None  # told of how requests end
    trust: ssl.SSLContext | None = None
    signer: Signer | None = None
    figures: Figures = field(default_factory=Figures)
    _connectors: list[aiohttp.TCPConnector] = field(default_factory=list, init=False)
    _idle: IdleBudget = field(init=False)
    _standing: Mapping[str, str] = field(init=False)
    _product_token: str = field(init=False)
    _place_at: Callable[[str], _PooledOrigin] = field(init=False)

    def __post_init__(self) -> None:
        self._idle = IdleBudget(self.pooling.idle, self.pooling.idle_timeout.total_seconds())
        self._standing = {**self.identity.headers, "Accept": "*/*", "Accept-Encoding": ACCEPTED_ENCODINGS}
        self._product_token = self.identity.product_token
        self._place_at = lru_cache(MOST_PLACES)(self._new_place)

    async def __aenter__(self) -> Self:
        self._connectors = [self._connector(address) for address in self.local_addresses or (None,)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connector in self._connectors:
            await connector.close()

    async def request(
        self,
        method: str,
        url: CanonicalUrl,
        headers: Mapping[str, str],
        *,
        gate: Gate,
        limits: TransferLimits,
        body: bytes | None = None,
    ) -> Response | FetchProblem:
        """Never raises for what the web does; whatever the gate raises goes through. OutOfResources is our own."""
        began = self.clock.monotonic()
        is_kept = self._idle.may_keep(url.host, began)
        target = url.target
        place = self._place_at(url.url[: -len(target)])
        length = {} if body is None else {"Content-Length": str(len(body))}
        lines = {**place.lines, **header_lines({**headers, **length}), **({} if is_kept else _NOT_KEPT)}

        def head() -> bytes:
            signed = self.signer.lines_for(place.authority) if self.signer and place.authority else {}
            # As it was checked: nothing may be parsed or written a second time.
            return head_of(method, url.url if place.is_proxied else target, {**lines, **signed}) + (body or b"")

        inside = self.guard if limits.is_only_inside else None
        question = _Question(method, head, gate, limits.timeout.sock_read, self.dialled, self.crowded, inside)
        request_trace = _RequestTrace(url.host)
        _TRACE.set(request_trace)
        try:
            # Around everything: a slow drip never lets a read timeout pass.
            async with asyncio.timeout(limits.timeout.total):
                connection, message, payload = await _answered(place, question, limits, request_trace)
                try:
                    content = await _content_of(_protocol_of(connection), message, payload, limits.body_bytes)
                finally:
                    # What was not read to its end would be taken for the start of the next answer.
                    (connection.release if is_kept and payload.at_eof() else connection.close)()
        except NETWORK_ERRORS as error:
            if trouble := own_trouble(error):
                self._idle.empty(self._connectors)
                raise trouble from error
            return problem_from(error)
        self.figures.add(f"{CONNECTIONS}.{'reused' if request_trace.is_reused else 'new'}")
        return self._response(url, message, content, began, request_trace)

    def _response(
        self, url: CanonicalUrl, message: RawResponseMessage, content: BodyOutcome, began: float, trace: _RequestTrace
    ) -> Response:
        return Response(
            url,
            message.code,
            message.headers,
            message.raw_headers,
            content,
            timedelta(seconds=self.clock.monotonic() - began),
            trace.is_reused,
            trace.address,
            self.clock.now(),
            self._product_token,
            trace.machine,
        )

    async def problem_with_name(self, url: CanonicalUrl) -> FetchProblem | None:
        """Why a name leads to no address we may ask. Behind a proxy nothing is known of that: it looks names up."""
        if self.proxy:
            return None
        resolver = GuardedResolver(self.guard, self.dns_timeout.total_seconds(), self.resolver)
        try:
            await resolver.resolve(url.host.strip("[]"), url.origin.port)
        except NETWORK_ERRORS as error:
            return problem_from(error)
        finally:
            if self.resolver is None:
                await resolver.close()
        return None

    def _guarded_socket(self, addr_info: Any) -> socket.socket:
        opened = self.guard.socket_factory(addr_info)
        request_trace = _TRACE.get()
        address, port, *_ = addr_info[4]
        request_trace.is_reused, request_trace.address = False, address
        # Behind a proxy every host would seem to stand where the proxy does.
        request_trace.is_inside = request_trace.is_inside and self.proxy is None and self.guard.is_inside(address, port)
        request_trace.machine = None if self.proxy or self.guard.is_inside(address, port) else machine_of(address)
        return opened

    def _new_place(self, root: str) -> _PooledOrigin:
        """`root` is what stands before the path of a URL."""
        url = URL(root, encoded=True)
        # A host is always asked from the same address of ours; its slots are the same whatever the address.
        connector = self._connectors[bucket_of(str(url.host_subcomponent)) % len(self._connectors)]
        headers = {"Host": str(url.host_port_subcomponent), **self._standing}
        return _place(connector, url, headers, URL(self.proxy) if self.proxy else None)

    def _connector(self, local_address: str | None) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(
            limit=0,
            limit_per_host=self.pooling.per_host,
            keepalive_timeout=self.pooling.idle_timeout.total_seconds(),
            resolver=GuardedResolver(self.guard, self.dns_timeout.total_seconds(), self.resolver),
            use_dns_cache=False,  # a cached answer could outlive the name's own word; connections are reused instead
            socket_factory=self._guarded_socket,
            ssl=self.trust or True,
            local_addr=(local_address, 0) if local_address else None,
        )


async def _answered(
    place: _PooledOrigin, question: _Question, limits: TransferLimits, request_trace: _RequestTrace
) -> tuple[Connection, RawResponseMessage, aiohttp.StreamReader]:
    """A kept connection may turn out to be dead: then, and once, the question is put again (RFC 9112 9.3.1)."""
    is_repeated = False
    while True:
        connection = await place.connection(limits.timeout)
        try:
            if question.inside is not None:
                question.inside.check_inside(connection.transport, is_proxied=place.is_proxied)
            if question.dialled is not None and not request_trace.is_reused:
                await question.dialled(request_trace.host, is_inside=request_trace.is_inside)
            if question.crowded and request_trace.machine:
                await question.crowded(request_trace.host, request_trace.machine)
            return connection, *await _head_answered(connection, question)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            connection.close()
            if is_repeated or not request_trace.is_reused or question.method not in _REPEATABLE:
                raise
            is_repeated = True
        except BaseException:
            connection.close()
            raise


async def _head_answered(
    connection: Connection, question: _Question
) -> tuple[RawResponseMessage, aiohttp.StreamReader]:
    """Put the question, and wait for the head of the final answer."""
    protocol = _protocol_of(connection)
    protocol.set_response_params(
        skip_payload=question.method == "HEAD",
        read_until_eof=True,
        auto_decompress=False,
        read_timeout=question.read_timeout,
        max_line_size=LONGEST_HEADER_BYTES,
        max_field_size=LONGEST_HEADER_BYTES,
        max_headers=MOST_HEADERS,
    )
    # With the connection made, this is the last moment in which a slot can still be honoured.
    await question.gate.open()
    # Whatever was said meanwhile would be taken for the answer.
    if protocol.transport is None or protocol.should_close:
        raise aiohttp.ServerDisconnectedError
    protocol.transport.write(question.head())
    question.gate.sent(_local_address(protocol.transport))
    protocol.start_timeout()
    for _ in range(MOST_INTERIM):
        message, payload = await protocol.read()
        if not 100 <= message.code < 200 or message.code == _SWITCHING_PROTOCOLS:
            return message, payload
    raise BadHttpMessage("too many interim answers")


async def _content_of(
    protocol: ResponseHandler, message: RawResponseMessage, payload: aiohttp.StreamReader, limit_bytes: int
) -> BodyOutcome:
    """The body, where there is one; a redirect's is of no use to anybody and may be a bomb."""
    if payload is EMPTY_PAYLOAD or 300 <= message.code < 400:
        return Complete(b"")
    if payload.is_eof() and payload.exception() is None and hdrs.CONTENT_ENCODING not in message.headers:
        # Most pages have arrived with their head: there is nothing to wait for and nothing to unpack.
        return cut_body(limit_bytes, payload.read_nowait())
    reader = BodyReader(limit_bytes, encodings_in(message.headers.getall(hdrs.CONTENT_ENCODING, ())))
    try:
        with _cut_when_closed(protocol, payload):
            while chunk := await payload.readany():
                if outcome := reader.feed(chunk):
                    return outcome
    except aiohttp.ClientPayloadError:
        return reader.end(is_cut=True)
    return reader.end()


@contextmanager
def _cut_when_closed(protocol: ResponseHandler, payload: aiohttp.StreamReader) -> Iterator[None]:
    """A broken frame closes its connection, but nobody tells the body: it would be waited for until the deadline."""

    def cut(_closed: object = None) -> None:
        if not payload.is_eof() and payload.exception() is None:
            payload.set_exception(aiohttp.ClientPayloadError("the connection was closed"))

    closed = protocol.closed
    if closed is None:
        cut()
        yield
        return
    closed.add_done_callback(cut)
    try:
        yield
    finally:
        closed.remove_done_callback(cut)
        # How a kept connection ends later is nobody's concern, and must not be reported as overlooked.
        closed.remove_done_callback(_overlook)
        closed.add_done_callback(_overlook)


def _overlook(closed: "asyncio.Future[None]") -> None:
    if not closed.cancelled():
        closed.exception()


def _local_address(transport: asyncio.BaseTransport) -> str | None:
    """Without the zone of an address that is valid on one link only."""
    name = transport.get_extra_info("sockname")
    return str(name[0]).partition("%")[0] if isinstance(name, tuple) else None


def _protocol_of(connection: Connection) -> ResponseHandler:
    assert connection.protocol is not None
    return connection.protocol


def _place(connector: aiohttp.BaseConnector, url: URL, headers: Mapping[str, str], proxy: URL | None) -> _PooledOrigin:
    loop = asyncio.get_running_loop()
    lines = header_lines(headers)
    authority = headers[hdrs.HOST].lower() if url.scheme == "https" else ""
    if proxy is None:
        return _PooledOrigin(connector, aiohttp.ClientRequest("GET", url, loop=loop), lines, authority=authority)
    # To a proxy we say who we are too.
    request = aiohttp.ClientRequest("GET", url, proxy=proxy, proxy_headers=CIMultiDict(headers), loop=loop)
    if url.scheme == "https":
        return _PooledOrigin(connector, request, lines, authority=authority)
    # The client makes credentials of what stands in a URL.
    credentials = aiohttp.ClientRequest("GET", proxy, loop=loop).headers.get(hdrs.AUTHORIZATION)
    if credentials:
        lines |= header_lines({hdrs.PROXY_AUTHORIZATION: credentials})
    return _PooledOrigin(connector, request, lines, is_proxied=True)
