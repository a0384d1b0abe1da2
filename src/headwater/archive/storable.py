"""Text from outside without the characters PostgreSQL cannot keep: NUL and half characters."""

from collections.abc import Mapping
from typing import Any

import orjson

_NUL = rb"\u0000"


def storable(value: Any) -> Any:
    """A value of the same shape; tuples become lists, which is what the driver and JSON want."""
    match value:
        case str():
            # Nearly all are, and then there is nothing to replace.
            return value if value.isprintable() else value.replace("\0", "\ufffd").encode(errors="replace").decode()
        case list() | tuple():
            return [storable(one) for one in value]
        # Nothing costs as much as to ask for a Mapping, so that comes last.
        case dict() | Mapping():
            return {storable(key): storable(one) for key, one in value.items()}
    return value


def storable_json(value: Any) -> str:
    """As JSON, where nearly always there is nothing to replace."""
    try:
        written = orjson.dumps(value)
    except TypeError:
        # Half a character somewhere in it.
        written = _NUL
    return (orjson.dumps(storable(value)) if _NUL in written else written).decode()
