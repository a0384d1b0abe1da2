"""Documents that have not changed for as long as they are to be kept: removed whole, and told to sinks.

The address, the hash of the text and the version stay: a page that is read again as it was is nothing new, and what a
sink has is never newer than what it is told. Whether the page is visited is the frontier's business, as before.
"""

from datetime import UTC, datetime
from typing import NamedTuple

from headwater.archive.documents import queries as archive_queries
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.ingest")

# As `deleted_reason`; the database's `keep_document` knows it, too.
TOO_OLD = "too_old"
BATCH = 50


class AgePosition(NamedTuple):
    changed_at: datetime
    bucket: int
    url_hash: bytes


BEGINNING = AgePosition(datetime(1970, 1, 1, tzinfo=UTC), -1, b"")


async def remove_old_documents(database: Database, days: int | None, batch: int = BATCH) -> int:
    """Walks once through all that are so old, and passes those that something else still needs; how many were removed.

    Without a number of days none is ever too old.
    """
    count, after = 0, BEGINNING
    while days is not None:
        rows = await database.fetch(archive_queries.old_documents, days, *after, batch)
        if not rows:
            break
        after = AgePosition(*rows[-1])
        count += await _remove(database, days, [DocumentKey(row["bucket"], row["url_hash"]) for row in rows])
    return count


async def _remove(database: Database, days: int, keys: list[DocumentKey]) -> int:
    async with database.transaction() as connection:
        # A document that changes in this moment is waited for, and looked at again.
        await connection.execute(archive_queries.lock_documents, [key.url_hash for key in keys])
        rows = await connection.fetch(archive_queries.removable_documents, days, *_columns(keys))
        if rows:
            await _empty(connection, [DocumentKey(row["bucket"], row["url_hash"]) for row in rows])
    return len(rows)


async def _empty(connection: Connection, keys: list[DocumentKey]) -> None:
    columns = _columns(keys)
    now = await connection.fetchval(queries.now)
    await connection.fetchval(archive_queries.tombstone_documents, *columns, TOO_OLD, now)
    await connection.execute(archive_queries.forget_versions_of, *columns)
    await connection.execute(archive_queries.forget_outlinks_of, *columns)
    await connection.execute(queries.forget_bodies, *columns)
    await connection.execute(archive_queries.empty_documents, *columns)


def _columns(keys: list[DocumentKey]) -> tuple[list[int], list[bytes]]:
    return [key.bucket for key in keys], [key.url_hash for key in keys]
