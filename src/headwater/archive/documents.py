"""Keeping documents, in the caller's transaction: new, changed, the same again, a copy of another, gone.

All of it happens in the database's own `keep_document` and `tombstone_documents`, which also say what they lock and in
which order. A transaction keeps one document, after it has locked the hosts and entries it settles.
"""

from datetime import datetime
from typing import Any

from headwater.archive.document import DocumentKey, Duplicate, Kept, NewDocument, Stored, UnchangedDocument, to_signed
from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.storable import storable, storable_json

queries = load_queries("headwater.archive")

_NOWHERE = (None, None)
_AS_THEY_ARE = tuple(name for name in NewDocument.__dataclass_fields__ if name != "claimed")


async def keep_document(connection: Connection, new: NewDocument, now: datetime) -> Kept:
    """Store it if it says anything new."""
    row = await connection.fetchrow(queries.keep_document, document_row(new), now)
    assert row is not None
    other = key_in(row, "other_bucket", "other_hash")
    if row["outcome"] == "unchanged":
        return UnchangedDocument(row["version"])
    if row["outcome"] == "stored":
        return Stored(row["version"], row["is_new"], other)
    assert other is not None
    return Duplicate(row["version"], other)


async def tombstone(connection: Connection, bucket: int, url_hash: bytes, reason: str, now: datetime) -> bool:
    """Take it from search and sinks; what it was stays readable. False: there was nothing to take."""
    taken = await connection.fetchval(queries.tombstone_documents, [bucket], [url_hash], storable(reason), now)
    return bool(taken)


def document_row(new: NewDocument) -> tuple[Any, ...]:
    """As the database's type `new_document` has it."""
    special = {
        "quality_parts": storable_json(new.quality_parts),
        "metadata": storable_json(new.metadata),
        "simhash": to_signed(new.simhash),
    }
    values = [special[name] if name in special else storable(getattr(new, name)) for name in _AS_THEY_ARE]
    return (*values, *(new.claimed or _NOWHERE))


def key_in(row: Any, bucket: str, url_hash: str) -> DocumentKey | None:
    return None if row[url_hash] is None else DocumentKey(row[bucket], row[url_hash])
