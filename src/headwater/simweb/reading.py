"""HTTP/1.1 requests out of bytes. Pure: the same bytes give the same request, or the same reason why not."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from headwater.simweb.message import Request

MOST_HEAD_BYTES = 65_536
MOST_BODY_BYTES = 1_048_576
_FORBIDDEN_IN_LINES = frozenset("\r\n\0")


@dataclass(frozen=True, slots=True)
class Asked:
    """One whole request, the bytes it took from the front of the buffer, and whether another may follow."""

    request: Request
    keeps_alive: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Malformed:
    """Not a request we can answer; after `status` the connection is closed, for its framing is lost."""

    status: int
    why: str


def read_request(buffer: bytes) -> Asked | Malformed | None:
    """The first request in the buffer; None while it is incomplete."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0 or end > MOST_HEAD_BYTES:
        return _without_an_end(buffer)
    lines = buffer[:end].decode("latin-1").lstrip("\r\n").split("\r\n")
    headers = _headers(lines)
    if isinstance(headers, Malformed):
        return headers
    length = _body_length(headers)
    if isinstance(length, Malformed):
        return length
    size = end + 4 + length
    if len(buffer) < size:
        return None
    return _asked(lines[0], headers, buffer[end + 4 : size], size)


def _without_an_end(buffer: bytes) -> Malformed | None:
    if len(buffer) > MOST_HEAD_BYTES:
        return Malformed(431, f"the request head exceeds {MOST_HEAD_BYTES} bytes")
    # A client that ends its lines with a bare newline would wait for ever.
    if b"\n\n" in buffer:
        return Malformed(400, "lines must end with CR LF")
    return None


def _headers(lines: list[str]) -> dict[str, str] | Malformed:
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not name or " " in name or "\t" in name or not _FORBIDDEN_IN_LINES.isdisjoint(line):
            return Malformed(400, f"not a header line: {line[:80]!r}")
        name = name.lower()
        value = value.strip(" \t")
        if name not in headers:
            headers[name] = value
        elif name in ("host", "content-length"):
            return Malformed(400, f"more than one {name} header")
        else:
            headers[name] += ", " + value
    return headers


def _body_length(headers: Mapping[str, str]) -> int | Malformed:
    if "transfer-encoding" in headers:
        return Malformed(411, "a body needs a Content-Length here")
    written = headers.get("content-length", "0")
    if not (written.isascii() and written.isdigit()):
        return Malformed(400, f"not a Content-Length: {written[:40]!r}")
    if len(written) > len(str(MOST_BODY_BYTES)) or int(written) > MOST_BODY_BYTES:
        return Malformed(413, f"the request body exceeds {MOST_BODY_BYTES} bytes")
    return int(written)


def _asked(line: str, headers: dict[str, str], body: bytes, size: int) -> Asked | Malformed:
    parts = line.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0") or not parts[0].isalpha():
        return Malformed(400, f"not a request line: {line[:80]!r}")
    method, target, version = parts
    if version == "HTTP/1.1" and "host" not in headers:
        return Malformed(400, "HTTP/1.1 needs a Host header")
    where = _place(target, headers.get("host", ""))
    if where is None:
        return Malformed(400, f"not a request target: {target[:80]!r}")
    host, path = where
    path, _, query = path.partition("?")
    return Asked(
        Request(method, host, path, query, headers, body), _keeps_alive(version, headers.get("connection")), size
    )


def _place(target: str, host: str) -> tuple[str, str] | None:
    """Host and path of any form of target: the absolute form lets a browser use us as its proxy."""
    if target.startswith("/") or target == "*":
        return host_name(host), target
    if target[:7].lower() != "http://":
        return None
    authority, slash, rest = target[7:].partition("/")
    return (host_name(authority), slash + rest) if slash else (host_name(authority), "/")


@lru_cache(maxsize=65_536)
def host_name(authority: str) -> str:
    """The bare name in `Name.test.:8080`: lower-case, without port and root dot."""
    name, colon, port = authority.strip().rpartition(":")
    if not colon or not port.isdigit():
        name = authority.strip()
    return name.lower().rstrip(".")


def _keeps_alive(version: str, connection: str | None) -> bool:
    if connection is None:
        return version == "HTTP/1.1"
    wishes = connection.lower()
    return "keep-alive" in wishes if version == "HTTP/1.0" else "close" not in wishes
