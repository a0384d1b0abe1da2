from typing import Any

import pytest

from headwater.archive.documents import to_signed, to_unsigned
from headwater.storable import storable


@pytest.mark.parametrize("bits", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_likeness_goes_to_the_database_and_back(bits: int) -> None:
    stored = to_signed(bits)
    assert stored is not None
    assert -(2**63) <= stored < 2**63
    assert to_unsigned(stored) == bits


def test_no_likeness_stays_none() -> None:
    assert to_signed(None) is None
    assert to_unsigned(None) is None


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
