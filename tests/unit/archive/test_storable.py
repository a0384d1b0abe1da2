from types import MappingProxyType
from typing import Any

import orjson
import pytest

from headwater.storable import storable, storable_json


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
