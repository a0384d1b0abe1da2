"""Why a vacancy is over, and since when: told by what stands beside it, since its row only says that it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.archive.job import LAST_ZONE, JobStatus
from headwater.archive.jobs import OURSELVES
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.frontier.entry import DeadReason
from headwater.urls.canonical import web_addresses

queries = load_queries("headwater.reports")

GONE = {
    DeadReason.NOT_FOUND: "its page is gone (HTTP 404)",
    DeadReason.GONE: "its page is gone (HTTP 410)",
    DeadReason.LEGAL: "its page is withheld for legal reasons (HTTP 451)",
}
# Its entry is settled and the vacancy ended in one transaction, at two readings of the clock.
AT_ONCE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Ending:
    """`reason` is the word for programs, `why` the sentence. `moved_to`: where its address leads now."""

    reason: str
    at: datetime
    why: str
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class EndedPage:
    reason: str
    at: datetime
    moved_to: str | None = None


async def ending_of(database: Database, row: Mapping[str, Any]) -> Ending | None:
    """Of a row of `find_vacancy`; None: it is open."""
    if row["status"] == JobStatus.ACTIVE:
        return None
    if row["status"] == JobStatus.DELETED:
        return _deletion(row)
    urls = web_addresses(row["apply_url"], row["page_url"] if row["is_detailed"] else "")
    at = row["updated_at"]
    found = [await database.fetch(queries.end_of_page, url.bucket, url.url_hash, at) for url in urls]
    pages = [EndedPage(*ended) for rows in found for ended in rows]
    return why_expired(row, pages)


def _deletion(row: Mapping[str, Any]) -> Ending:
    if row["deleted_by"] == OURSELVES:
        return Ending("taken_down", row["deleted_at"], "a takedown covers it: headwater takedown list")
    return Ending("deleted", row["deleted_at"], f"taken out by {row['deleted_by']}: {row['deleted_reason']}")


def why_expired(row: Mapping[str, Any], pages: Sequence[EndedPage]) -> Ending:
    """The surest first. Pure; what happened to its page or its source after it was over is not why."""
    at = row["updated_at"]
    for page in pages:
        if page.reason in GONE and page.at <= at + AT_ONCE:
            return Ending("page_gone", at, GONE[DeadReason(page.reason)])
    if row["deadline"] and (at - LAST_ZONE).date() > row["deadline"]:
        return Ending("deadline_passed", at, f"its deadline, {row['deadline']:%Y-%m-%d}, has passed")
    if row["source_status"] == "deleted" and row["source_changed_at"] <= at:
        return Ending("source_removed", at, f"its source {row['source_name']} was removed")
    for page in pages:
        if page.reason == DeadReason.REDIRECT and page.moved_to:
            return Ending("moved", at, f"its address leads to {page.moved_to} now", page.moved_to)
    return Ending("not_listed", at, _not_listed(row))


def _not_listed(row: Mapping[str, Any]) -> str:
    if row["listed_at"] is None:
        return f"not seen any more since {row['last_seen_at']:%Y-%m-%d %H:%M}"
    named = f"{row['listed_at']:%Y-%m-%d %H:%M}"
    if row["list_url"]:
        return f"not listed any more by {row['list_url']}, which named it last {named}"
    return f"not listed any more since {named}"
