"""Ask the archive: the best of the newest matches, with a piece of the text around the words."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import QueryFailed, UsageError
from headwater.record_kind import RecordKind
from headwater.search.question import Filters, Place, cursor_at, place_at, with_slashes_parted, words_of

queries = load_queries("headwater.search")

LARGEST_PAGE = 100
POSTGRESQL = "PostgreSQL"
MARK = "**"  # around what matched, in plain text
# Signs that no text is written with, and that no word is made of: around what matched, and for < and >.
MATCHED, _ANGLES = "\ufdd2", "\ufdd0\ufdd1"
_SHOWN = str.maketrans(_ANGLES, "<>")
# As `letter_pairs` wrote them: a letter that ends one pair and begins the next, and the ends of a run of such letters.
_SHARED_LETTER = re.compile(rf"(.)({MATCHED}?)\x1f ({MATCHED}?)\1")
_EDGES_OF_PAIRS = re.compile(r"[\x1e\x1f] ?")
STATEMENT_TIMED_OUT = "57014"
# Documents of so many sources are found by their sources; of more, the newest of all are looked through.
FEW_SOURCES = 500
FILTERED = ("language", "since", "until", "duplicates", "view_id", "view_question", "rights")
# Vacancies have none of these.
OF_DOCUMENTS = ("author", "host", "page_type")


@dataclass(frozen=True, slots=True)
class Bounds:
    """To rank a match its words must be read: of a word that stands everywhere only the newest texts are ranked."""

    most_ranked: int = 1_000
    # Within a view, or of some rights, which few may have.
    most_looked_at: int = 10_000
    patience_seconds: float = 3.0


DEFAULT_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class Hit:
    """`pieces` are of the text around what matched, every second of them a match; both they and `snippet`, which marks
    a match as **so**, are plain text as it stands in the page, to be escaped where HTML is made of it.
    """

    kind: RecordKind
    bucket: int
    hash: bytes
    source_id: UUID
    url: str
    title: str
    pieces: tuple[str, ...]
    language: str
    published_at: datetime | None
    first_seen_at: datetime
    is_duplicate: bool
    rank: float

    @property
    def snippet(self) -> str:
        return MARK.join(self.pieces)


@dataclass(frozen=True, slots=True)
class SearchPage:
    """`cursor` None: this was the end. `is_complete` False: there may be more matches, older than those ranked.

    `engine` answered.
    """

    hits: list[Hit]
    cursor: str | None
    is_complete: bool
    engine: str = POSTGRESQL


async def search(
    database: Database,
    query: str,
    filters: Filters | None = None,
    *,
    limit: int = 20,
    cursor: str | None = None,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> SearchPage:
    """Words, "whole phrases", `or` and `-without`, as people know them; nothing typed is an error in itself."""
    require_page(limit)
    wanted = filters or Filters()
    after = place_at(cursor) if cursor else (None, None, None)
    words = words_of(query)
    asked = with_slashes_parted(words) if wanted.kind is RecordKind.JOB else words
    is_within = wanted.view_id is not None or bool(wanted.rights)
    looked = bounds.most_looked_at if is_within else bounds.most_ranked
    values = {
        **values_of(wanted, await sources_asked(database, wanted)),
        **dict(zip(("rank", "bucket", "hash"), after, strict=True)),
        "most": bounds.most_ranked,
        "looked": looked,
        "limit": limit + 1,  # one more, to know whether there is one
        "mark": MATCHED,
        "angles": _ANGLES,
    }
    rows = await _rows(database, wanted, asked, values, bounds.patience_seconds)
    hits = [hit_from(row, wanted.kind) for row in rows[:limit]]
    if rows or not is_within:
        is_complete = not rows or (rows[0]["matches"] < bounds.most_ranked and rows[0]["looked"] < looked)
    else:
        # Nothing of the view, or of those rights, is among the newest matches: were those all?
        outside = values | {"view_id": None, "view_question": None, "rights": [], "limit": 1}
        others = await _rows(database, wanted, asked, outside, bounds.patience_seconds)
        is_complete = not others or others[0]["looked"] < looked
    return SearchPage(hits, cursor_after(hits[-1]) if len(rows) > limit else None, is_complete)


def require_page(limit: int) -> None:
    if not 1 <= limit <= LARGEST_PAGE:
        raise UsageError(f"A page of {limit} hits is not possible.", fix=f"Ask for 1 to {LARGEST_PAGE}.")


async def _rows(
    database: Database, wanted: Filters, words: str, values: Mapping[str, object], patience: float
) -> list[Any]:
    is_job = wanted.kind is RecordKind.JOB
    async with planned_anew(database, patience) as connection:
        understood = queries.question_to_jobs if is_job else queries.question_to_documents
        asked = await connection.fetchrow(understood, words, wanted.language)
        if asked is None or asked["anywhere"] is None:
            return []
        statement = queries.search_jobs if is_job else queries.search_documents
        found = {name: asked[name] for name in ("anywhere", "configs", "questions")}
        return await connection.fetch(*statement(**values, **found))


@asynccontextmanager
async def planned_anew(database: Database, patience: float) -> AsyncIterator[Connection]:
    """Each question has its own plan: how many texts match makes all the difference."""
    try:
        async with database.transaction(readonly=True, patience=patience) as connection:
            await connection.execute("SET LOCAL plan_cache_mode = force_custom_plan")
            yield connection
    except QueryFailed as refused:
        if refused.sqlstate != STATEMENT_TIMED_OUT:
            raise
        raise UsageError(
            "This search takes too long.", fix="Use rarer words, or narrow it to a source, a language or some days."
        ) from refused


async def sources_asked(database: Database, wanted: Filters) -> Sequence[UUID] | None:
    """The few sources that alone need to be looked at: the one that is asked for, or those of a view. None: all."""
    if wanted.source_id is not None:
        return [wanted.source_id]
    if wanted.view_id is None:
        return None
    found: Sequence[UUID] | None = await database.fetchval(queries.sources_of_view, wanted.view_id, FEW_SOURCES)
    return found


def values_of(wanted: Filters, sources: Sequence[UUID] | None) -> dict[str, object]:
    """By the names that statements have for them."""
    names = (*FILTERED, *OF_DOCUMENTS) if wanted.kind is RecordKind.DOCUMENT else FILTERED
    given = {name: getattr(wanted, name) for name in names}
    return {**given, "sources": sources, "rights": list(wanted.rights)}


def hit_from(row: Any, kind: RecordKind) -> Hit:
    pieces = tuple(_without_pairs((row["marked"] or "").translate(_SHOWN)).split(MATCHED))
    return Hit(kind, pieces=pieces, **{name: row[name] for name in Hit.__slots__ if name not in ("kind", "pieces")})


def _without_pairs(marked: str) -> str:
    """Each letter once; pairs that matched one behind the other are one match."""
    whole = _SHARED_LETTER.sub(_letter_once, marked)
    return _EDGES_OF_PAIRS.sub("", whole)


def _letter_once(shared: re.Match[str]) -> str:
    letter, ends, begins = shared.groups()
    return letter if ends and begins else begins + letter + ends


def cursor_after(hit: Hit) -> str:
    return cursor_at(Place(hit.rank, hit.bucket, hit.hash))
