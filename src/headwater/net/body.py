"""A body as it arrives: unpacked piece by piece, and never more of it held than the cap allows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO

from headwater.net.unpacking import PIECE_BYTES, UNPACK_ERRORS, UNPACKERS, Unpacker

MOST_ENCODINGS = 2


@dataclass(frozen=True, slots=True)
class Packed:
    """A body as it came, in one coding."""

    coding: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Complete:
    body: bytes
    packed: Packed | None = field(default=None, compare=False)  # where it came so


@dataclass(frozen=True, slots=True)
class TooLarge:
    """`start` is what came before the cap: robots.txt may be read from it."""

    start: bytes


@dataclass(frozen=True, slots=True)
class Truncated:
    start: bytes


@dataclass(frozen=True, slots=True)
class Undecodable:
    reason: str


BodyOutcome = Complete | TooLarge | Truncated | Undecodable


class BodyReader:
    """Feed it until it gives an outcome, else ask for the outcome at the end."""

    def __init__(self, limit_bytes: int, encodings: Sequence[str] = ()) -> None:
        self._limit = limit_bytes
        self._body = BytesIO()
        self._is_empty = True
        self._outcome: BodyOutcome | None = _why_unreadable(encodings)
        self._coding = encodings[0].removeprefix("x-") if len(encodings) == 1 else ""
        self._came: list[bytes] = []
        # The coding applied last is taken off first (RFC 9110 8.4).
        names = () if self._outcome else reversed(encodings)
        # Packed text is hardly ever longer than plain. Without a bound, blocks of nothing could come for ever.
        self._layers = [_Layer(UNPACKERS[name](), limit_bytes + limit_bytes // 8 + PIECE_BYTES) for name in names]

    def feed(self, chunk: bytes) -> BodyOutcome | None:
        """None as long as more is wanted; anything else is final."""
        if self._outcome is None and chunk:
            self._is_empty = False
            if self._coding:
                self._came.append(chunk)
            self._outcome = self._take(chunk)
        return self._outcome

    def end(self, *, is_cut: bool = False) -> BodyOutcome:
        """The message is over; `is_cut` if its own framing says that something is missing."""
        if self._outcome is None:
            is_whole = self._is_empty or all(layer.unpacker.is_at_end for layer in self._layers)
            body = self._held()
            self._outcome = Complete(body, self._packed()) if is_whole and not is_cut else Truncated(body)
        return self._outcome

    def _take(self, chunk: bytes) -> BodyOutcome | None:
        try:
            for piece in _unpacked(chunk, self._layers):
                self._body.write(piece[: self._limit + 1 - self._body.tell()])
                if self._body.tell() > self._limit:
                    return TooLarge(self._held())
        except _PackedTooLarge:
            return TooLarge(self._held())
        except UNPACK_ERRORS:
            return Undecodable("not what its Content-Encoding says")
        return None

    def _packed(self) -> Packed | None:
        return Packed(self._coding, b"".join(self._came)) if self._came else None

    def _held(self) -> bytes:
        self._layers.clear()
        self._body.truncate(self._limit)
        # Shares its memory with the buffer: at this moment a second copy would double what a fetch costs.
        return self._body.getvalue()


def cut_body(limit_bytes: int, body: bytes) -> BodyOutcome:
    """For a plain body that is there as a whole."""
    return Complete(body) if len(body) <= limit_bytes else TooLarge(body[:limit_bytes])


def encodings_in(headers: Iterable[str]) -> tuple[str, ...]:
    """The codings that the Content-Encoding headers name, in the order they were applied."""
    names = (name.strip().lower() for header in headers for name in header.split(","))
    return tuple(name for name in names if name not in ("", "identity"))


def _why_unreadable(encodings: Sequence[str]) -> Undecodable | None:
    if len(encodings) > MOST_ENCODINGS:
        return Undecodable("too many content encodings")
    if any(name not in UNPACKERS for name in encodings):
        return Undecodable("unknown content encoding")
    return None


class _PackedTooLarge(Exception):
    pass


@dataclass(slots=True)
class _Layer:
    unpacker: Unpacker
    bytes_left: int


def _unpacked(data: bytes, layers: Sequence[_Layer]) -> Iterator[bytes]:
    if not layers:
        yield data
        return
    layers[0].bytes_left -= len(data)
    if layers[0].bytes_left < 0:
        raise _PackedTooLarge
    for piece in layers[0].unpacker.pieces(data):
        yield from _unpacked(piece, layers[1:])
