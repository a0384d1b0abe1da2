"""The body of a page as a parser takes it."""

import pytest

from headwater.extraction.page import Page

PART = 16_384


def is_taken_as_it_is(body: bytes) -> bool:
    return isinstance(Page(url="http://example.com/", body=body).markup(), bytes)


@pytest.mark.parametrize("letter", ["a", "é", "—", "😀"])
@pytest.mark.parametrize("before", range(PART - 4, PART + 2))
def test_a_body_in_utf8_is_taken_as_it_is(letter: str, before: int) -> None:
    assert is_taken_as_it_is(b"x" * before + (letter * 3 + "y" * PART + letter).encode())


@pytest.mark.parametrize("wrong", [b"\xff", b"\x80", b"\x80" * 8, b"\xc3", b"\xe2\x80", b"\xed\xa0\x80", b"\xc0\x80"])
@pytest.mark.parametrize("before", [0, *range(PART - 4, PART + 2), 2 * PART])
def test_any_other_body_is_decoded_first(wrong: bytes, before: int) -> None:
    for after in (b"", b"y" * PART):
        assert not is_taken_as_it_is(b"x" * before + wrong + after)
