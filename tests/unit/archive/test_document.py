from typing import Any

import pytest

from headwater.archive.document import Key, Op, Standing, op_between, signed, unsigned
from headwater.archive.storable import storable


@pytest.mark.parametrize(
    ("was", "is_now", "op"),
    [(False, True, Op.UPSERT), (True, True, Op.UPSERT), (True, False, Op.DELETE), (False, False, None)],
)
def test_sinks_are_told_what_they_need_to_end_as_the_archive(was: bool, is_now: bool, op: Op | None) -> None:
    assert op_between(was_delivered=was, is_delivered=is_now) is op


@pytest.mark.parametrize(
    ("words", "is_deleted", "of", "may"),
    [(50, False, None, True), (49, False, None, False), (50, True, None, False), (50, False, Key(1, b"x"), False)],
)
def test_only_delivered_texts_of_some_length_have_duplicates(
    words: int, is_deleted: bool, of: Key | None, may: bool
) -> None:
    assert Standing(1, b"", words, is_deleted, of, {}).may_have_duplicates is may


@pytest.mark.parametrize("bits", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_likeness_goes_to_the_database_and_back(bits: int) -> None:
    stored = signed(bits)
    assert stored is not None
    assert -(2**63) <= stored < 2**63
    assert unsigned(stored) == bits


def test_no_likeness_stays_none() -> None:
    assert signed(None) is None
    assert unsigned(None) is None


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("a\0b\ud800", "a\ufffdb?"),
        (("a\0", 1), ["a\ufffd", 1]),
        ({"\0": {"deep": ["\0"]}}, {"\ufffd": {"deep": ["\ufffd"]}}),
        (None, None),
        (b"\0", b"\0"),
    ],
)
def test_what_cannot_be_kept_is_replaced_at_any_depth(value: Any, kept: Any) -> None:
    assert storable(value) == kept
