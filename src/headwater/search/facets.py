"""Facets: of the documents that a search matches, how many have each value of a field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.listing import is_unknown_language, stretch_of
from headwater.search.question import Filters, words_of
from headwater.search.search import (
    DEFAULT_BOUNDS,
    POSTGRESQL,
    Bounds,
    planned_anew,
    queries,
    sources_asked,
    values_of,
)

MOST_VALUES = 10
# Without words so many of each source are looked at, where there are many sources.
LEAST_LOOKED_AT = 200
FEW_COUNTED = 100


class Facet(StrEnum):
    """Each is named as the filter that takes its values."""

    SOURCE = "source"
    HOST = "host"
    LANGUAGE = "language"
    PAGE_TYPE = "page_type"
    AUTHOR = "author"
    MONTH = "month"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class FacetValue:
    """`value` is what the filter takes; `name` is for people, and differs for a source, whose value is its id."""

    value: str
    count: int
    name: str


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """The values that most documents have, or the newest months or days. `others` counts those of all other values.

    `is_exact` False: parts of a server each counted their own most frequent values, and some may be missing.
    """

    facet: Facet
    values: tuple[FacetValue, ...] = ()
    others: int = 0
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Facets:
    """`counted` documents. `is_complete` False: there may be other matches, older than those that were counted."""

    counts: tuple[FacetCounts, ...]
    counted: int
    is_complete: bool
    engine: str = POSTGRESQL


def facets_wanted(said: Sequence[str]) -> tuple[Facet, ...]:
    """As people write them, `source,language`; each once. Raises UsageError for a facet that there is not."""
    words = [word.strip().lower() for one in said for word in one.split(",")]
    return tuple(dict.fromkeys(_facet(word) for word in words if word))


def _facet(word: str) -> Facet:
    try:
        return Facet(word)
    except ValueError:
        raise UsageError(f"There is no facet {word[:40]!r}.", fix=f"One of: {', '.join(Facet)}.") from None


def require_documents(filters: Filters) -> None:
    if filters.kind is not RecordKind.DOCUMENT:
        raise UsageError("Vacancies have no facets.", fix="Leave `facets` out, or search for documents.")


async def facets_of_search(
    database: Database, query: str, filters: Filters, wanted: Sequence[Facet], bounds: Bounds = DEFAULT_BOUNDS
) -> Facets:
    """Of the newest matches, as many as a search ranks."""
    is_within = filters.view_id is not None or bool(filters.rights)
    looked = bounds.most_looked_at if is_within else bounds.most_ranked
    values = await _values(database, filters, wanted) | {"looked": looked, "most": bounds.most_ranked}
    async with planned_anew(database, bounds.patience_seconds) as connection:
        asked = await connection.fetchrow(queries.question_to_documents, words_of(query), filters.language)
        if asked is None or asked["anywhere"] is None:
            return no_facets(wanted)
        rows = await connection.fetch(*queries.facets_of_search(**values, anywhere=asked["anywhere"]))
    is_complete = rows[0]["looked"] < looked and rows[0]["matches"] < bounds.most_ranked
    return await named(database, _facets_in(rows, wanted, is_complete=is_complete))


async def facets_of_newest(
    database: Database, filters: Filters, wanted: Sequence[Facet], bounds: Bounds = DEFAULT_BOUNDS
) -> Facets:
    """Without words: of what passes the filters among the newest documents. Where few do, more are looked at."""
    if await is_unknown_language(database, filters):
        return no_facets(wanted)
    values = await _values(database, filters, wanted)
    most = _looked_at((await stretch_of(database, filters)).rows, values["sources"])
    found = await _look(database, values, min(most, bounds.most_ranked), wanted, bounds)
    if not found.is_complete and found.counted < FEW_COUNTED:
        found = await _look(database, values, most, wanted, bounds)
    return await named(database, found)


async def _look(
    database: Database, values: Mapping[str, Any], looked: int, wanted: Sequence[Facet], bounds: Bounds
) -> Facets:
    async with planned_anew(database, bounds.patience_seconds) as connection:
        rows = await connection.fetch(*queries.facets_of_newest(**values, looked=looked))
    return _facets_in(rows, wanted, is_complete=rows[0]["looked"] < looked)


async def facets_of_found(
    database: Database,
    filters: Filters,
    wanted: Sequence[Facet],
    keys: Sequence[tuple[int, bytes]],
    *,
    is_complete: bool,
) -> Facets:
    """Of documents that a server found, those that the archive still has and that pass the filters."""
    values = await _values(database, filters, wanted)
    del values["view_question"]
    keyed = {"buckets": [bucket for bucket, _ in keys], "hashes": [hash_ for _, hash_ in keys]}
    rows = await database.fetch(*queries.facets_of_found(**values, **keyed))
    return await named(database, _facets_in(rows, wanted, is_complete=is_complete))


def no_facets(wanted: Sequence[Facet]) -> Facets:
    return Facets(tuple(map(FacetCounts, wanted)), 0, is_complete=True)


async def named(database: Database, facets: Facets) -> Facets:
    """With the names of sources. One that was removed cannot be asked for: its documents are among the others."""
    ids = [UUID(one.value) for counts in facets.counts if counts.facet is Facet.SOURCE for one in counts.values]
    if not ids:
        return facets
    names = {str(row["id"]): row["name"] for row in await database.fetch(queries.names_of_sources, ids)}
    counts = [_with_names(one, names) if one.facet is Facet.SOURCE else one for one in facets.counts]
    return replace(facets, counts=tuple(counts))


def _with_names(counts: FacetCounts, names: Mapping[str, str]) -> FacetCounts:
    known = tuple(replace(one, name=names[one.value]) for one in counts.values if one.value in names)
    removed = sum(one.count for one in counts.values if one.value not in names)
    return replace(counts, values=known, others=counts.others + removed)


async def _values(database: Database, filters: Filters, wanted: Sequence[Facet]) -> dict[str, Any]:
    require_documents(filters)
    asked = values_of(filters, await sources_asked(database, filters))
    return {**asked, "facets": [str(one) for one in wanted], "values": MOST_VALUES}


def _looked_at(rows: int, sources: Sequence[UUID] | None) -> int:
    """Each of several sources is looked into as far, so each of many not as far."""
    return max(min(rows, LEAST_LOOKED_AT), rows // len(sources)) if sources else rows


def _facets_in(rows: Sequence[Any], wanted: Sequence[Facet], *, is_complete: bool) -> Facets:
    """Each row is a value of a facet, in the order of their facets; one without tells of the matches alone."""
    groups = groupby((row for row in rows if row["facet"]), key=lambda row: row["facet"])
    found = {facet: _counts(Facet(facet), list(group)) for facet, group in groups}
    counts = tuple(found.get(facet, FacetCounts(facet)) for facet in wanted)
    return Facets(counts, rows[0]["matches"], is_complete)


def _counts(facet: Facet, rows: Sequence[Any]) -> FacetCounts:
    values = tuple(FacetValue(row["value"], row["count"], row["value"]) for row in rows)
    return FacetCounts(facet, values, rows[0]["total"] - sum(one.count for one in values))
