"""The room that the database takes on disk, by part, from the catalogue alone: no table is read."""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.reports.forecast import Day, Part, SizeForecast, daily_growth
from headwater.settings.durations import bound_of
from headwater.settings.groups import KeepSettings

queries = load_queries("headwater.reports")

SEARCH = "search index"
# Every table has its part; docs/operations.md says how long each is kept.
PARTS: Mapping[str, tuple[str, ...]] = {
    "documents": ("documents", "document_versions", "outlinks"),
    SEARCH: (),  # its indexes stand on documents and vacancies
    "raw pages": ("raw_bodies", "body_removals", "body_sweeps"),
    "vacancies": ("jobs", "job_sightings"),
    "frontier": ("url_frontier", "discoveries", "counters", "counter_deltas", "counter_totals", "slots", "sleepers"),
    "items of channels": ("channel_items",),
    "log of changes": ("changes", "change_counter", "outbox"),
    "sinks": ("delivered", "delivery_failures", "sinks", "backfills", "views", "search_column"),
    "runs": ("runs",),
    "fetch log": ("fetch_log",),
    "audit log": ("audit_log",),
    "hosts": (
        "hosts",
        "host_policies",
        "host_closures",
        "host_statistics",
        "host_rules",
        "robots",
        "former_robots",
        "tdmrep",
        "new_hosts",
        "address_changes",
        "crowded_addresses",
        "crowded_hosts",
    ),
    "all else": (
        *(
            "sources",
            "channels",
            "channel_kinds",
            "source_totals",
            "source_total_deltas",
            "external_ids",
            "events",
            "cadence",
            "takedowns",
            "takedown_requests",
        ),
        *("subscriptions", "callbacks", "pushes", "crawl_pause"),
        *("templates", "learning_hosts"),
        *(
            "installation",
            "schema_migrations",
            "schema_functions",
            "statistics_mark",
            "run_minutes",
            "clock_mark",
            "sizes",
        ),
        *("operations", "kept_answers", "web_users", "web_tokens", "web_sessions", "login_attempts"),
        *("role_processes", "role_figures", "process_lines", "request_minutes", "request_totals"),
        *(
            "rollup_minutes",
            "rollup_hours",
            "rollup_totals",
            "rollup_mark",
            "figure_totals",
            "source_days",
            "source_delays",
        ),
        "health_marks",
    ),
}
_PART_OF = {table: part for part, tables in PARTS.items() for table in tables}
# A note is compared with what is there now; the first one of a day is kept.
LONGEST_LOOK, SHORTEST_LOOK, NOTES_KEPT_DAYS = timedelta(days=8), timedelta(days=1), 60


class Relation(NamedTuple):
    """A table, or a day of one. `search_bytes` are of its indexes of words, and not in `bytes`."""

    table: str
    day: date | None
    bytes: int
    search_bytes: int


class Note(NamedTuple):
    noted_at: datetime
    bytes: int


async def relations_of(database: Database) -> list[Relation]:
    """Tables of others in the same schema are left out."""
    rows = await database.fetch(queries.sizes_of_tables)
    return [
        Relation(row["table_name"], row["day"], row["bytes"] - row["search_bytes"], row["search_bytes"])
        for row in rows
        if row["table_name"] in _PART_OF
    ]


def bytes_by_part(relations: Sequence[Relation]) -> dict[str, int]:
    sizes = dict.fromkeys(PARTS, 0)
    for one in relations:
        sizes[_PART_OF[one.table]] += one.bytes
        sizes[SEARCH] += one.search_bytes
    return sizes


async def note_sizes(database: Database) -> None:
    """Once a day: what is there later is compared with it."""
    sizes = bytes_by_part(await relations_of(database))
    await database.execute(queries.note_sizes, list(sizes), list(sizes.values()))
    await database.execute(queries.forget_sizes, NOTES_KEPT_DAYS)


async def forecast_of(database: Database, keep: KeepSettings, embedded: Path | None) -> SizeForecast:
    """`embedded`: where the data of our own server lies."""
    relations = await relations_of(database)
    row = await database.fetchrow(queries.place_of_data)
    assert row is not None
    here = _place_here(database, row)
    noted = await database.fetch(queries.sizes_noted, SHORTEST_LOOK, LONGEST_LOOK)
    notes = {one["part"]: Note(one["noted_at"], one["bytes"]) for one in noted}
    free = await asyncio.to_thread(free_bytes, embedded or here)
    return SizeForecast(parts_of(relations, notes, keep, row["now"], row["since"]), free)


def parts_of(
    relations: Sequence[Relation], notes: Mapping[str, Note], keep: KeepSettings, now: datetime, since: datetime
) -> tuple[Part, ...]:
    """`since`: nothing can be older than the schema."""
    days = _days_by_part(relations, now.date())
    kept, known_days = _days_kept(keep), (now.date() - since.date()).days
    parts = []
    for name, size in bytes_by_part(relations).items():
        growth = daily_growth(days[name], known_days) if name in days else _growth_since(notes.get(name), size, now)
        age = (now - since) / timedelta(days=1)
        parts.append(Part(name, size, growth, kept.get(name), age, tuple(days.get(name, ()))))
    return tuple(parts)


def _days_by_part(relations: Sequence[Relation], today: date) -> dict[str, list[Day]]:
    days: dict[str, list[Day]] = defaultdict(list)
    for one in relations:
        if one.day is not None:
            days[_PART_OF[one.table]].append(Day((today - one.day).days, one.bytes))
    return days


def _growth_since(note: Note | None, size: int, now: datetime) -> float | None:
    if note is None:
        return None
    return max(0, size - note.bytes) / ((now - note.noted_at) / timedelta(days=1))


def _days_kept(keep: KeepSettings) -> dict[str, int | None]:
    """Of parts that do not grow for ever."""
    documents = bound_of(keep.document_days)
    return {
        "documents": documents,
        SEARCH: documents,
        "log of changes": keep.change_days,
        "fetch log": keep.fetch_log_days,
        "audit log": keep.audit_days,
        "runs": keep.run_days,
        "raw pages": keep.raw_days,
    }


async def room_of(database: Database) -> int | None:
    """Free bytes of the disk that the data lies on; none where that is another machine's."""
    row = await database.fetchrow(queries.place_of_data)
    return await asyncio.to_thread(free_bytes, _place_here(database, row))


def _place_here(database: Database, row: Any) -> Path | None:
    """The server's folder, if it runs on this machine and lets us know."""
    # What a pooler's address says is where the pooler is.
    if database.is_behind_pooler or not row["is_here"] or not row["data_directory"]:
        return None
    return Path(row["data_directory"])


def free_bytes(place: Path | None) -> int | None:
    if place is None:
        return None
    try:
        return shutil.disk_usage(place).free
    except OSError:
        # Another machine's folder after all, or one that we may not look at.
        return None
