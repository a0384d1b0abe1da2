"""ETag and Last-Modified: kept byte for byte, so that a server finds its own words again."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

LONGEST_BYTES = 2_000
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Validators:
    """Each character stands for one byte of the header (Latin-1), whatever the server meant by it."""

    etag: str | None = None
    last_modified: str | None = None


def validators_from(raw_headers: Iterable[tuple[bytes, bytes]]) -> Validators:
    """From the head as it came: decoded headers have lost the bytes that are not UTF-8."""
    said: dict[bytes, bytes] = {}
    for name, value in raw_headers:
        said.setdefault(name.lower(), value)
    return Validators(sendable(said.get(b"etag", b"")), sendable(said.get(b"last-modified", b"")))


def sendable(value: bytes) -> str | None:
    """None for what could not be sent back: empty, over-long, or with a control character that could end the header."""
    value = value.strip(b" \t")
    if not value or len(value) > LONGEST_BYTES or _CONTROL.search(value):
        return None
    return value.decode("latin-1")


def conditional_headers(etag: str | None, last_modified: str | None) -> dict[str, str]:
    """Both when both are known: RFC 9110 13.1.3 lets the ETag win where it is understood."""
    stored = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    sendable = {name: _sendable(value) for name, value in stored.items() if value}
    return {name: value for name, value in sendable.items() if value is not None}


def _sendable(value: str) -> str | None:
    """The client writes headers as UTF-8, so the text must be one that comes out as the bytes we were given."""
    try:
        octets = value.encode("latin-1")
        return octets.decode() if sendable(octets) == value else None
    except UnicodeError:
        return None
