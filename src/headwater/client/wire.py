"""Requests and answers over HTTP: connections that are kept, one for each request that is under way."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from select import select
from urllib.parse import SplitResult, urlsplit

from headwater.client.problems import ServerAway
from headwater.errors import UsageError

# Of an answer that is read as a whole.
LARGEST_ANSWER_BYTES = 256_000_000
CHUNK_BYTES = 65_536
MOST_KEPT = 8
TROUBLE = (OSError, HTTPException)


@dataclass(frozen=True, slots=True)
class WireRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class WireAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """May be used by several threads."""

    def __init__(self, address: str, timeout: float) -> None:
        self._place = place_at(address)
        self._timeout = timeout
        self._idle: list[HTTPConnection] = []

    @property
    def address(self) -> str:
        return f"{self._place.scheme}://{self._place.netloc}"

    def send(self, request: WireRequest) -> WireAnswer:
        """Raises OSError or HTTPException where there is no answer, or not the whole of it."""
        connection = self._connected()
        try:
            answer = self._begin(connection, request)
            body = answer.read(LARGEST_ANSWER_BYTES + 1)
            if len(body) > LARGEST_ANSWER_BYTES:
                raise ServerAway(f"An answer of {self.address} is larger than {LARGEST_ANSWER_BYTES:,} bytes.")
        except BaseException:
            connection.close()
            raise
        self._put_back(connection, answer)
        return WireAnswer(answer.status, headers_of(answer), body)

    def stream(self, request: WireRequest) -> tuple[WireAnswer, Iterator[bytes]]:
        """The head of an answer, and its body as it comes; the connection is closed behind it."""
        connection = self._connected()
        try:
            answer = self._begin(connection, request)
        except BaseException:
            connection.close()
            raise
        return WireAnswer(answer.status, headers_of(answer), b""), _chunks(connection, answer, self.address)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _begin(self, connection: HTTPConnection, request: WireRequest) -> HTTPResponse:
        path = self._place.path.rstrip("/") + request.path
        connection.request(request.method, path, request.body, dict(request.headers))
        return connection.getresponse()

    def _connected(self) -> HTTPConnection:
        while self._idle:
            with suppress(IndexError):  # another thread was quicker
                kept = self._idle.pop()
                if is_open(kept):
                    return kept
                kept.close()
        kind = HTTPSConnection if self._place.scheme == "https" else HTTPConnection
        return kind(self._place.hostname or "", self._place.port, timeout=self._timeout)

    def _put_back(self, connection: HTTPConnection, answer: HTTPResponse) -> None:
        if answer.will_close or len(self._idle) >= MOST_KEPT:
            connection.close()
        else:
            self._idle.append(connection)


def place_at(address: str) -> SplitResult:
    try:
        place = urlsplit(address)
        port = place.port
    except ValueError:
        raise no_address(address) from None
    is_plain = place.username is None and not place.query and not place.fragment
    if place.scheme not in ("http", "https") or not place.hostname or port == 0 or not is_plain:
        raise no_address(address)
    return place


def no_address(text: str) -> UsageError:
    return UsageError(
        f"{text!r} is not the address of a server.", fix="Give one such as http://127.0.0.1:8080 or https://hw.example"
    )


def is_open(connection: HTTPConnection) -> bool:
    """A kept connection on which something arrives unasked was closed by the server."""
    if connection.sock is None:
        return False
    readable, _, _ = select([connection.sock], [], [], 0)
    return not readable


def headers_of(answer: HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.getheaders()}


def _chunks(connection: HTTPConnection, answer: HTTPResponse, address: str) -> Iterator[bytes]:
    try:
        while chunk := answer.read1(CHUNK_BYTES):
            yield chunk
    except TROUBLE as error:
        raise ServerAway(f"{address} broke off its answer: {str(error) or type(error).__name__}.") from error
    finally:
        connection.close()
