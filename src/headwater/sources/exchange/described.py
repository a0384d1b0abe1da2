"""A source as a program describes it: an object whose keys are named like the fields of a list. Pure.

The names that other systems use are understood as in a file.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from headwater.errors import UsageError
from headwater.sources.exchange.columns import columns_in
from headwater.sources.exchange.fields import BadLine, Field, Row, row_from
from headwater.sources.exchange.jsonlines import cells_of_object
from headwater.sources.source import Profile

FEED, SITEMAP, MORE_SITEMAPS = "feed_url", "sitemap_url", "more_sitemaps"


def row_described(said: Mapping[str, Any]) -> Row:
    """Raises UsageError for a value that cannot be read."""
    read = row_from(1, "", cells_of_object(said, columns_in(tuple(said), {})))
    if isinstance(read, BadLine):
        raise UsageError(f"This source cannot be followed: {read.reason}")
    return read


def changes_described(said: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a profile, and `feed_url` and `sitemap_url` as tuples; an empty value takes one back to its default.

    Raises UsageError for a value that cannot be read. Keys that no profile has are left out.
    """
    read = {field.name: (field, _read(field, text)) for field, text in cells_of_object(said, _columns(said))}
    changes = {
        field.column or name: _default(field.column or name) if value is None else field.stored(value)
        for name, (field, value) in read.items()
        if (field.column or name) in Profile.__dataclass_fields__
    }
    changes |= {FEED: (read[FEED][1],) if read[FEED][1] else ()} if FEED in read else {}
    if SITEMAP in read or MORE_SITEMAPS in read:
        first, more = (read[name][1] if name in read else None for name in (SITEMAP, MORE_SITEMAPS))
        changes[SITEMAP] = (*((first,) if first else ()), *(more or ()))
    return changes


def _columns(said: Mapping[str, Any]) -> dict[int, Field]:
    return columns_in(tuple(said), {})


def _read(field: Field, text: str) -> Any:
    """None for an empty value."""
    if not text.strip():
        return None
    try:
        return field.read(text.strip())
    except ValueError as problem:
        raise UsageError(f"{field.name}: {problem}") from problem


def _default(column: str) -> Any:
    found = next(one for one in fields(Profile) if one.name == column)
    if found.default is not MISSING:
        return found.default
    return found.default_factory() if found.default_factory is not MISSING else None
