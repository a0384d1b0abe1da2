"""Lists page by page: each page with the cursor that the next one begins at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.politeness.takedown import list_takedowns
from headwater.reports.discovery import (
    NOBODY,
    DiscoveryOverview,
    DiscoveryStatus,
    Run,
    SourceFilter,
    list_runs,
    list_sources,
)
from headwater.reports.problems import sources_to_look_at
from headwater.sources.health import HealthStatus
from headwater.sources.store import Happened, Level, happened_from, read_source

queries = load_queries("headwater.reports")

T = TypeVar("T")
READ_AT_ONCE = 500
# Of runs and events, for those of a page that are wanted.
LOOKED_AT = 5_000
LARGEST_ID = 2**63 - 1
# More than any installation has sources.
MOST_IN_DOUBT = 10_000_000


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """`cursor` is None on the last page."""

    items: Sequence[T]
    cursor: str | None = None


def page_of(found: Sequence[T], limit: int, cursor_of: Callable[[T], str]) -> ListPage[T]:
    """`found` was read with one more than fits, which tells whether there is another page."""
    return ListPage(found[:limit], cursor_of(found[limit - 1]) if len(found) > limit else None)


def foreign_cursor() -> UsageError:
    return UsageError("This cursor was not made by a list.", fix="Start again without one.")


def moment_in(text: str) -> datetime:
    """Of a cursor. Raises ValueError for one that names no zone, or lies outside of all times."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("no zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("outside of all times") from error


async def page_of_sources(
    database: Database, wanted: SourceFilter, health: HealthStatus | None, limit: int, cursor: str | None
) -> ListPage[DiscoveryOverview]:
    """By name. Health is computed, so that a page of it may read many sources: of trouble those where it may be."""
    after = ("", NOBODY)
    if health in (HealthStatus.WARNING, HealthStatus.STRUGGLING):
        wanted = replace(wanted, ids=await sources_to_look_at(database, MOST_IN_DOUBT))
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


@dataclass(frozen=True, slots=True)
class RunFilter:
    source_id: UUID | None = None
    status: str | None = None
    since: datetime | None = None


async def page_of_runs(database: Database, wanted: RunFilter, limit: int, cursor: str | None) -> ListPage[Run]:
    """Newest first. Of a status that is rare a page may hold few, or none, and still lead on."""
    if wanted.status is None:
        found = await list_runs(
            database, wanted.source_id, limit + 1, _run_at(cursor) if cursor else None, wanted.since
        )
        return page_of(found, limit, _cursor_of_run)
    looked = await list_runs(database, wanted.source_id, LOOKED_AT, _run_at(cursor) if cursor else None, wanted.since)
    return sifted_page(looked, LOOKED_AT, limit, lambda run: run.status == wanted.status, _cursor_of_run)


def sifted_page(
    looked: Sequence[T], looked_at: int, limit: int, is_wanted: Callable[[T], bool], cursor_of: Callable[[T], str]
) -> ListPage[T]:
    """Those wanted among so many that were looked at; it leads on where the list does. Pure."""
    matching = [one for one in looked if is_wanted(one)]
    if len(matching) > limit:
        return ListPage(matching[:limit], cursor_of(matching[limit - 1]))
    return ListPage(matching, cursor_of(looked[-1]) if len(looked) >= looked_at else None)


def _cursor_of_run(run: Run) -> str:
    return f"{run.at.isoformat()}/{run.id}"


@dataclass(frozen=True, slots=True)
class EventFilter:
    source_id: UUID | None = None
    kind: str | None = None
    actor: str | None = None
    level: Level | None = None
    since: datetime | None = None

    def takes(self, one: Happened) -> bool:
        event = one.event
        return (
            self.kind in (None, event.kind)
            and self.actor in (None, event.actor)
            and self.level in (None, event.level)
            and (self.since is None or one.at >= self.since)
        )


async def page_of_events(database: Database, wanted: EventFilter, limit: int, cursor: str | None) -> ListPage[Happened]:
    """Newest first. Of what is rare a page may hold few, or none, and still lead on."""
    is_sifted = wanted != EventFilter(wanted.source_id)
    looked_at = LOOKED_AT if is_sifted else limit + 1
    looked = await list_events(database, wanted.source_id, looked_at, _event_at(cursor) if cursor else None)
    if not is_sifted:
        return page_of(looked, limit, lambda one: str(one.id))
    page = sifted_page(looked, looked_at, limit, wanted.takes, lambda one: str(one.id))
    # They are in the order of time: behind one that is too old no other is wanted.
    is_over = wanted.since is not None and bool(looked) and looked[-1].at < wanted.since and len(page.items) < limit
    return replace(page, cursor=None) if is_over else page


async def list_events(
    database: Database, source_id: UUID | None, limit: int, before: int | None = None
) -> list[Happened]:
    return [happened_from(row) for row in await database.fetch(queries.list_events, source_id, before, limit)]


def _event_at(cursor: str) -> int:
    if not cursor.isascii() or not cursor.isdigit() or int(cursor) > LARGEST_ID:
        raise foreign_cursor()
    return int(cursor)


def _run_at(cursor: str) -> tuple[datetime, UUID]:
    moment, _, run_id = cursor.partition("/")
    try:
        return moment_in(moment), UUID(run_id)
    except ValueError:
        raise foreign_cursor() from None


async def page_of_takedowns(database: Database, limit: int, cursor: str | None) -> ListPage[Any]:
    """By name."""
    found = await list_takedowns(database, limit + 1, cursor or "")
    return page_of(found, limit, lambda row: str(row["domain_or_url"]))
