"""The totals that every page of the console shows: how much, how late, how fresh."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.frontier.entry import EntryStatus
from headwater.frontier.reads import count_statuses
from headwater.reports.discovery import LATE
from headwater.reports.frontier import HostsNow, hosts_now
from headwater.reports.rollups import HOUR, series_of

queries = load_queries("headwater.reports")

WINDOW = timedelta(hours=24)
MOST_COUNTED = 10_000
GOT = frozenset({"fetched", "unchanged", "moved"})
FAILED = frozenset({"retry_later", "dead", "crashed"})


@dataclass(frozen=True, slots=True)
class StripTotals:
    """`fetched`, `failed` and `documents` are of the last 24 hours; the others of this moment."""

    now: datetime
    fetched: int
    failed: int
    documents: int
    hosts: HostsNow
    waiting: int
    dead: int
    overdue: int  # channels; counted up to a bound
    newest_document_at: datetime | None


async def totals_now(database: Database) -> StripTotals:
    row = await database.fetchrow(queries.newest_and_overdue, LATE, MOST_COUNTED)
    assert row is not None
    now: datetime = row["now"]
    ended = (await series_of(database, "fetches", now - WINDOW, now, HOUR)).points
    by_verdict = [(label.partition(".")[0], sum(points)) for label, points in ended.items()]
    documents = await series_of(database, "documents", now - WINDOW, now, HOUR)
    counts, hosts = await count_statuses(database), await hosts_now(database)
    return StripTotals(
        now,
        sum(count for verdict, count in by_verdict if verdict in GOT),
        sum(count for verdict, count in by_verdict if verdict in FAILED),
        sum(documents.sums),
        hosts,
        counts[EntryStatus.PENDING] + counts[EntryStatus.FAILED],
        counts[EntryStatus.DEAD],
        row["overdue"],
        row["newest_document_at"],
    )
