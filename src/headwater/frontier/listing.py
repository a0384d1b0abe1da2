"""Lists of entries as people ask for them: by filters, in an order that an index has, with how many there may be."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UsageError
from headwater.frontier.entry import EntryOrigin, EntryStatus
from headwater.frontier.reads import FAILING, EntryPage, EntryRow, Filter, count_statuses, entry_from, values_of
from headwater.phrases import as_stored
from headwater.politeness.hosts import host_named
from headwater.urls.fingerprint import bucket_of, entry_id

queries = load_queries("headwater.frontier")

AUTHORITY = re.compile(r"https?://([^/?#]+)/")
# Rows that a count looks at; more than these are "at least so many".
MOST_COUNTED = 10_000
# Rows that a page in another order than that of keys looks at, at least.
LOOKED_AT = 1_000
WAITING = (EntryStatus.PENDING, EntryStatus.FAILED)
# Of an id: the bytes of its entry's hash that stand there as they are.
KEPT_BYTES = 5
HASH_BYTES = 32
BEGINNING = datetime.min.replace(tzinfo=UTC)


class EntryOrder(StrEnum):
    PRIORITY = "priority"
    NEXT_FETCH_AT = "next_fetch_at"
    CREATED_AT = "created_at"


@dataclass(frozen=True, slots=True)
class EntryTotal:
    """`is_capped`: there may be more, since not all rows were looked at."""

    count: int
    is_capped: bool


@dataclass(frozen=True, slots=True)
class _QueuePlace:
    priority: int
    at: datetime
    url_hash: bytes


def filter_for(
    *,
    status: EntryStatus | None = None,
    source_id: UUID | None = None,
    host: str | None = None,
    origin: EntryOrigin | None = None,
    reason: str | None = None,
    prefix: str | None = None,
) -> Filter:
    # A prefix that names its host is looked for there alone: of millions of URLs, thousands.
    whole = AUTHORITY.match(prefix or "")
    place = host or (whole and whole[1])
    return Filter(
        status=status,
        source_id=source_id,
        host=host_named(place) if place else None,
        origin=origin,
        reason=as_stored(reason) if reason else None,
        url_prefix=prefix,
    )


async def count_matching(database: Database, wanted: Filter) -> EntryTotal:
    """Exact where counters tell it, else up to a number of rows."""
    if wanted in (Filter(), Filter(status=wanted.status)):
        counts = await count_statuses(database)
        return EntryTotal(counts[wanted.status] if wanted.status else sum(counts.values()), is_capped=False)
    values = values_of(wanted) | {"most": MOST_COUNTED}
    if wanted.source_id:
        row = await database.fetchrow(*queries.count_matching_of_source(**values, source_id=wanted.source_id))
    elif wanted.status in FAILING and wanted.reason:
        row = await database.fetchrow(*queries.count_failures(**values))
    else:
        row = await database.fetchrow(*queries.count_matching(**values))
    assert row is not None
    return EntryTotal(row["found"], is_capped=row["looked"] == MOST_COUNTED)


async def list_in_order(
    database: Database, wanted: Filter, order: EntryOrder, *, limit: int, cursor: str | None = None, offset: int = 0
) -> EntryPage:
    """Waiting entries of one host: the best first, or the earliest. Raises UsageError where no index has the order."""
    _require_index(wanted, order)
    assert wanted.host is not None
    place = _place_at(cursor, order) if cursor else None
    most = max(LOOKED_AT, offset + limit) + 1
    is_by_priority = order is EntryOrder.PRIORITY
    rows = await database.fetch(
        *queries.waiting_in_order(
            bucket=bucket_of(wanted.host),
            host=wanted.host,
            level=place.priority if place and is_by_priority else None,
            at=place.at if place else BEGINNING,
            url_hash=place.url_hash if place else b"",
            most=most,
            by_priority=is_by_priority,
        )
    )
    looked = [entry_from(row) for row in rows]
    found = [one for one in looked if _matches(one, wanted)][offset:]
    last = found[limit - 1] if len(found) > limit else looked[-1] if len(looked) == most else None
    return EntryPage(found[:limit], _cursor_at(last, order) if last else None)


def _require_index(wanted: Filter, order: EntryOrder) -> None:
    if order is EntryOrder.CREATED_AT:
        raise UsageError(
            "No index has URLs in the order of created_at.", fix="Leave sort_by out: lists are in the order of keys."
        )
    if wanted.host is None or wanted.source_id or wanted.status not in (None, *WAITING):
        raise UsageError(
            f"Only the waiting URLs of one host are kept in the order of {order}.",
            fix="Give host, and as status pending, failed or nothing; or leave sort_by out.",
        )


def _matches(one: EntryRow, wanted: Filter) -> bool:
    return (
        wanted.status in (None, one.status)
        and wanted.origin in (None, one.origin)
        and wanted.reason in (None, one.reason)
        and one.url.startswith(wanted.url_prefix or "")
    )


def _cursor_at(last: EntryRow, order: EntryOrder) -> str:
    return f"{order}|{last.priority}|{last.next_fetch_at.isoformat()}|{last.url_hash.hex()}"


def _place_at(cursor: str, order: EntryOrder) -> _QueuePlace:
    said, *rest = cursor.split("|")
    try:
        priority, at, url_hash = rest
        place = _QueuePlace(int(priority), datetime.fromisoformat(at).astimezone(UTC), bytes.fromhex(url_hash))
    except (ValueError, OverflowError):
        place = None
    if said != order or place is None or not 1 <= place.priority <= 10:
        raise UsageError("This cursor was not made by this list.", fix="Start again without one.")
    return place


async def entry_with_id(database: Database, wanted: UUID) -> EntryRow:
    """An id tells the bucket and the beginning of the hash: the entries there are few."""
    beginning = wanted.bytes[1 : 1 + KEPT_BYTES]
    end = beginning + b"\xff" * (HASH_BYTES - KEPT_BYTES)
    rows = await database.fetch(queries.entries_from, wanted.bytes[0], beginning, end)
    for row in rows:
        if entry_id(row["bucket"], row["url_hash"]) == wanted:
            return entry_from(row)
    raise NotFound(f"There is no URL {wanted} in the frontier.", fix="List them: GET /api/v1/frontier")
