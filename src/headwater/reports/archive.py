"""The archive for people: what a search finds with the names they know, and what stands around a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.search.engine import SearchEngine
from headwater.search.facets import Facet, Facets, facets_of_newest
from headwater.search.listing import newest
from headwater.search.question import Filters
from headwater.search.search import LARGEST_PAGE, POSTGRESQL, Hit, SearchPage, cursor_after
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.reports")

MOST_DUPLICATES = 20


@dataclass(frozen=True, slots=True)
class DetailedHit:
    """A hit, and what people want to know of it; `about` is named as the columns of its table."""

    hit: Hit
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`has_more`: than were asked for. `is_complete` False: there may be others, older than those that were ranked.
    `facets` None: nobody asked for any.
    """

    found: list[DetailedHit]
    has_more: bool
    is_complete: bool
    took: timedelta
    cursor: str | None = None
    engine: str = POSTGRESQL
    facets: Facets | None = None


@dataclass(frozen=True, slots=True)
class Relative:
    """`relation`: what a document is a duplicate_of, what it is near to, or a duplicate of it."""

    relation: str
    url: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """The page that a document's own page calls canonical. `why_not`: why that is not believed; empty if it is."""

    url: str
    why_not: str


async def find_documents(
    engine: SearchEngine,
    clock: Clock,
    query: str,
    filters: Filters,
    limit: int,
    cursor: str | None = None,
    wanted: Sequence[Facet] = (),
) -> SearchAnswer:
    """Without words: the newest, which the archive itself knows. `wanted` are facets of all pages."""
    began = clock.monotonic()
    if query:
        page = await engine.search(query, filters, limit=limit, cursor=cursor)
    else:
        page = await newest(engine.database, filters, limit=limit, cursor=cursor)
    found = await _described(engine.database, queries.describe_documents, page.hits)
    facets = await _counted(engine, query, filters, wanted) if wanted else None
    took = timedelta(seconds=clock.monotonic() - began)
    return SearchAnswer(found, page.cursor is not None, page.is_complete, took, page.cursor, page.engine, facets)


async def _counted(engine: SearchEngine, query: str, filters: Filters, wanted: Sequence[Facet]) -> Facets:
    if query:
        return await engine.facets(query, filters, wanted)
    return await facets_of_newest(engine.database, filters, wanted)


async def find_jobs(
    engine: SearchEngine,
    clock: Clock,
    query: str,
    filters: Filters,
    limit: int,
    wanted: Mapping[str, str],
    cursor: str | None = None,
) -> SearchAnswer:
    """`wanted` are values of columns. Without words: the newest, which the archive itself knows."""
    began = clock.monotonic()
    if query:
        answer = await _search_jobs(engine, query, filters, limit, wanted, cursor)
    else:
        page = await newest(engine.database, filters, limit=limit, cursor=cursor, wanted=wanted)
        answer = _JobsFound(await _described(engine.database, queries.describe_jobs, page.hits), page.cursor, page)
    took = timedelta(seconds=clock.monotonic() - began)
    following, last = answer.cursor, answer.last
    return SearchAnswer(answer.found, following is not None, last.is_complete, took, following, last.engine)


class _JobsFound(NamedTuple):
    found: list[DetailedHit]
    cursor: str | None
    last: SearchPage


async def _search_jobs(
    engine: SearchEngine, query: str, filters: Filters, limit: int, wanted: Mapping[str, str], cursor: str | None
) -> _JobsFound:
    """A search knows nothing of the columns, so its answer is looked through."""
    found: list[DetailedHit] = []
    while True:
        page = await engine.search(query, filters, limit=LARGEST_PAGE, cursor=cursor)
        described = await _described(engine.database, queries.describe_jobs, page.hits)
        found += [one for one in described if suits(one.about, wanted)]
        if len(found) > limit:
            return _JobsFound(found[:limit], cursor_after(found[limit - 1].hit), page)
        if (cursor := page.cursor) is None:
            return _JobsFound(found, None, page)


def suits(about: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    """Of a list one value is enough."""
    return all(value in (held if isinstance(held := about[name], list) else [held]) for name, value in wanted.items())


async def _described(database: Database, statement: str, hits: Sequence[Hit]) -> list[DetailedHit]:
    rows = await database.fetch(statement, [hit.bucket for hit in hits], [hit.hash for hit in hits])
    about = {DocumentKey(row["bucket"], row["hash"]): dict(row) for row in rows}
    # Nothing about one that was deleted in this moment.
    return [DetailedHit(hit, about[key]) for hit in hits if (key := DocumentKey(hit.bucket, hit.hash)) in about]


async def relatives_of(database: Database, key: DocumentKey) -> list[Relative]:
    rows = await database.fetch(queries.relatives_of_document, *key, MOST_DUPLICATES)
    return [Relative(row["relation"], row["url"], row["hash"]) for row in rows]


async def claim_of(database: Database, key: DocumentKey) -> Claim | None:
    row = await database.fetchrow(queries.claim_of_document, *key)
    return Claim(row["url"], why_not_believed(row)) if row else None


def why_not_believed(claim: Mapping[str, Any]) -> str:
    if claim["is_believed"]:
        return ""
    if not claim["has_document"]:
        return "that page has not become a document"
    if claim["deleted_reason"] is not None:
        return f"that page was withdrawn: {claim['deleted_reason']}"
    if claim["names"] is not None:
        return f"that page calls {claim['names']} canonical"
    return "that page says something else"


async def count_stored_pages(database: Database, source_id: UUID) -> int:
    counted: int = await database.fetchval(queries.count_stored_pages, source_id)
    return counted
