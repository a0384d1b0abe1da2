"""One request, one answer: the only place that opens a connection to the web."""

import socket
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Protocol, Self

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.connector import Connection
from yarl import URL

from headwater.clock import Clock
from headwater.net.body import BodyReader, Complete, Outcome, TooLarge, Truncated, Undecodable, encodings_in
from headwater.net.guard import AddressGuard
from headwater.net.identity import Identity
from headwater.net.idle import IdleBudget
from headwater.net.problems import NETWORK_ERRORS, FetchProblem, problem_from
from headwater.net.resolver import GuardedResolver
from headwater.net.validators import Validators, validators_from
from headwater.urls.canonical import CanonicalUrl
from headwater.urls.fingerprint import bucket_of

ACCEPTED_ENCODINGS = "gzip, deflate, br, zstd"
MOST_HEADERS = 200
LONGEST_HEADER_BYTES = 16_384


class Gate(Protocol):
    """Asked in the moment before a request's head is sent: whoever has no slot raises there, and nothing is sent."""

    async def open(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Limits:
    total: timedelta = timedelta(seconds=30)
    connect: timedelta = timedelta(seconds=10)
    read: timedelta = timedelta(seconds=30)
    body_bytes: int = 10 * 1024 * 1024


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
    content: Outcome
    duration: timedelta
    is_reused: bool
    address: str | None
    at: datetime  # our own wall clock: only to read dates in headers against

    @property
    def body(self) -> bytes:
        """What arrived, up to the cap."""
        match self.content:
            case Complete(body) | TooLarge(body) | Truncated(body):
                return body
            case Undecodable():
                return b""

    @property
    def locations(self) -> list[bytes]:
        return [value for name, value in self.raw_headers if name.lower() == b"location"]

    @property
    def validators(self) -> Validators:
        return validators_from(self.raw_headers)


@dataclass(slots=True)
class _Ride:
    """What is learned on the way of one request."""

    gate: Gate
    is_reused: bool = True
    address: str | None = None


# Which request the client's parts are at work for; tasks that it makes of its own inherit this.
_RIDE: ContextVar[_Ride] = ContextVar("ride")


class _GatedRequest(aiohttp.ClientRequest):
    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        """With the connection made, this is the last moment in which a slot can still be honoured."""
        await _RIDE.get().gate.open()
        return await super().send(conn)


@dataclass(slots=True)
class Transport:
    """`async with Transport(…)`. `resolver` None asks the system's name servers."""

    identity: Identity
    guard: AddressGuard
    clock: Clock
    pooling: Pooling = field(default_factory=Pooling)
    dns_timeout: timedelta = timedelta(seconds=5)
    local_addresses: tuple[str, ...] = ()
    proxy: str | None = None
    resolver: AbstractResolver | None = None
    connections: dict[str, int] = field(default_factory=lambda: {"new": 0, "reused": 0}, init=False)
    _sessions: list[aiohttp.ClientSession] = field(default_factory=list, init=False)
    _idle: IdleBudget = field(init=False)

    def __post_init__(self) -> None:
        self._idle = IdleBudget(self.pooling.idle, self.pooling.idle_timeout.total_seconds())

    async def __aenter__(self) -> Self:
        self._sessions = [self._session(address) for address in self.local_addresses or (None,)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for session in self._sessions:
            await session.close()

    async def request(
        self, method: str, url: CanonicalUrl, headers: Mapping[str, str], *, gate: Gate, limits: Limits
    ) -> Response | FetchProblem:
        """Never raises for what the web does; whatever the gate raises goes through."""
        began = self.clock.monotonic()
        ride = _Ride(gate)
        _RIDE.set(ride)
        try:
            async with self._session_for(url.host).request(
                method,
                # As it was checked: nothing may be parsed or written a second time.
                URL(url.url, encoded=True),
                headers=headers if self._idle.may_keep(url.host, began) else {**headers, "Connection": "close"},
                timeout=_timeout(limits),
                proxy=self.proxy,
                allow_redirects=False,
            ) as response:
                content = await _content(response, method, limits)
                raw = response.raw_headers
        except NETWORK_ERRORS as error:
            return problem_from(error)
        self.connections["reused" if ride.is_reused else "new"] += 1
        duration = timedelta(seconds=self.clock.monotonic() - began)
        return Response(
            url,
            response.status,
            response.headers,
            raw,
            content,
            duration,
            ride.is_reused,
            ride.address,
            self.clock.now(),
        )

    def _guarded_socket(self, addr_info: Any) -> socket.socket:
        opened = self.guard.socket_factory(addr_info)
        ride = _RIDE.get()
        ride.is_reused, ride.address = False, addr_info[4][0]
        return opened

    def _session_for(self, host: str) -> aiohttp.ClientSession:
        """A host is always asked from the same address of ours; its slots are the same whatever the address."""
        return self._sessions[bucket_of(host) % len(self._sessions)]

    def _session(self, local_address: str | None) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,
            limit_per_host=self.pooling.per_host,
            keepalive_timeout=self.pooling.idle_timeout.total_seconds(),
            resolver=GuardedResolver(self.guard, self.dns_timeout.total_seconds(), self.resolver),
            use_dns_cache=False,  # a cached answer could outlive the name's own word; connections are reused instead
            socket_factory=self._guarded_socket,
            local_addr=(local_address, 0) if local_address else None,
        )
        return aiohttp.ClientSession(
            connector=connector,
            request_class=_GatedRequest,
            headers={**self.identity.headers, "Accept": "*/*", "Accept-Encoding": ACCEPTED_ENCODINGS},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            requote_redirect_url=False,
            max_line_size=LONGEST_HEADER_BYTES,
            max_field_size=LONGEST_HEADER_BYTES,
            max_headers=MOST_HEADERS,
        )


def _timeout(limits: Limits) -> aiohttp.ClientTimeout:
    """The total is always set: a slow drip never lets the read timeout pass."""
    total, connect = limits.total.total_seconds(), limits.connect.total_seconds()
    # A timer is set anew for every piece that arrives: none for a timeout that the total always beats.
    read = limits.read.total_seconds() if limits.read < limits.total else None
    return aiohttp.ClientTimeout(total=total, connect=connect, sock_connect=connect, sock_read=read)


async def _content(response: aiohttp.ClientResponse, method: str, limits: Limits) -> Outcome:
    """A redirect's body is of no use to anybody and may be a bomb: it is not read."""
    if method == "HEAD" or response.status in (204, 304) or 300 <= response.status < 400:
        if 300 <= response.status < 400 and response.status != 304:
            response.close()
        return Complete(b"")
    reader = BodyReader(limits.body_bytes, encodings_in(response.headers.getall("Content-Encoding", [])))
    try:
        async for chunk in response.content.iter_any():
            if outcome := reader.feed(chunk):
                response.close()
                return outcome
    except aiohttp.ClientPayloadError:
        return reader.end(is_cut=True)
    return reader.end()
