"""The frontier in figures for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.sources.health_word import HealthStatus, worst_of

queries = load_queries("headwater.reports")
learning = load_queries("headwater.learning")

MOST_SUSPECTS = 10_000
# Of a state that few hosts are in: a page looks at no more.
MOST_HOSTS_LOOKED_AT = 20_000
# Among so many errors are looked for.
LATEST_REQUESTS = 20_000
LATELY = timedelta(hours=1)
# By the reason for which a host is closed now. One that failed too often rests: it is given up for now.
CLOSED_HEALTH: Mapping[str, HealthStatus] = {
    "retry_after": HealthStatus.WARNING,
    "robots_unreachable": HealthStatus.WARNING,
    "breaker": HealthStatus.STRUGGLING,
    "paused": HealthStatus.PAUSED,
    "takedown": HealthStatus.BLOCKED,
}
SERVER_ERROR, TOO_MANY = 500, 429


class HostState(StrEnum):
    OPEN = "open"  # something is due there, and it may be asked
    WAITING = "waiting"  # something is queued there, and not due yet
    ASKED = "asked"  # a request is under way
    CLOSED = "closed"
    DOUBTED = "doubted"  # it has not answered yet, or did not at the last try
    SLOWED = "slowed"  # a penalty after 429 or 503
    POLICY = "policy"  # a person has set something for it
    CRAWL_DELAY = "crawl_delay"
    IDLE = "idle"  # nothing is queued there


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


def health_of_host(row: Mapping[str, Any]) -> HealthStatus:
    """By the words that sources have, of a row of the list. A host that is asked again soon only warns. Pure."""
    closed = CLOSED_HEALTH.get(row["closed_by"] or "")
    last = row["last_status"]
    if last is None:
        run = None if row["last_fetch_at"] is None else HealthStatus.OK
    else:
        run = HealthStatus.WARNING if last >= SERVER_ERROR or last == TOO_MANY else HealthStatus.OK
    is_mute = row["is_doubted"] and row["last_fetch_at"] is not None
    return worst_of(closed, run, HealthStatus.WARNING if is_mute else None)


async def list_hosts_in_state(
    database: Database, state: HostState, limit: int, after: tuple[int, str] = (-1, "")
) -> list[Any]:
    """A last row that does not match says how far was searched."""
    bucket, host = after
    return await database.fetch(
        *queries.list_hosts_in_state(bucket=bucket, host=host, state=state, most=MOST_HOSTS_LOOKED_AT, limit=limit)
    )


async def errors_by_host(database: Database, hosts: int) -> dict[str, dict[str, int]]:
    """Failed ones of the latest requests by class, of the hosts with most of them, the worst first."""
    found: dict[str, dict[str, int]] = {}
    for row in await database.fetch(queries.errors_by_host, LATEST_REQUESTS, hosts):
        found.setdefault(row["host"], {})[row["class"]] = row["count"]
    return found
