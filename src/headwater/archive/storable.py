"""What comes from outside, without what PostgreSQL cannot keep: NUL and half characters."""

from collections.abc import Mapping
from typing import Any


def storable(value: Any) -> Any:
    """A value of the same shape; tuples become lists, which is what the driver and JSON want."""
    match value:
        case str():
            # Nearly all are, and then there is nothing to replace.
            return value if value.isprintable() else value.replace("\0", "\ufffd").encode(errors="replace").decode()
        case dict() | Mapping():
            return {storable(key): storable(one) for key, one in value.items()}
        case list() | tuple():
            return [storable(one) for one in value]
    return value
