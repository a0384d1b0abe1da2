"""The sinks' client for HTTP: the transport of the fetch path, to a server that the operator named.

No slot is asked for: a sink's server is the operator's own, and it says itself when it has enough.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import orjson

from headwater.deliver.sink import SinkDown
from headwater.errors import UsageError
from headwater.net.body import Complete
from headwater.net.problems import FetchProblem, Problem
from headwater.net.transport import TransferLimits, Transport
from headwater.phrases import spelt_out
from headwater.urls.canonical import canonicalise

LARGEST_ANSWER_BYTES = 64 << 20
LONGEST_PLACE = 300
# A third of a lease at most: whoever holds a sink must know how its last request ended before the lease does.
DEFAULT_TIMEOUT_SECONDS = 15.0


class Unreachable(SinkDown):
    """No answer came, or none that could be read, or one that names another place."""


@dataclass(frozen=True, slots=True)
class SinkAnswer:
    status: int
    headers: Mapping[str, str]  # any case
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """Raises Unreachable for what is no JSON: a proxy's page, or an answer that was cut."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise Unreachable(f"The answer (status {self.status}) is no JSON.") from error

    @property
    def text(self) -> str:
        """The beginning, for people."""
        return self.body[:500].decode(errors="replace")


class _OpenGate:
    """Nobody has to be waited for."""

    async def open(self) -> None:
        pass

    def sent(self, sent_from: str | None = None) -> None:
        pass


_OPEN = _OpenGate()


@dataclass(slots=True)
class SinkClient:
    """Requests to one server. A name and password in its address go into a header, and nowhere else."""

    transport: Transport
    base: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = DEFAULT_TIMEOUT_SECONDS
    address: str = field(init=False)  # without secrets, for people
    _root: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                "The address of the server is no web address.", fix="Give one such as http://localhost:9200."
            )
        server = parts.netloc.rpartition("@")[2]
        self._root = urlunsplit((parts.scheme, server, parts.path.rstrip("/"), "", ""))
        self.address = self._root
        if parts.username:
            credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self.headers = {"Authorization": f"Basic {b64encode(credentials).decode()}", **self.headers}

    async def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> SinkAnswer:
        """`path` as it is sent, with its query. A sink that moved is named anew by a person: redirects are refused."""
        url = canonicalise(self._root + path)
        given = {**self.headers, **(headers or {})}
        limits = TransferLimits(
            total=timedelta(seconds=timeout or self.timeout),
            connect=timedelta(seconds=min(5.0, timeout or self.timeout)),
            body_bytes=LARGEST_ANSWER_BYTES,
        )
        answer = await self.transport.request(method, url, given, gate=_OPEN, limits=limits, body=body)
        if isinstance(answer, FetchProblem):
            raise _unreachable(self.address, answer, limits)
        if not isinstance(answer.content, Complete):
            raise Unreachable(f"The answer of {self.address} broke off.")
        if 300 <= answer.status < 400:
            raise _moved(self.address, answer.status, answer.headers.get("Location", ""))
        return SinkAnswer(answer.status, answer.headers, answer.body)


def _unreachable(address: str, problem: FetchProblem, limits: TransferLimits) -> Unreachable:
    match problem.kind:
        case Problem.TIMEOUT:
            what = f"{address} did not answer within {limits.total.total_seconds():g} seconds."
            return Unreachable(what, fix="See whether the server is overloaded.")
        case Problem.CONNECT_TIMEOUT:
            seconds = f"{limits.connect.total_seconds():g} seconds"
            what = f"{address} cannot be reached: nobody took the connection within {seconds}."
            return Unreachable(what, fix="See whether the server runs, and whether a firewall stands before it.")
        case Problem.CONNECT_REFUSED:
            what = f"{address} cannot be reached: the connection was refused."
            return Unreachable(what, fix="See whether the server runs, and listens on that port.")
        case Problem.DNS_NOT_FOUND:
            return Unreachable(f"{address} cannot be reached: there is no such name.", fix="Correct the address.")
        case kind:
            # The library's words stand behind ours: of TLS they name what is wrong with the certificate.
            detail = f" ({problem.detail})" if problem.detail else ""
            return Unreachable(f"{address} cannot be reached: {spelt_out(kind)}{detail}.")


def _moved(address: str, status: int, location: str) -> Unreachable:
    place = _without_secrets(location)
    return Unreachable(
        f"{address} answered {status} and points to {place or 'nowhere'}; redirects are not followed.",
        fix="Name the address where it is now.",
    )


def _without_secrets(location: str) -> str:
    """Of an address that a server sent: no credentials, no query, and not endless."""
    try:
        parts = urlsplit(location)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))[:LONGEST_PLACE]


def in_path(text: str) -> str:
    """A piece of a path, such as the name of an index."""
    return quote(text, safe="")
