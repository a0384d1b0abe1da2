"""The archive without words: the newest that pass the filters, page by page."""

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.column import search_column
from headwater.search.question import Filters
from headwater.search.search import Hit, SearchPage, hit_from, queries, require_page, sources_asked, values_of

# Columns of a vacancy that may be asked for, in the order of the statement's parameters.
VACANCY_COLUMNS = ("country_iso", "level_norm", "work_modality", "career_type", "contract_type", "mission_tags")
_PLACE = struct.Struct(">qB32s")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Stretch(NamedTuple):
    """A page looks at no more than so many times so many rows: a rare filter answers soon, with how far it searched.

    The first time at few, which are enough where most match.
    """

    rows: int = 5_000
    most: int = 4
    first: int = 200


DEFAULT_STRETCH = Stretch()
# In a view with words, while no column has them: those of each document are read from its text.
READING_STRETCH = Stretch(rows=500, most=2)


class ListPlace(NamedTuple):
    """A place in the order of the list: the newest first, then by key."""

    first_seen_at: datetime
    bucket: int
    hash: bytes


async def newest(
    database: Database,
    filters: Filters,
    *,
    limit: int = 20,
    cursor: str | None = None,
    wanted: Mapping[str, str] | None = None,
    stretch: Stretch | None = None,
) -> SearchPage:
    """`wanted` are values of a vacancy's columns. A short page with a cursor has searched up to there."""
    require_page(limit)
    stretch = stretch or await stretch_of(database, filters)
    if await is_unknown_language(database, filters):
        return SearchPage([], None, is_complete=True)
    values = values_of(filters, await sources_asked(database, filters))
    hits: list[Hit] = []
    for number in range(stretch.most):
        rows = min(stretch.rows, stretch.first * 10**number)
        page = await _look(database, filters.kind, values, limit - len(hits), cursor, wanted or {}, rows)
        hits += page.hits
        cursor = page.cursor
        if len(hits) == limit or cursor is None:
            break
    return SearchPage(hits, cursor, is_complete=True)


async def stretch_of(database: Database, filters: Filters) -> Stretch:
    reads_texts = filters.view_question is not None and not (await search_column(database)).is_kept
    return READING_STRETCH if reads_texts else DEFAULT_STRETCH


async def is_unknown_language(database: Database, filters: Filters) -> bool:
    """Of a language that no document has, a million others need not be looked at."""
    if filters.kind is not RecordKind.DOCUMENT or filters.language is None:
        return False
    return not await database.fetchval(queries.has_language, filters.language)


async def _look(
    database: Database,
    kind: RecordKind,
    filtered: Mapping[str, object],
    limit: int,
    cursor: str | None,
    wanted: Mapping[str, str],
    most: int,
) -> SearchPage:
    after = place_at(cursor) if cursor else (None, 0, b"")
    values = {
        **filtered,
        **dict(zip(ListPlace._fields, after, strict=True)),
        "most": most,
        "limit": limit + 1,  # one more, to know whether there is one
    }
    if kind is RecordKind.JOB:
        columns = {name: wanted.get(name) for name in VACANCY_COLUMNS}
        rows = await database.fetch(*queries.newest_jobs(**values, **columns))
    else:
        rows = await database.fetch(*queries.newest_documents(**values))
    found = [row for row in rows if row["matches"]]
    page = [hit_from(row, kind) for row in found[:limit]]
    return SearchPage(page, _cursor_after(rows, len(found), limit), is_complete=True)


def _cursor_after(rows: Sequence[Any], found: int, limit: int) -> str | None:
    """Behind the last match of a full page, else where the search stopped, which is marked by a row of its own."""
    last = rows[limit - 1] if found > limit else next((row for row in rows if not row["matches"]), None)
    return cursor_at(ListPlace(last["first_seen_at"], last["bucket"], last["hash"])) if last else None


def cursor_at(place: ListPlace) -> str:
    return _PLACE.pack((place.first_seen_at - _EPOCH) // _MICROSECOND, place.bucket, place.hash).hex()


def place_at(cursor: str) -> ListPlace:
    try:
        microseconds, bucket, key = _PLACE.unpack(bytes.fromhex(cursor))
        return ListPlace(_EPOCH + microseconds * _MICROSECOND, bucket, key)
    except (ValueError, OverflowError, struct.error) as error:
        raise UsageError("This cursor was not made by a list.", fix="Start again without one.") from error
