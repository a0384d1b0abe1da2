"""Lists page by page: each page with the cursor that the next one begins at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.frontier.takedowns import list_takedowns
from headwater.reports.discovery import (
    NOBODY,
    DiscoveryOverview,
    DiscoveryStatus,
    Run,
    SourceFilter,
    list_runs,
    list_sources,
)
from headwater.sources.health import HealthStatus
from headwater.sources.store import read_source

T = TypeVar("T")
READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """`cursor` is None on the last page."""

    items: Sequence[T]
    cursor: str | None = None


def page_of(found: Sequence[T], limit: int, cursor_of: Callable[[T], str]) -> Page[T]:
    """`found` was read with one more than fits, which tells whether there is another page."""
    return Page(found[:limit], cursor_of(found[limit - 1]) if len(found) > limit else None)


def foreign_cursor() -> UsageError:
    return UsageError("This cursor was not made by a list.", fix="Start again without one.")


async def page_of_sources(
    database: Database, wanted: SourceFilter, health: HealthStatus | None, limit: int, cursor: str | None
) -> Page[DiscoveryOverview]:
    """By name. Health is computed, so that a page of it may read many sources."""
    after = ("", NOBODY)
    if cursor:
        last = await read_source(database, _source_at(cursor))
        after = (last.name, last.id)
    found: list[DiscoveryOverview] = []
    if health is None:
        found = await list_sources(database, wanted, limit + 1, after)
    while health and len(found) <= limit and (page := await list_sources(database, wanted, READ_AT_ONCE, after)):
        found += [one for one in page if one.health.word is health]
        after = (page[-1].source.name, page[-1].source.id)
    return page_of(found, limit, lambda one: str(one.source.id))


def status_named(text: str | None) -> tuple[DiscoveryStatus | None, HealthStatus | None]:
    """The status that is stored, and the word for its health where that is computed."""
    if text in (HealthStatus.OK, HealthStatus.WARNING, HealthStatus.STRUGGLING):
        return DiscoveryStatus.ACTIVE, HealthStatus(text)
    if text and text not in {*DiscoveryStatus}:
        words = dict.fromkeys((*DiscoveryStatus, *HealthStatus))
        raise UsageError(f"There is no status {text!r}.", fix=f"One of: {', '.join(words)}.")
    return DiscoveryStatus(text) if text else None, None


def _source_at(cursor: str) -> UUID:
    try:
        return UUID(cursor)
    except ValueError:
        raise foreign_cursor() from None


async def page_of_runs(database: Database, source_id: UUID | None, limit: int, cursor: str | None) -> Page[Run]:
    """Newest first."""
    found = await list_runs(database, source_id, limit + 1, _run_at(cursor) if cursor else None)
    return page_of(found, limit, lambda run: f"{run.at.isoformat()}/{run.id}")


def _run_at(cursor: str) -> tuple[datetime, UUID]:
    moment, _, run_id = cursor.partition("/")
    try:
        at, name = datetime.fromisoformat(moment), UUID(run_id)
    except ValueError:
        raise foreign_cursor() from None
    if at.tzinfo is None:
        raise foreign_cursor()
    return at, name


async def page_of_takedowns(database: Database, limit: int, cursor: str | None) -> Page[Any]:
    """By name."""
    found = await list_takedowns(database, limit + 1, cursor or "")
    return page_of(found, limit, lambda row: str(row["domain_or_url"]))
