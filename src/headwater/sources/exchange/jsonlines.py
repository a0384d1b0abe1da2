"""JSON Lines: one object a line, its keys named like the fields."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import orjson

from headwater.settings.durations import format_duration
from headwater.sources.exchange.columns import LeftOver, columns_in
from headwater.sources.exchange.fields import FIELDS, BadLine, Field, Row, bad_line, is_said, row_from
from headwater.sources.exchange.lines import short_lines_in


def read_jsonl(text: str, mapping: Mapping[str, str], left_over: LeftOver) -> Iterator[Row | BadLine]:
    for number, line in enumerate(short_lines_in(text), 1):
        if line.strip():
            yield _row(number, line, mapping, left_over)


def _row(number: int, line: str, mapping: Mapping[str, str], left_over: LeftOver) -> Row | BadLine:
    try:
        said = orjson.loads(line)
    except orjson.JSONDecodeError as problem:
        return bad_line(number, line, f"not JSON: {problem.msg}")
    if not isinstance(said, dict):
        return bad_line(number, line, "not a JSON object")
    columns = columns_in(tuple(said), mapping)
    left_over.note(tuple(said), columns, mapping)
    return row_from(number, line, cells_of_object(said, columns))


def cells_of_object(said: Mapping[str, Any], columns: Mapping[int, Field]) -> Iterator[tuple[Field, str]]:
    """The values of an object as texts, each with the field that its key means."""
    values = tuple(said.values())
    return ((field, _as_text(values[at], field)) for at, field in columns.items())


def _as_text(value: Any, field: Field) -> str:
    if value is None:
        return ""
    if field.is_json and not isinstance(value, str):
        return orjson.dumps(value).decode()
    if isinstance(value, list):
        return ";".join(_as_text(one, field) for one in value)
    # A hint for an API is an object; its reader parses it again.
    return orjson.dumps(value).decode() if isinstance(value, dict) else str(value)


def write_jsonl(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        said = {field.name: getattr(row, field.name) for field in FIELDS}
        filled = {name: value for name, value in said.items() if is_said(value)}
        yield orjson.dumps(filled, default=_written).decode() + "\n"


def _written(value: Any) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    raise TypeError
