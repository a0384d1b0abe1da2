"""The content codings we can read. Whatever the ratio, what is unpacked comes in small pieces."""

import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import brotli
import zstandard

PIECE_BYTES = 65_536
UNPACK_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)
# What follows a member is copied, so a long input of tiny members is handed over in parts.
_INPUT_BYTES = 16_384
# One block of zstd unpacks four bytes to 128 kB and its decoder takes no limit: either of these bounds a piece to 2 MB.
_ZSTD_BLOCKS = 16
_ZSTD_INPUT_BYTES = 64
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SHORTEST_HEAD = 5
# RFC 9659: no sender may ask for more.
_ZSTD_WINDOW_BYTES = 8 * 1024 * 1024


class Unpacker(Protocol):
    """One content coding. A reader may stop between two pieces, and then never asks again."""

    def pieces(self, data: bytes) -> Iterator[bytes]: ...

    @property
    def is_at_end(self) -> bool: ...


def _parts(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


class _Gzip:
    """Several members in a row are one body. What follows the last and is no member is ignored, as browsers do."""

    _FIRST_BYTE = 0x1F

    def __init__(self) -> None:
        self._member = _new_member()
        self._is_padding = False

    @property
    def is_at_end(self) -> bool:
        return self._is_padding or self._member.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        for part in _parts(data, _INPUT_BYTES):
            rest = part
            while rest:
                if self._member.eof:
                    self._go_past_member(rest)
                if self._is_padding:
                    return
                yield from _inflated(self._member, rest)
                rest = self._member.unused_data

    def _go_past_member(self, following: bytes) -> None:
        if following[0] == self._FIRST_BYTE:
            self._member = _new_member()
        else:
            self._is_padding = True


class _Deflate:
    """With the header of zlib as the standard wants it, or without as some servers send it."""

    def __init__(self) -> None:
        self._head = b""
        self._stream: zlib._Decompress | None = None

    @property
    def is_at_end(self) -> bool:
        return self._stream is not None and self._stream.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            data = self._head = self._head + data
            if len(data) < 2:
                return
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if _has_zlib_header(data) else -zlib.MAX_WBITS)
        for part in _parts(data, _INPUT_BYTES):
            yield from _inflated(self._stream, part)
            # Without a checksum much unpacks to something: only a stream that ends where the body does is believed.
            if self._stream.unused_data:
                raise zlib.error("data after the end")


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def is_at_end(self) -> bool:
        return bool(self._stream.is_finished())

    def pieces(self, data: bytes) -> Iterator[bytes]:
        piece = self._stream.process(data, output_buffer_limit=PIECE_BYTES)
        # All input may be taken in while output is still waiting, so only an empty piece is the end.
        while piece or not self._stream.can_accept_more_data():
            yield piece
            if self._stream.is_finished():
                return
            piece = self._stream.process(b"", output_buffer_limit=PIECE_BYTES)


class _Zstd:
    """Handed over by the block, since a page is two of them, and a bomb is known by their number."""

    _BLOCK_HEAD = 3
    _REPEATED_BYTE = 1

    def __init__(self) -> None:
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
        self._held = b""
        self._begin_frame()

    @property
    def is_at_end(self) -> bool:
        return self._frame.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        for part in _parts(data, _INPUT_BYTES):
            yield from self._pieces(part)

    def _pieces(self, part: bytes) -> Iterator[bytes]:
        rest = self._held + part
        while rest:
            if self._frame.eof:
                self._begin_frame()
            size = self._safe_bytes(rest)
            if not size:
                break
            yield self._frame.decompress(rest[:size])
            rest = self._frame.unused_data + rest[size:]
        self._held = rest

    def _begin_frame(self) -> None:
        self._frame = self._decompressor.decompressobj()
        self._is_new = True
        self._is_last_block = False
        self._to_go = 0  # bytes before the head of the next block, or after the last one's end

    def _safe_bytes(self, data: bytes) -> int:
        """How much of it makes one piece; 0 if that cannot be said before more has come."""
        if self._is_new:
            if len(data) < _ZSTD_SHORTEST_HEAD:
                return 0
            self._is_new = False
            # What is no frame of ours has no blocks to count.
            self._is_last_block = not data.startswith(_ZSTD_MAGIC)
            self._to_go = 0 if self._is_last_block else zstandard.frame_header_size(data)
        end = self._to_go if self._is_last_block else self._end_of_blocks(data)
        size = min(end, len(data))
        self._to_go = end - size
        return size or (_ZSTD_INPUT_BYTES if self._is_last_block else 0)

    def _end_of_blocks(self, data: bytes) -> int:
        """Where so many blocks end, or those whose heads are there already."""
        at = self._to_go
        for _ in range(_ZSTD_BLOCKS):
            if self._is_last_block or at + self._BLOCK_HEAD > len(data):
                break
            head = int.from_bytes(data[at : at + self._BLOCK_HEAD], "little")
            at += self._BLOCK_HEAD + (1 if head >> 1 & 3 == self._REPEATED_BYTE else head >> 3)
            self._is_last_block = bool(head & 1)
        return at


def _new_member() -> "zlib._Decompress":
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _has_zlib_header(data: bytes) -> bool:
    """RFC 1950 2.2."""
    return data[0] & 0x0F == zlib.DEFLATED and (data[0] << 8 | data[1]) % 31 == 0


def _inflated(stream: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    piece = stream.decompress(data, PIECE_BYTES)
    yield piece
    # A full piece may have left output behind even where no input was.
    while stream.unconsumed_tail or len(piece) == PIECE_BYTES:
        piece = stream.decompress(stream.unconsumed_tail, PIECE_BYTES)
        yield piece


UNPACKERS: dict[str, Callable[[], Unpacker]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}
