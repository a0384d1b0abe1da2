"""Views: named filters over the archive. A sink delivers one, an output feed shows one, a search looks into one."""

import re
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UsageError
from headwater.record_kind import RecordKind
from headwater.search.column import search_column
from headwater.search.question import Filters, with_slashes_parted, words_of

queries = load_queries("headwater.search")

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
# Records that are looked at to count those of a view: more would make a person wait.
MOST_COUNTED = 5_000
# The same of a view with words, while no column has them: each text is read.
MOST_READ = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Empty: any. `tags` and, for documents, `countries` are those of the source."""

    name: str
    query: str = ""
    kinds: tuple[RecordKind, ...] = ()
    source_ids: tuple[UUID, ...] = ()
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    min_quality: int | None = None
    rights: tuple[str, ...] = ()  # all of them
    id: UUID | None = None

    def __post_init__(self) -> None:
        require_name(self.name, "view")
        words_of(self.query)
        if self.min_quality is not None and not 0 <= self.min_quality <= 100:
            raise UsageError(f"A quality of {self.min_quality} is not possible.", fix="Give 0 to 100.")

    @property
    def is_everything(self) -> bool:
        return replace(self, name="all", id=None) == View(name="all")


def require_name(name: str, noun: str) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is no name for a {noun}.",
            fix="Use up to 63 small letters, digits, - and _, beginning with a letter or a digit.",
        )


async def add_view(database: Database | Connection, view: View) -> View:
    found = await database.fetchval(*queries.add_view(**_values(view)))
    if found is None:
        raise UsageError(f"There is a view '{view.name}' already.", fix=f"Change it: headwater views edit {view.name}")
    return replace(view, id=found)


async def change_view(database: Database | Connection, view: View) -> None:
    """As it is given, under its id. Sinks of the view are filled anew by the caller."""
    await database.execute(*queries.change_view(**_values(view), id=view.id))


async def remove_view(database: Database | Connection, view: View) -> None:
    """Refused while a sink delivers it."""
    if used := await sinks_of_view(database, view):
        names = ", ".join(used.values())
        raise UsageError(f"The view '{view.name}' is delivered by {names}.", fix="Remove those sinks first.")
    await database.execute(queries.remove_view, view.id)


async def view_named(database: Database | Connection, name: str) -> View:
    row = await database.fetchrow(queries.view_named, name)
    if row is None:
        raise NotFound(f"There is no view '{name}'.", fix="See all of them: headwater views list")
    return _view(row)


async def lock_view(connection: Connection, name: str) -> View:
    """Nobody else changes it until this transaction ends."""
    row = await connection.fetchrow(queries.lock_view, name)
    return _view(row) if row else await view_named(connection, name)


async def view_with_id(database: Database | Connection, view_id: UUID) -> View:
    row = await database.fetchrow(queries.view_with_id, view_id)
    if row is None:
        raise NotFound("This view was removed.")
    return _view(row)


async def list_views(database: Database | Connection) -> list[View]:
    return [_view(row) for row in await database.fetch(queries.list_views)]


async def question_of(database: Database | Connection, view: View | None, kind: RecordKind) -> str | None:
    """The words of a view as PostgreSQL asks them of the index; None: it has none. Nothing matches `''`."""
    if view is None or not view.query:
        return None
    is_job = kind is RecordKind.JOB
    words = words_of(view.query)
    asked = with_slashes_parted(words) if is_job else words
    statement = queries.question_to_jobs if is_job else queries.question_to_documents
    row = await database.fetchrow(statement, asked, None)
    return (row["anywhere"] if row else None) or ""


async def within(database: Database | Connection, filters: Filters, view: View) -> Filters:
    """Those filters, and to be in the view."""
    question = await question_of(database, view, filters.kind)
    return replace(filters, view_id=view.id, view_question=question)


@dataclass(frozen=True, slots=True)
class ViewCount:
    """So many of the newest `looked` records of a kind are in a view; `is_all`: there are no others."""

    kind: RecordKind
    found: int
    looked: int
    is_all: bool


async def count_in_view(database: Database, view: View, kind: RecordKind) -> ViewCount:
    question = await question_of(database, view, kind)
    is_job = kind is RecordKind.JOB
    statement = queries.count_jobs_in_view if is_job else queries.count_documents_in_view
    reads_texts = question is not None and not (await search_column(database)).is_kept
    most = MOST_READ if reads_texts else MOST_COUNTED
    row = await database.fetchrow(statement, view.id, question, most)
    if row is None:
        raise NotFound("This view was removed.")
    return ViewCount(kind, row["found"], row["looked"], is_all=row["looked"] < most)


async def sinks_of_view(database: Database | Connection, view: View) -> dict[UUID, str]:
    """Names by id."""
    return {row["id"]: row["name"] for row in await database.fetch(queries.sinks_of_view, view.id)}


def _values(view: View) -> dict[str, Any]:
    return {
        "name": view.name,
        "query": view.query,
        "kinds": [str(kind) for kind in view.kinds],
        "source_ids": list(view.source_ids),
        "tags": list(view.tags),
        "languages": list(view.languages),
        "countries": list(view.countries),
        "min_quality": view.min_quality,
        "rights": list(view.rights),
    }


def _view(row: Any) -> View:
    return View(
        id=row["id"],
        name=row["name"],
        query=row["query"],
        kinds=tuple(map(RecordKind, row["kinds"])),
        source_ids=tuple(row["source_ids"]),
        tags=tuple(row["tags"]),
        languages=tuple(row["languages"]),
        countries=tuple(row["countries"]),
        min_quality=row["min_quality"],
        rights=tuple(row["rights"]),
    )
