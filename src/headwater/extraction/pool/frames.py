"""The messages between a pool and its children: frames of length, kind and body, read and written whole.

A payload is bytes or JSON. An answer is JSON only: a page may have taken its child over, so nothing that comes back
may be able to build an object of ours, and the reader is told its length before it makes room for it.
"""

import os
from struct import Struct
from typing import Any

import orjson

HEAD = Struct("!Qc")
BYTES, JSON = b"B", b"J"
RULES = b"R"  # the exceptions of hosts by which keys are made; not answered
DONE, CRASHED, OUT_OF_MEMORY = b"D", b"C", b"M"
TOO_LONG = b"L"  # never sent: what a reader makes of an answer that has no end

# Between the pool and the fork server, all of one size. A request to start carries the child's descriptor.
REQUEST = Struct("!cq")
START, KILL = b"S", b"K"
REPORT = Struct("!cqqq")
READY, STARTED, REFUSED, ENDED = b"R", b"S", b"F", b"E"

_AT_ONCE = 1 << 20


def pack(payload: Any) -> tuple[bytes, bytes]:
    return (BYTES, payload) if isinstance(payload, bytes) else (JSON, orjson.dumps(payload))


def unpack(kind: bytes, body: bytes) -> Any:
    return body if kind == BYTES else orjson.loads(body)


def frame(kind: bytes, body: bytes) -> bytes:
    return HEAD.pack(len(body), kind) + body


def read_frame(descriptor: int) -> tuple[bytes, bytes] | None:
    """The next frame, or None when the other side hung up."""
    head = _read_exactly(descriptor, HEAD.size)
    if head is None:
        return None
    length, kind = HEAD.unpack(head)
    body = _read_exactly(descriptor, length)
    return None if body is None else (kind, body)


def write_frame(descriptor: int, kind: bytes, body: bytes) -> None:
    left = memoryview(frame(kind, body))
    while left:
        left = left[os.write(descriptor, left) :]


def _read_exactly(descriptor: int, size: int) -> bytes | None:
    pieces = []
    while size:
        piece = os.read(descriptor, min(size, _AT_ONCE))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
