from types import MappingProxyType
from typing import Any

import orjson
import pytest

from headwater.storable import one_line, storable, storable_json


@pytest.mark.parametrize(
    "value",
    [
        {"title": "Über\nzwei Zeilen", "tags": ["a", None], "deep": {"x": 1.5}},
        {"a\0b": ["c\0"], "d": ("e",)},
        {"half": "\ud800 a character"},
        {"written": r"\u0000 as six letters"},
        MappingProxyType({"seen": True}),
    ],
    ids=["plain", "nul", "surrogate", "letters", "mapping"],
)
def test_json_says_what_the_storable_value_says(value: Any) -> None:
    assert orjson.loads(storable_json(value)) == storable(value)


def test_what_postgresql_cannot_keep_is_replaced() -> None:
    assert storable_json({"a\0": "\0b"}) == '{"a\ufffd":"\ufffdb"}'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  a \n\t b\x0bc\x85d\u00a0e ", "a b c d e"),
        ("It\x92s \x1b[31mred\0", "Its [31mred"),
        ("half \ud800 a character\uffff", "half a character"),
        ("", ""),
    ],
    ids=["white space", "controls", "surrogate", "nothing"],
)
def test_a_line_has_single_spaces_and_no_controls(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_line_is_cut_where_it_is_too_long_and_ends_with_a_word() -> None:
    assert one_line(" " * 50 + "a b c d e f", 10) == "a b c d e"


def test_a_megabyte_of_white_space_is_not_looked_through() -> None:
    assert one_line(" " * 1_000_000 + "a", 100) == ""
