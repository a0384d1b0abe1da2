"""The ids that other systems have for our sources: kept when a list is imported, shown, exported and found by."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.sources")


async def note_external_ids(connection: Connection, pairs: Iterable[tuple[UUID, str]]) -> set[UUID]:
    """The sources that had not had one of theirs before."""
    source_ids, external_ids = [], []
    for source_id, external_id in pairs:
        source_ids.append(source_id)
        external_ids.append(external_id)
    rows = await connection.fetch(queries.note_external_ids, source_ids, external_ids) if source_ids else []
    return {row["source_id"] for row in rows}


async def external_ids_of(database: Database, source_ids: Sequence[UUID]) -> dict[UUID, tuple[str, ...]]:
    """Of those that have any."""
    rows = await database.fetch(queries.external_ids_of, list(source_ids))
    return {row["source_id"]: tuple(row["external_ids"]) for row in rows}
