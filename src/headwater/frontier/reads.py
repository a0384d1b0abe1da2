"""Looking at the frontier: counts that equal a recount, pages by key, and one entry explained."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.frontier.entry import EntryOrigin, EntryStatus
from headwater.urls.fingerprint import bucket_of, entry_id

queries = load_queries("headwater.frontier")

LARGEST_PAGE = 1_000
# A page looks at no more rows than this: a rare filter answers quickly with how far it has searched.
MOST_LOOKED_AT = 20_000
# Enough where most match.
LOOKED_AT_FIRST = 1_000
BUCKETS = 256
PATIENCE_SECONDS = 600
FAILING = (EntryStatus.FAILED, EntryStatus.DEAD)
# Of a class of failures as many are counted: beyond that it is "so many or more".
MOST_OF_CLASS = 10_000
MOST_CLASSES = 200


@dataclass(frozen=True, slots=True)
class EntryCounts:
    by_source: dict[UUID, dict[EntryStatus, int]]

    @property
    def by_status(self) -> dict[EntryStatus, int]:
        return {status: sum(counts.get(status, 0) for counts in self.by_source.values()) for status in EntryStatus}


@dataclass(frozen=True, slots=True)
class CountComparison:
    """Of one status. The sums may be equal while sources differ."""

    status: EntryStatus
    counted: int = 0
    recounted: int = 0
    differing: int = 0  # sources


async def count_statuses(database: Database) -> dict[EntryStatus, int]:
    """Equal to a recount at this moment, at the price of a few rows."""
    return _statuses(await database.fetch(queries.count_statuses))


async def recount_statuses(database: Database) -> dict[EntryStatus, int]:
    """From the entries themselves; reads the whole table."""
    async with database.transaction(readonly=True, patience=PATIENCE_SECONDS) as connection:
        return _statuses(await connection.fetch(queries.recount_statuses, timeout=PATIENCE_SECONDS))


def _statuses(rows: Iterable[Any]) -> dict[EntryStatus, int]:
    found = {row["status"]: row["entries"] for row in rows}
    return {status: found.get(status, 0) for status in EntryStatus}


async def count_entries_of(database: Database, sources: Sequence[UUID]) -> EntryCounts:
    """As `count_statuses`, of some sources."""
    return _counts(await database.fetch(queries.count_entries_of, sources))


async def count_entries(database: Database) -> EntryCounts:
    """Of every source: for audits, since there may be many."""
    return _counts(await database.fetch(queries.count_entries))


async def recount_entries(database: Database) -> EntryCounts:
    """From the entries themselves; reads the whole table."""
    return (await count_both_ways(database))[1]


async def count_both_ways(database: Database) -> tuple[EntryCounts, EntryCounts]:
    """Both from one snapshot, so that they can be compared while everything runs."""
    async with database.transaction(readonly=True, snapshot=True, patience=PATIENCE_SECONDS) as connection:
        counted = _counts(await connection.fetch(queries.count_entries))
        return counted, _counts(await connection.fetch(queries.recount_entries, timeout=PATIENCE_SECONDS))


async def compare_counts(database: Database) -> list[CountComparison]:
    """Counters beside a recount, of one moment; the sources are compared where they lie, however many there are."""
    async with database.transaction(readonly=True, patience=PATIENCE_SECONDS) as connection:
        rows = await connection.fetch(queries.compare_counts, timeout=PATIENCE_SECONDS)
    found = {row["status"]: row for row in rows}
    return [
        CountComparison(status, row["counted"], row["recounted"], row["differing"])
        if (row := found.get(status))
        else CountComparison(status)
        for status in EntryStatus
    ]


def _counts(rows: Iterable[Any]) -> EntryCounts:
    by_source: dict[UUID, dict[EntryStatus, int]] = {}
    for row in rows:
        by_source.setdefault(row["source_id"], {})[EntryStatus(row["status"])] = row["entries"]
    return EntryCounts(by_source)


@dataclass(frozen=True, slots=True)
class Filter:
    status: EntryStatus | None = None
    source_id: UUID | None = None
    host: str | None = None
    origin: EntryOrigin | None = None
    reason: str | None = None
    url_prefix: str | None = None


@dataclass(frozen=True, slots=True)
class FailureClass:
    """URLs that failed or died for one reason. `said` and `url` are of one of them."""

    status: EntryStatus
    reason: str
    entries: int
    said: str
    url: str

    @property
    def is_capped(self) -> bool:
        return self.entries >= MOST_OF_CLASS


@dataclass(frozen=True, slots=True)
class EntryRow:
    id: UUID
    url: str
    url_hash: bytes
    host: str
    source_id: UUID
    origin: str
    parent_url: str | None
    depth: int
    priority: int
    status: EntryStatus
    held: str | None
    next_fetch_at: datetime
    retry_count: int
    fetch_count: int
    reason: str | None
    last_error: str | None
    last_status: int | None
    etag: str | None
    last_modified: str | None
    content_hash: bytes | None
    last_fetched_at: datetime | None
    discovered_at: datetime
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class EntryPage:
    """`cursor` None: this was the end. A short page with a cursor has searched up to there."""

    entries: list[EntryRow]
    cursor: str | None

    @property
    def share_looked_at(self) -> float:
        """Of all entries, from the first page on: keys are spread evenly."""
        return (key_at(self.cursor)[0] + 1) / BUCKETS if self.cursor else 1.0


async def list_entries(
    database: Database, wanted: Filter, *, limit: int = 50, cursor: str | None = None, offset: int = 0
) -> EntryPage:
    """`offset` matches are left out; those that a page of 20,000 rows does not reach are looked for from its cursor."""
    if not 1 <= limit <= LARGEST_PAGE:
        raise UsageError(f"A page of {limit} entries is not possible.", fix=f"Ask for 1 to {LARGEST_PAGE}.")
    if offset:
        return await _look(database, wanted, limit, cursor, MOST_LOOKED_AT, offset)
    first = await _look(database, wanted, limit, cursor, LOOKED_AT_FIRST)
    if first.cursor is None or len(first.entries) == limit:
        return first
    rest = await _look(database, wanted, limit - len(first.entries), first.cursor, MOST_LOOKED_AT)
    return EntryPage([*first.entries, *rest.entries], rest.cursor)


async def _look(
    database: Database, wanted: Filter, limit: int, cursor: str | None, most: int, offset: int = 0
) -> EntryPage:
    bucket, url_hash = key_at(cursor) if cursor else (-1, b"")
    values = values_of(wanted) | {
        "after_bucket": bucket,
        "after_hash": url_hash,
        "most": most,
        "limit": limit + 1,  # one more, to know whether there is one
        "offset": offset,
    }
    if wanted.source_id:
        rows = await database.fetch(*queries.list_entries_of_source(**values, source_id=wanted.source_id))
    elif wanted.status in FAILING and wanted.reason:
        rows = await database.fetch(*queries.list_failures(**values))
    else:
        rows = await database.fetch(*queries.list_entries(**values))
    found = [row for row in rows if row["matches"]]
    last = found[limit - 1] if len(found) > limit else next((row for row in rows if not row["matches"]), None)
    return EntryPage(
        [entry_from(row) for row in found[:limit]], cursor_at(last["bucket"], last["url_hash"]) if last else None
    )


async def failures_by_class(database: Database) -> list[FailureClass]:
    """The largest first."""
    rows = await database.fetch(queries.failures_by_class, MOST_OF_CLASS, MOST_CLASSES)
    return [
        FailureClass(EntryStatus(row["status"]), row["reason"], row["entries"], row["last_error"] or "", row["url"])
        for row in rows
    ]


def values_of(wanted: Filter) -> dict[str, object]:
    """By the names that statements have for them, but for the source, which has statements of its own."""
    return {
        "bucket": bucket_of(wanted.host) if wanted.host else None,
        "status": wanted.status,
        "host": wanted.host,
        "origin": wanted.origin,
        "reason": wanted.reason,
        "url_prefix": wanted.url_prefix,
    }


def entry_from(row: Any) -> EntryRow:
    fields = {name: row[name] for name in EntryRow.__slots__ if name not in ("id", "status")}
    return EntryRow(id=entry_id(row["bucket"], row["url_hash"]), status=EntryStatus(row["status"]), **fields)


def cursor_at(bucket: int, url_hash: bytes) -> str:
    return f"{bucket:02x}{url_hash.hex()}"


def key_at(cursor: str) -> tuple[int, bytes]:
    try:
        octets = bytes.fromhex(cursor)
    except ValueError:
        octets = b""
    if len(octets) != 33:
        raise UsageError("This cursor was not made by a listing.", fix="Start again without one.")
    return octets[0], octets[1:]
