"""Keeping documents, in the caller's transaction: new, changed, the same again, a copy of another, gone.

Locks, always in this order: the document's own key, then the contents it leaves and takes, sorted. A row is written
only under the lock of its contents, so that an heir can be made of it by whoever holds that; nobody waits in a circle.
A transaction keeps one document, after it has locked the hosts and entries it settles.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from headwater.archive.document import (
    FEWEST_WORDS_TO_COMPARE,
    TRACKED,
    Duplicate,
    Kept,
    Key,
    NewDocument,
    Op,
    Standing,
    Stored,
    Unchanged,
    op_between,
    signed,
)
from headwater.archive.outbox import Change, Kind, write_changes
from headwater.archive.storable import storable
from headwater.database.pool import Connection
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")

_WRITTEN = tuple(name for name in NewDocument.__dataclass_fields__ if name != "simhash")


async def keep_document(connection: Connection, new: NewDocument, now: datetime) -> Kept:
    """Store it if it says anything new."""
    standing = await _hold(connection, new.key)
    if standing is not None and not standing.is_deleted and standing.says_the_same_as(new):
        return Unchanged(standing.version)
    before = await _hold_contents(connection, new.key, standing, new.content_hash)
    original = await _original_of(connection, new)
    near = None if original else await _near_to(connection, new)
    version = await _write(connection, new, before, (original, near), now)
    if before is not None and before.may_have_duplicates and before.content_hash != new.content_hash:
        await _crown_heir(connection, new.key, now)
    return Duplicate(version, original) if original else Stored(version, before is None, near)


async def tombstone(connection: Connection, bucket: int, url_hash: bytes, reason: str, now: datetime) -> bool:
    """Take it from search and sinks; what it was stays readable. False: there was nothing to take."""
    key = Key(bucket, url_hash)
    before = await _hold_contents(connection, key, await _hold(connection, key))
    if before is None or before.is_deleted:
        return False
    await connection.execute(queries.tombstone_document, *key, storable(reason), now)
    if before.is_delivered:
        await _tell(connection, key, before.version + 1, Op.DELETE, now)
    if before.may_have_duplicates:
        await _crown_heir(connection, key, now)
    return True


async def _hold(connection: Connection, key: Key) -> Standing | None:
    await _lock(connection, [key.url_hash])
    return await _standing(connection, key)


async def _hold_contents(
    connection: Connection, key: Key, standing: Standing | None, *contents: bytes
) -> Standing | None:
    """Lock what a held document says and is going to say; answers with how it stands then."""
    await _lock(connection, {*contents, *([standing.content_hash] if standing else [])})
    # Again: until now somebody else may have made it the heir of its contents.
    return await _standing(connection, key) if standing else None


async def _lock(connection: Connection, hashes: Iterable[bytes]) -> None:
    numbers = sorted({int.from_bytes(one[:8], signed=True) for one in hashes})
    await connection.execute(queries.lock_in_order, numbers)


async def _standing(connection: Connection, key: Key) -> Standing | None:
    row = await connection.fetchrow(queries.read_standing, *key)
    if row is None:
        return None
    return Standing(
        row["version"],
        row["content_hash"],
        row["word_count"],
        row["is_deleted"],
        key_in(row, "duplicate_bucket", "duplicate_of"),
        {name: row[name] for name in TRACKED},
    )


async def _original_of(connection: Connection, new: NewDocument) -> Key | None:
    if not new.is_comparable:
        return None
    row = await connection.fetchrow(queries.find_original, *new.key, new.content_hash, FEWEST_WORDS_TO_COMPARE)
    return Key(*row) if row else None


async def _near_to(connection: Connection, new: NewDocument) -> Key | None:
    if new.simhash is None or not new.is_comparable:
        return None
    row = await connection.fetchrow(queries.find_near_duplicate, *new.key, signed(new.simhash))
    return Key(*row) if row else None


async def _write(
    connection: Connection,
    new: NewDocument,
    before: Standing | None,
    relatives: tuple[Key | None, Key | None],
    now: datetime,
) -> int:
    original, near = relatives
    version = before.version + 1 if before else 1
    if before and not before.says_the_same_as(new):
        await connection.execute(queries.keep_version, *new.key, now)
    values = [storable(getattr(new, name)) for name in _WRITTEN]
    simhash = signed(new.simhash) if new.is_comparable else None
    nobody = (None, None)
    await connection.execute(
        queries.write_document, *values, simhash, *(original or nobody), *(near or nobody), version, now
    )
    was_delivered = before is not None and before.is_delivered
    if op := op_between(was_delivered=was_delivered, is_delivered=original is None):
        await _tell(connection, new.key, version, op, now)
    return version


async def _crown_heir(connection: Connection, key: Key, now: datetime) -> None:
    """The oldest of its duplicates takes the place of a document that no longer says this."""
    heir = await connection.fetchrow(queries.crown_heir, *key, now)
    if heir is not None:
        await connection.execute(queries.follow_heir, *key, heir["bucket"], heir["url_hash"])
        await _tell(connection, Key(heir["bucket"], heir["url_hash"]), heir["version"], Op.UPSERT, now)


async def _tell(connection: Connection, key: Key, version: int, op: Op, now: datetime) -> None:
    await write_changes(connection, [Change(Kind.DOCUMENT, *key, version, op)], now)


def key_in(row: Any, bucket: str, url_hash: str) -> Key | None:
    return None if row[url_hash] is None else Key(row[bucket], row[url_hash])
