"""Records as Parquet, in a schema that stays. pyarrow is an extra and large: it is imported where it is used."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson

from headwater.deliver.columns import COLUMNS, ColumnType
from headwater.errors import SettingError
from headwater.record_kind import RecordKind
from headwater.storable import storable

COMPRESSION = "zstd"


def require_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise SettingError(
            "Parquet cannot be written: pyarrow is not installed.", fix="pip install 'headwater[parquet]'"
        ) from error


@cache
def schema_of(kind: RecordKind, *, with_change: bool = False) -> Any:
    """`with_change`: rows begin with a position and an operation, and a removal has nothing but its id and version."""
    import pyarrow as pa

    types = {
        ColumnType.TEXT: pa.string(),
        ColumnType.TEXTS: pa.list_(pa.string()),
        ColumnType.WHOLE: pa.int32(),
        ColumnType.WHOLES: pa.list_(pa.int32()),
        ColumnType.NUMBER: pa.float64(),
        ColumnType.FLAG: pa.bool_(),
        ColumnType.MOMENT: pa.timestamp("us", tz="UTC"),
        ColumnType.DAY: pa.date32(),
        ColumnType.JSON: pa.string(),
    }
    change = [("position", pa.int64()), ("op", pa.string())] if with_change else []
    return pa.schema([*change, *((name, types[one]) for name, one in COLUMNS[kind].items())])


def table_of(kind: RecordKind, rows: Sequence[Mapping[str, Any]], *, with_change: bool = False) -> Any:
    import pyarrow as pa

    schema = schema_of(kind, with_change=with_change)
    plain = [_plain_row(kind, row) for row in rows]
    try:
        return pa.Table.from_pylist(plain, schema=schema)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        # Half a character somewhere in it.
        return pa.Table.from_pylist([storable(row) for row in plain], schema=schema)


def _plain_row(kind: RecordKind, row: Mapping[str, Any]) -> dict[str, Any]:
    types = COLUMNS[kind]
    return {name: _plain(value, types.get(name)) for name, value in row.items()}


def _plain(value: Any, kind: ColumnType | None) -> Any:
    if value is None:
        return None
    if kind is ColumnType.JSON:
        return orjson.dumps(value).decode()
    return str(value) if kind is ColumnType.TEXT else value
