"""The frontier in figures for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.reports")
learning = load_queries("headwater.learning")

MOST_SUSPECTS = 10_000
# Among so many errors are looked for.
LATEST_REQUESTS = 20_000
LATELY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class HostsNow:
    """Why nothing is fetched, when nothing is: `waiting` hosts are within their delay, `busy` ones are being asked."""

    open: int
    waiting: int
    busy: int
    doubted: int  # have something waiting and have not answered yet, or not at the last try
    next_in: timedelta | None


async def hosts_now(database: Database) -> HostsNow:
    row = await database.fetchrow(queries.waiting_hosts)
    assert row is not None
    seconds = row["next_in_seconds"]
    next_in = None if seconds is None else timedelta(seconds=seconds)
    return HostsNow(row["open"], row["waiting"], row["busy"], row["doubted"], next_in)


async def oldest_due_at(database: Database) -> datetime | None:
    """Since when the host that waits longest could be asked; None: none could be now."""
    moment: datetime | None = await database.fetchval(queries.oldest_due)
    return moment


@dataclass(frozen=True, slots=True)
class Suspects:
    """Entries and channels that a process had begun when it died: each is tried with nothing of its kind beside it."""

    pages: int
    channels: int


async def suspects_now(database: Database) -> Suspects:
    row = await database.fetchrow(queries.count_suspects, MOST_SUSPECTS)
    assert row is not None
    return Suspects(row["pages"], row["channels"])


@dataclass(frozen=True, slots=True)
class TemplatesNow:
    """Hosts by how they are read; `hurried` are documents of the last hour by source, read when there was no time."""

    active: int
    waiting: int
    disabled: int
    hurried: Mapping[str, int] = field(default_factory=dict)


async def templates_now(database: Database) -> TemplatesNow:
    row = await database.fetchrow(learning.count_templates)
    assert row is not None
    hurried = await database.fetch(queries.hurried_documents, LATELY)
    return TemplatesNow(**row, hurried={one["source"]: one["documents"] for one in hurried})


async def delays_of(database: Database) -> dict[str, float]:
    """Seconds between two requests that each host may expect, penalties aside."""
    return {row["host"]: row["delay"] for row in await database.fetch(queries.delays)}


async def source_names(database: Database, ids: Sequence[UUID]) -> dict[UUID, str]:
    return {row["id"]: row["name"] for row in await database.fetch(queries.source_names, ids)}


async def page_of_sources(database: Database, limit: int, after: tuple[str, UUID]) -> dict[UUID, str]:
    """Names by id, in the order of the names."""
    return {row["id"]: row["name"] for row in await database.fetch(queries.page_of_sources, *after, limit)}


async def list_hosts(database: Database, limit: int, after: tuple[int, str] = (-1, "")) -> list[Any]:
    return await database.fetch(queries.list_hosts, *after, limit)


async def errors_by_host(database: Database, hosts: int) -> dict[str, dict[str, int]]:
    """Failed ones of the latest requests by class, of the hosts with most of them, the worst first."""
    found: dict[str, dict[str, int]] = {}
    for row in await database.fetch(queries.errors_by_host, LATEST_REQUESTS, hosts):
        found.setdefault(row["host"], {})[row["class"]] = row["count"]
    return found
