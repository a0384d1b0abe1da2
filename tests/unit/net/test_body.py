import gzip
import zlib
from collections.abc import Callable, Iterable

import brotli
import pytest
import zstandard

from headwater.net.body import (
    BodyOutcome,
    BodyReader,
    Complete,
    Packed,
    TooLarge,
    Truncated,
    Undecodable,
    cut_body,
    encodings_in,
)
from headwater.net.unpacking import UNPACKERS

TEXT = b"Headwater reads what is published, and no more than it is given. " * 4000


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def packed_by_brotli(body: bytes) -> bytes:
    return bytes(brotli.compress(body, quality=4))


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", packed_by_brotli),
    "zstd": ("zstd", zstandard.compress),
}
every_packing = pytest.mark.parametrize(("encoding", "packed"), PACKERS.values(), ids=PACKERS.keys())


def in_chunks(data: bytes, size: int) -> Iterable[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def read(data: bytes, *encodings: str, limit: int = 1_000_000, chunk: int = 4096) -> BodyOutcome:
    reader = BodyReader(limit, encodings)
    for piece in in_chunks(data, chunk):
        if outcome := reader.feed(piece):
            return outcome
    return reader.end()


def test_a_plain_body_is_kept_as_it_is() -> None:
    assert read(TEXT) == Complete(TEXT)
    assert read(TEXT).packed is None  # type: ignore[union-attr]
    assert read(b"") == Complete(b"")


@every_packing
@pytest.mark.parametrize("chunk", [1, 7, 4096, 1_000_000])
def test_a_packed_body_is_unpacked_however_it_is_cut(
    encoding: str, packed: Callable[[bytes], bytes], chunk: int
) -> None:
    came = packed(TEXT)
    outcome = read(came, encoding, chunk=chunk)
    assert outcome == Complete(TEXT)
    assert isinstance(outcome, Complete)
    assert outcome.packed == Packed(encoding.removeprefix("x-"), came)


@every_packing
@pytest.mark.parametrize("size", [65_536, 65_537, 65_539, 131_072, 131_073, 131_330])
def test_output_that_waits_behind_a_full_piece_is_not_lost(
    encoding: str, packed: Callable[[bytes], bytes], size: int
) -> None:
    assert read(packed(bytes(size)), encoding) == Complete(bytes(size))


@every_packing
def test_a_body_of_exactly_the_limit_is_accepted(encoding: str, packed: Callable[[bytes], bytes]) -> None:
    assert read(packed(TEXT), encoding, limit=len(TEXT)) == Complete(TEXT)
    assert read(packed(TEXT), encoding, limit=len(TEXT) - 1) == TooLarge(TEXT[:-1])


def test_a_plain_body_of_exactly_the_limit_is_accepted() -> None:
    assert read(TEXT, limit=len(TEXT)) == Complete(TEXT)
    assert read(TEXT, limit=len(TEXT) - 1) == TooLarge(TEXT[:-1])


def test_a_body_that_is_there_as_a_whole_meets_the_same_limit() -> None:
    assert cut_body(len(TEXT), TEXT) == read(TEXT, limit=len(TEXT))
    assert cut_body(len(TEXT) - 1, TEXT) == read(TEXT, limit=len(TEXT) - 1)


@every_packing
def test_a_packed_body_that_ends_early_is_truncated(encoding: str, packed: Callable[[bytes], bytes]) -> None:
    data = packed(TEXT)
    for cut in (1, 2, len(data) // 2, len(data) - 1):
        outcome = read(data[:cut], encoding)
        assert isinstance(outcome, Truncated)
        assert TEXT.startswith(outcome.start)


@every_packing
def test_an_empty_body_is_complete_whatever_its_encoding(encoding: str, packed: Callable[[bytes], bytes]) -> None:
    assert read(b"", encoding) == Complete(b"")
    assert read(packed(b""), encoding) == Complete(b"")


def test_a_message_cut_by_its_own_framing_is_truncated() -> None:
    for encodings, data in (((), TEXT), (("gzip",), gzip.compress(TEXT))):
        reader = BodyReader(1_000_000, encodings)
        assert reader.feed(data) is None
        assert reader.end(is_cut=True) == Truncated(TEXT)


@every_packing
@pytest.mark.parametrize("lie", [b"<!doctype html><title>Plain</title>" * 50, b"\xff" * 100, bytes(100)])
def test_a_body_that_is_not_what_it_says_is_never_complete(
    encoding: str, packed: Callable[[bytes], bytes], lie: bytes
) -> None:
    assert isinstance(read(lie, encoding), Undecodable | Truncated)


@pytest.mark.parametrize("says", ["gzip", "br", "zstd", "deflate"])
@pytest.mark.parametrize("packing", PACKERS)
def test_one_encoding_does_not_pass_for_another(says: str, packing: str) -> None:
    encoding, packed = PACKERS[packing]
    if says != encoding.removeprefix("x-"):
        assert isinstance(read(packed(TEXT), says), Undecodable | Truncated)


def test_two_encodings_are_taken_off_in_reverse() -> None:
    twice = read(zstandard.compress(gzip.compress(TEXT)), "gzip", "zstd")
    assert twice == Complete(TEXT)
    assert twice.packed is None
    assert read(gzip.compress(packed_by_brotli(TEXT)), "br", "gzip") == Complete(TEXT)
    assert isinstance(read(gzip.compress(packed_by_brotli(TEXT)), "gzip", "br"), Undecodable)


def test_a_third_encoding_is_too_many() -> None:
    assert read(b"x", "gzip", "gzip", "gzip") == Undecodable("too many content encodings")
    assert read(b"x", *["gzip"] * 100) == Undecodable("too many content encodings")


def test_an_unknown_encoding_is_said_so_before_anything_is_read() -> None:
    reader = BodyReader(1000, ("compress",))
    assert reader.feed(b"") == Undecodable("unknown content encoding")
    assert reader.end() == Undecodable("unknown content encoding")


def test_an_outcome_is_final() -> None:
    reader = BodyReader(10)
    first = reader.feed(b"x" * 11)
    assert first == TooLarge(b"x" * 10)
    assert reader.feed(b"more") == first
    assert reader.end() == first


def test_members_in_a_row_are_one_body() -> None:
    assert read(gzip.compress(b"a") + gzip.compress(b"b"), "gzip", chunk=3) == Complete(b"ab")
    assert read(zstandard.compress(b"a") + zstandard.compress(b"b"), "zstd", chunk=3) == Complete(b"ab")


def streamed_zstd(text: bytes) -> bytes:
    """As a server sends it that does not know yet how long it will be: many blocks, and a checksum."""
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    blocks = (stream.compress(part) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for part in in_chunks(text, 700))
    return b"".join(blocks) + stream.flush()


@pytest.mark.parametrize("chunk", [1, 2, 3, 64, 65, 4096])
def test_blocks_of_zstd_may_be_cut_anywhere(chunk: int) -> None:
    skipped = b"\x50\x2a\x4d\x18" + (300).to_bytes(4, "little") + bytes(300)
    packed = streamed_zstd(TEXT) + skipped + streamed_zstd(TEXT[:5])
    assert read(packed, "zstd", chunk=chunk) == Complete(TEXT + TEXT[:5])
    assert isinstance(read(packed[:-1], "zstd", chunk=chunk), Truncated)


def test_a_piece_of_zstd_is_bounded_although_four_bytes_may_be_a_block() -> None:
    repeated = (1 << 1 | (1 << 17) << 3).to_bytes(3, "little") + b"x"
    bomb = zstandard.compress(b"")[:4] + b"\x00\x58" + repeated * 3000
    pieces = [len(piece) for piece in UNPACKERS["zstd"]().pieces(bomb)]
    assert sum(pieces) == 3000 << 17
    assert max(pieces) <= 2 << 20


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_padding_after_gzip_is_ignored(chunk: int) -> None:
    assert read(gzip.compress(b"a") + bytes(600), "gzip", chunk=chunk) == Complete(b"a")
    assert read(gzip.compress(b"a") + b"xx\x1f\x8bxx", "gzip", chunk=chunk) == Complete(b"a")


@pytest.mark.parametrize("packed", [raw_deflate, zlib.compress])
@pytest.mark.parametrize("chunk", [1, 1000])
def test_what_follows_deflate_betrays_that_it_was_none(packed: Callable[[bytes], bytes], chunk: int) -> None:
    assert isinstance(read(packed(b"a") + b"more", "deflate", chunk=chunk), Undecodable)


def test_a_damaged_checksum_is_noticed() -> None:
    data = bytearray(gzip.compress(TEXT))
    data[-5] ^= 1
    assert isinstance(read(bytes(data), "gzip"), Undecodable)


@pytest.mark.parametrize(
    ("encoding", "nothing"), [("gzip", gzip.compress(b"")), ("zstd", zstandard.compress(b""))], ids=["gzip", "zstd"]
)
def test_packed_nothing_cannot_come_for_ever(encoding: str, nothing: bytes) -> None:
    assert read(nothing * 8000, encoding, limit=1000) == TooLarge(b"")


def test_packed_nothing_inside_another_encoding_is_bounded_too() -> None:
    assert read(gzip.compress(gzip.compress(b"") * 100_000), "gzip", "gzip", limit=1000) == TooLarge(b"")


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        ([], ()),
        (["gzip"], ("gzip",)),
        (["GZip , br"], ("gzip", "br")),
        (["gzip", "br"], ("gzip", "br")),
        (["identity"], ()),
        (["identity, gzip", ""], ("gzip",)),
        ([" , ,"], ()),
        (["none"], ("none",)),
    ],
)
def test_encodings_are_listed_in_the_order_they_were_applied(headers: list[str], names: tuple[str, ...]) -> None:
    assert encodings_in(headers) == names
