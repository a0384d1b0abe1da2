"""Why is this URL not fetched now, when will it be, what happened to it so far."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound
from headwater.frontier.entry import EntryOrigin, EntryStatus
from headwater.frontier.pause import read_pause
from headwater.frontier.submit import priority_in_words
from headwater.politeness.takedown import domains_above, taken_down_in_words
from headwater.politeness.takedown import queries as takedown_queries
from headwater.urls.canonical import CanonicalUrl

queries = load_queries("headwater.frontier")

HISTORY = 20
MOST_COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class EntryPast:
    at: datetime
    verdict: str
    status: int | None
    duration_ms: int | None
    reason: str | None
    owner: str
    kind: str  # of what was asked for: the page, or robots.txt and the like on the way to it


@dataclass(frozen=True, slots=True)
class EntryExplanation:
    url: str
    status: EntryStatus
    why: str
    next_at: datetime | None  # the earliest; None: nothing is planned
    source: str
    priority: int
    ahead_on_host: int
    history: list[EntryPast]
    reason: str | None = None  # the word for why it is dead
    moved_to: str | None = None
    is_taken_down: bool = False
    is_held: bool = False  # until its source is resumed
    is_left: bool = False  # by a source that was removed
    priority_why: str = ""
    found_at: datetime | None = None
    is_paused_with_all: bool = False  # it would wait for its turn, if everything were not paused


async def explain(database: Database, url: CanonicalUrl, now: datetime | None = None) -> EntryExplanation:
    row = await database.fetchrow(queries.find_entry, url.bucket, url.url_hash, now)
    if row is None:
        raise NotFound(f"{url.url} is not in the frontier.", fix="Nobody has submitted it, or it was removed.")
    taken_down = await why_taken_down(database, url)
    closures = await database.fetch(queries.closures_of_host, url.bucket, url.host)
    history = await database.fetch(queries.history_of_entry, url.bucket, url.url_hash, HISTORY)
    ahead = await database.fetchval(
        queries.better_waiting_on_host,
        url.bucket,
        url.host,
        row["priority"],
        row["next_fetch_at"],
        MOST_COUNTED,
        now,
    )
    why, next_at = reason_and_time(row, [(one["reason"], one["until"]) for one in closures], ahead)
    pause = await read_pause(database) if waits_for_a_worker(row) else None
    if pause:
        why, next_at = pause.with_fix, None
    if taken_down:
        why, next_at = taken_down, None
    return EntryExplanation(
        row["url"],
        EntryStatus(row["status"]),
        why,
        next_at,
        row["source_name"],
        row["priority"],
        ahead,
        [EntryPast(*(one[name] for name in EntryPast.__slots__)) for one in history],
        row["reason"],
        row["moved_to"],
        bool(taken_down),
        row["held"] == "paused" or row["source_status"] != "active",
        row["source_status"] == "deleted",
        priority_in_words(row["priority"], row["source_priority"], EntryOrigin(row["origin"]), row["depth"]),
        row["discovered_at"],
        pause is not None,
    )


async def why_taken_down(database: Database, url: CanonicalUrl) -> str:
    """In words; empty if it is not."""
    rows = await database.fetch(takedown_queries.takedowns_of_domains, list(domains_above(url.host)))
    return taken_down_in_words(rows, url)


def waits_for_a_worker(row: Any) -> bool:
    """Pure. Not what its source sets aside: that waits for more than the end of a pause of everything."""
    is_waiting = EntryStatus(row["status"]) in (EntryStatus.PENDING, EntryStatus.FAILED)
    return is_waiting and row["held"] != "paused" and row["source_status"] == "active"


def reason_and_time(row: Any, closures: list[tuple[str, datetime]], ahead: int) -> tuple[str, datetime | None]:
    """In words, and the earliest moment it can be fetched. Pure."""
    match EntryStatus(row["status"]):
        case EntryStatus.FETCHING:
            return (
                f"being fetched by {row['lease_owner']}, whose lease ends {row['lease_expires_at']:%H:%M:%S %Z}",
                None,
            )
        case EntryStatus.FETCHED:
            told = "it is visited again when a feed or sitemap says it changed, or when a person asks"
            return (
                ("it is fetched again by the clock of its source", row["revisit_at"])
                if row["revisit_at"]
                else (told, None)
            )
        case EntryStatus.DEAD:
            return str(row["reason"]) + (f" ({row['last_error']})" if row["last_error"] else ""), None
        case _:
            return _why_waiting(row, closures, ahead)


def _why_waiting(row: Any, closures: list[tuple[str, datetime]], ahead: int) -> tuple[str, datetime | None]:
    now = row["now"]
    if row["held"] == "paused" or row["source_status"] != "active":
        because = f": {row['status_reason']}" if row["status_reason"] else ""
        state = "was removed" if row["source_status"] == "deleted" else f"is {row['source_status']}"
        return f"set aside: its source {row['source_name']} {state}{because}", None
    if row["held"] == "suspect":
        return "its worker died while fetching it; it runs alone next, to see whether it was the cause", row[
            "next_fetch_at"
        ]
    for reason, until in closures:
        if until > now:
            return f"its host is closed: {reason}", max(until, row["next_fetch_at"])
    if row["next_fetch_at"] > now:
        times = "a failed attempt" if row["retry_count"] == 1 else f"{row['retry_count']} failed attempts"
        because = f" after {times}: {row['last_error']}" if row["retry_count"] else ""
        return f"not due yet{because}", row["next_fetch_at"]
    return _why_host_waits(row, ahead)


def _why_host_waits(row: Any, ahead: int) -> tuple[str, datetime | None]:
    delay = max(row["delay_ms"], row["penalty_ms"]) / 1000
    others = "1 better or older entry of this host comes" if ahead == 1 else f"{ahead} better or older entries come"
    behind = f"; {others} first" if ahead else ""
    if row["in_flight"] >= row["max_concurrency"]:
        busy = "a request" if row["in_flight"] == 1 else f"{row['in_flight']} requests"
        return f"its host is busy with {busy}{behind}", row["next_slot_at"]
    if row["next_slot_at"] > row["now"]:
        return f"its host's next slot is not open yet (one request every {delay:g} s){behind}", row["next_slot_at"]
    if row["yield_until"] > row["now"]:
        return f"its host's next slot is kept for a feed or robots.txt{behind}", row["yield_until"]
    if row["is_doubted"]:
        return f"ready; its host waits behind hosts that have answered before{behind}", row["now"]
    return f"ready; the next free worker takes its host's best entry{behind}", row["now"]
