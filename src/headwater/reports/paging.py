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
    MOST_ERRORS,
    NOBODY,
    DiscoveryOverview,
    DiscoveryStatus,
    ListOrder,
    PlaceInOrder,
    Run,
    RunFilter,
    SourceFilter,
    last_run_looked_at,
    list_runs,
    list_sources,
    sources_in_order,
    sources_not_polled,
)
from headwater.reports.problems import sources_to_look_at
from headwater.sources.health_word import HealthStatus
from headwater.sources.store import Happened, Level, happened_from, read_source

queries = load_queries("headwater.reports")

T = TypeVar("T")
# Of runs and events, for those of a page that are wanted; and of sources, each of which is judged.
LOOKED_AT, JUDGED = 5_000, 100
LARGEST_ID = 2**63 - 1
# More than any installation has sources.
MOST_IN_DOUBT = 10_000_000
# Words that are judged source by source, of active ones.
COMPUTED = (HealthStatus.OK, HealthStatus.UNKNOWN, HealthStatus.WARNING, HealthStatus.STRUGGLING)


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
    database: Database,
    wanted: SourceFilter,
    health: HealthStatus | None,
    limit: int,
    cursor: str | None,
    order: ListOrder = ListOrder.NAME,
) -> ListPage[DiscoveryOverview]:
    """Health is computed: of a word that is rare a page may hold few, or none, and still lead on."""
    if order is not ListOrder.NAME:
        if health is not None:
            raise UsageError(f"Sources that are {health} are listed by name only.", fix="Leave the order out.")
        return await _page_in_order(database, wanted, order, limit, cursor)
    after = ("", NOBODY)
    if cursor:
        last = await read_source(database, _source_at(cursor))
        after = (last.name, last.id)
    if health is None:
        found = await list_sources(database, wanted, limit + 1, after)
        return page_of(found, limit, _cursor_of_source)
    wanted = replace(wanted, ids=await _sources_that_may_be(database, health))
    return await _page_of_health(database, wanted, health, limit, after)


async def _page_of_health(
    database: Database, wanted: SourceFilter, health: HealthStatus, limit: int, after: tuple[str, UUID]
) -> ListPage[DiscoveryOverview]:
    found: list[DiscoveryOverview] = []
    left = max(JUDGED, limit + 1)
    page: list[DiscoveryOverview] = []
    while left and len(found) <= limit:
        at_once = min(left, limit + 1)
        page = await list_sources(database, wanted, at_once, after)
        found += [one for one in page if one.health.word is health]
        if len(page) < at_once:
            return page_of(found, limit, _cursor_of_source)
        after = (page[-1].source.name, page[-1].source.id)
        left -= at_once
    is_full = len(found) > limit
    return page_of(found, limit, _cursor_of_source) if is_full else ListPage(found, _cursor_of_source(page[-1]))


async def _sources_that_may_be(database: Database, health: HealthStatus) -> Sequence[UUID] | None:
    """None: any."""
    if health is HealthStatus.UNKNOWN:
        return await sources_not_polled(database)
    if health in (HealthStatus.WARNING, HealthStatus.STRUGGLING):
        is_for_struggling = health is HealthStatus.STRUGGLING
        return await sources_to_look_at(database, MOST_IN_DOUBT, is_for_struggling=is_for_struggling)
    return None


def _cursor_of_source(one: DiscoveryOverview) -> str:
    return str(one.source.id)


async def _page_in_order(
    database: Database, wanted: SourceFilter, order: ListOrder, limit: int, cursor: str | None
) -> ListPage[DiscoveryOverview]:
    found = await sources_in_order(database, wanted, order, limit + 1, _place_in(cursor) if cursor else None)
    page = page_of(found, limit, lambda one: _cursor_of_place(one[1]))
    return ListPage([one for one, _ in page.items], page.cursor)


def _cursor_of_place(place: PlaceInOrder) -> str:
    return f"{place.at.isoformat() if place.at else ''}|{place.errors}|{place.key}"


def _place_in(cursor: str) -> PlaceInOrder:
    at, _, rest = cursor.partition("|")
    errors, _, key = rest.partition("|")
    if not (errors.isascii() and errors.isdigit() and int(errors) <= MOST_ERRORS):
        raise foreign_cursor()
    try:
        return PlaceInOrder(moment_in(at) if at else None, int(errors), UUID(key))
    except ValueError:
        raise foreign_cursor() from None


def order_named(text: str | None) -> ListOrder:
    if text and text not in {*ListOrder}:
        raise UsageError(f"There is no order {text[:40]!r}.", fix=f"One of: {', '.join(ListOrder)}.")
    return ListOrder(text) if text else ListOrder.NAME


def status_named(text: str | None) -> tuple[DiscoveryStatus | None, HealthStatus | None]:
    """The status that is stored, and the word for its health where that is computed."""
    if text in COMPUTED:
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


async def page_of_runs(database: Database, wanted: RunFilter, limit: int, cursor: str | None) -> ListPage[Run]:
    """Newest first. Of a status that is rare a page may hold few, or none, and still lead on."""
    before = _run_at(cursor) if cursor else None
    found = await list_runs(database, wanted, limit + 1, before, LOOKED_AT if wanted.status else None)
    if len(found) > limit or wanted.status is None:
        return page_of(found, limit, _cursor_of_run)
    last = await last_run_looked_at(database, wanted, before, LOOKED_AT)
    return ListPage(found, _run_cursor(*last) if last else None)


def _cursor_of_run(run: Run) -> str:
    return _run_cursor(run.at, run.id)


def _run_cursor(at: datetime, run_id: UUID) -> str:
    return f"{at.isoformat()}/{run_id}"


@dataclass(frozen=True, slots=True)
class EventFilter:
    source_id: UUID | None = None
    kind: str | None = None
    actor: str | None = None
    level: Level | None = None
    since: datetime | None = None


async def page_of_events(database: Database, wanted: EventFilter, limit: int, cursor: str | None) -> ListPage[Happened]:
    """Newest first. Of what is rare a page may hold few, or none, and still lead on."""
    before = id_in_cursor(cursor) if cursor else None
    is_sifted = wanted != EventFilter(wanted.source_id)
    found = await list_events(database, wanted, limit + 1, before, LOOKED_AT if is_sifted else None)
    if len(found) > limit or not is_sifted:
        return page_of(found, limit, lambda one: str(one.id))
    call = queries.last_event_looked_at(source_id=wanted.source_id, before=before, looked=LOOKED_AT)
    last = await database.fetchrow(*call)
    # They are in the order of time: behind one that is too old no other is wanted.
    if last is None or (wanted.since is not None and last["at"] < wanted.since):
        return ListPage(found)
    return ListPage(found, str(last["id"]))


async def list_events(
    database: Database, wanted: EventFilter, limit: int, before: int | None = None, looked: int | None = None
) -> list[Happened]:
    """Newest first, before an id; of what is asked for those among the newest `looked`."""
    call = queries.list_events(
        source_id=wanted.source_id,
        kind=wanted.kind,
        actor=wanted.actor,
        level=wanted.level,
        since=wanted.since,
        before=before,
        looked=looked or limit,
        limit=limit,
    )
    return [happened_from(row) for row in await database.fetch(*call)]


def id_in_cursor(cursor: str) -> int:
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
