"""Sources, their schedule and their runs, for people."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound
from headwater.politeness.takedown import domains_above
from headwater.reports.problems import domains_taken_down, facts_of, taken_down_addresses
from headwater.reports.push import PushSummary, push_summary
from headwater.sources.health import Health, health_of
from headwater.sources.kinds import NEWS, ChannelKind
from headwater.sources.source import Source, SourceKind
from headwater.sources.store import ChannelState, channels_of, read_source, source_from

queries = load_queries("headwater.reports")

NOBODY, LAST_ID = UUID(int=0), UUID(int=2**128 - 1)
# A run is dated before what it found is stored: the log gets one that stored much behind others that are younger.
LATE_BY_AT_MOST = timedelta(minutes=10)
# Of so many the delay from publication to discovery is told: more would take longer and say the same.
NEWEST_ITEMS = 1_000
SCHEDULED_AT_ONCE, SOURCES_AT_ONCE = 10_000, 500
# Of a picture: more look the same.
MOST_UPCOMING = 20_000
# Channels that are so late are late for a person.
LATE = timedelta(minutes=15)
# Without anything new for so long a source is idle, whatever its rhythm.
IDLE = timedelta(days=30)
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
MOST_ERRORS = 2**31 - 1


class DiscoveryStatus(StrEnum):
    """The states by which a person picks sources."""

    ACTIVE = "active"
    PAUSED = "paused"
    BLOCKED = "blocked"
    DELETED = "deleted"
    FAILING = "failing"
    SILENT = "silent"
    OVERDUE = "overdue"
    IDLE = "idle"


# Those that their channels tell, of active sources.
TOLD_BY_CHANNELS = frozenset(
    {DiscoveryStatus.FAILING, DiscoveryStatus.SILENT, DiscoveryStatus.OVERDUE, DiscoveryStatus.IDLE}
)


@dataclass(frozen=True, slots=True)
class SourceFilter:
    status: DiscoveryStatus | None = None
    kind: str | None = None
    tag: str | None = None
    text: str | None = None  # the beginning of a name
    mode: str | None = None  # only where they are listed by name
    ids: Sequence[UUID] | None = None  # no others
    has_polled_feed: bool = False  # one that is polled; only where they are sorted or counted


class ListOrder(StrEnum):
    """Of lists, each by an index; `next` and `-errors` list only those that have such."""

    NAME = "name"
    ADDED = "added"
    NEWEST = "-added"
    NEXT_POLL = "next"
    ERRORS = "-errors"


@dataclass(frozen=True, slots=True)
class PlaceInOrder:
    """Where a page ended; `key` is the id of the source, or of the channel that it stands there for."""

    at: datetime | None
    errors: int
    key: UUID


class SourceOrder(StrEnum):
    """In which older programs ask for a page by offset."""

    NAME = "name"
    URL = "url"
    ENABLED = "enabled"
    CREATED_AT = "created_at"


@dataclass(frozen=True, slots=True)
class DiscoveryOverview:
    source: Source
    channels: tuple[ChannelState, ...]
    health: Health

    @property
    def next(self) -> ChannelState | None:
        """The channel that is polled next."""
        active = [one for one in self.channels if one.is_active and not self.is_taken_down(one)]
        return min(active, key=lambda one: one.next_poll_at, default=None)

    def is_taken_down(self, channel: ChannelState | None = None) -> bool:
        """The whole source, or one of its channels."""
        places = {None, channel and channel.id}
        return any(one.kind == "takedown" and one.channel_id in places for one in self.health.problems)

    @property
    def is_left_alone(self) -> bool:
        """Whether takedowns leave nothing of it to poll."""
        active = [one for one in self.channels if one.is_active]
        return self.is_taken_down() or (bool(active) and all(map(self.is_taken_down, active)))

    @property
    def errors(self) -> int:
        return max((one.consecutive_errors for one in self.channels if one.is_enabled), default=0)


@dataclass(frozen=True, slots=True)
class Run:
    at: datetime
    source_id: UUID
    source: str
    source_url: str
    channel_id: UUID
    channel_url: str | None  # None: the channel is gone
    is_one_of_several: bool  # its source has other channels of its kind
    kind: ChannelKind
    trigger: str
    status: str
    requests: int
    found: int
    inserted: int
    updated: int
    skipped: int
    errors: int
    duration_ms: int
    http_status: int | None
    error_class: str | None
    message: str
    next_poll_at: datetime | None
    next_reason: str | None
    id: UUID


@dataclass(frozen=True, slots=True)
class Scheduled:
    source: str
    source_id: UUID
    kind: ChannelKind
    url: str
    next_poll_at: datetime | None  # None: not before a person resumes its source, or lifts its takedown
    next_reason: str
    interval: timedelta | None
    errors: int
    last_error: str | None
    is_running: bool
    is_one_of_several: bool  # others go by the same name
    is_taken_down: bool = False


@dataclass(frozen=True, slots=True)
class DiscoverySummary:
    """The whole in figures; `now` is the database's time, which every other time here is meant against."""

    now: datetime
    sources: dict[str, int]
    channels: int
    polling: int
    due: int
    runs: int  # in the last 24 hours, like the following
    failed_runs: int
    found: int  # new to their channels: an article that two of them list counts twice
    delay_p50: timedelta | None  # from publication to discovery
    delay_p95: timedelta | None
    push: PushSummary

    @property
    def followed(self) -> dict[str, int]:
        """Sources by status, without those that were deleted."""
        return {status: count for status, count in self.sources.items() if status != DiscoveryStatus.DELETED}


async def list_sources(
    database: Database, wanted: SourceFilter, limit: int = 50, after: tuple[str, UUID] = ("", NOBODY)
) -> list[DiscoveryOverview]:
    """By name; `after` is the name and the id of the last one of the page before."""
    return await overviews(database, await sources_that_match(database, wanted, limit, after))


async def sources_that_match(
    database: Database, wanted: SourceFilter, limit: int, after: tuple[str, UUID] = ("", NOBODY)
) -> list[Source]:
    """The same without their health, which costs more than they do."""
    name, source_id = after
    status = str(wanted.status) if wanted.status else None
    call = queries.list_sources(
        name=name,
        id=source_id,
        status=status,
        kind=wanted.kind,
        tag=wanted.tag,
        mode=wanted.mode,
        beginning=_beginning(wanted.text),
        ids=wanted.ids,
        late=LATE,
        idle=IDLE,
        news=NEWS,
        limit=limit,
    )
    return [source_from(row) for row in await database.fetch(*call)]


async def sources_in_order(
    database: Database, wanted: SourceFilter, order: ListOrder, limit: int, after: PlaceInOrder | None
) -> list[tuple[DiscoveryOverview, PlaceInOrder]]:
    """In any order but by name, each with its place in it."""
    if after is None:
        is_down = order is ListOrder.NEWEST
        after = PlaceInOrder(LATEST if is_down else EARLIEST, MOST_ERRORS, LAST_ID if is_down else NOBODY)
    call = queries.sources_in_order(
        order=order,
        at=after.at,
        errors=after.errors,
        key=after.key,
        status=wanted.status,
        is_troubled=wanted.status in TOLD_BY_CHANNELS,
        kind=wanted.kind,
        tag=wanted.tag,
        mode=wanted.mode,
        beginning=_beginning(wanted.text),
        late=LATE,
        idle=IDLE,
        news=NEWS,
        limit=limit,
    )
    rows = await database.fetch(*call)
    places = [PlaceInOrder(row["at"], row["errors"], row["key"]) for row in rows]
    found = await overviews(database, [source_from(row) for row in rows])
    return list(zip(found, places, strict=True))


async def sources_not_polled(database: Database) -> list[UUID]:
    """Of which a channel was never polled."""
    return [row["source_id"] for row in await database.fetch(queries.sources_not_polled)]


async def sorted_sources(
    database: Database, wanted: SourceFilter, order: SourceOrder, offset: int, limit: int, *, is_descending: bool
) -> list[DiscoveryOverview]:
    call = queries.sorted_sources(
        order=f"{order} {'desc' if is_descending else 'asc'}",
        status=wanted.status,
        kind=wanted.kind,
        tag=wanted.tag,
        feed_active=wanted.has_polled_feed,
        limit=limit,
        offset=offset,
    )
    return await overviews(database, [source_from(row) for row in await database.fetch(*call)])


async def count_matching(database: Database, wanted: SourceFilter, cap: int) -> int:
    """By what is stored of sources; counted no further than the cap."""
    call = queries.count_matching_sources(
        status=wanted.status,
        kind=wanted.kind,
        tag=wanted.tag,
        beginning=_beginning(wanted.text),
        feed_active=wanted.has_polled_feed,
        cap=cap,
    )
    return int(await database.fetchval(*call))


async def count_in_states(database: Database, wanted: SourceFilter, cap: int) -> dict[DiscoveryStatus, int]:
    """Of each state how many match the rest of a filter, counted no further than the cap."""
    call = queries.count_sources_in_states(
        kind=wanted.kind,
        tag=wanted.tag,
        mode=wanted.mode,
        beginning=_beginning(wanted.text),
        late=LATE,
        idle=IDLE,
        news=NEWS,
        cap=cap,
    )
    row = await database.fetchrow(*call)
    assert row is not None
    return {DiscoveryStatus(state): count for state, count in row.items()}


async def overviews(database: Database, sources: Sequence[Source]) -> list[DiscoveryOverview]:
    channels = await channels_of(database, [source.id for source in sources])
    facts = await facts_of(database, sources, channels)
    return [
        DiscoveryOverview(one, tuple(channels[one.id]), health_of(one, channels[one.id], facts[one.id]))
        for one in sources
    ]


async def limits_reached(database: Database, source: Source) -> list[str]:
    """Sentences: which limit of a source keeps pages out, and the way on."""
    profile = source.profile
    has_depth = profile.max_depth >= 0 and profile.kind is SourceKind.DOCS
    row = await database.fetchrow(queries.pages_of_crawl, source.id, profile.max_depth if has_depth else 1_000)
    assert row is not None
    return limits_in_words(source, row["pages"], row["deep"])


def limits_in_words(source: Source, pages: int, deep: int) -> list[str]:
    """`deep` is how many pages lie as deep as links are followed."""
    profile, told = source.profile, []
    edit, then = f"`headwater sources edit {source.id}", f"then: headwater crawl run {source.id}"
    if profile.max_pages and pages >= profile.max_pages:
        more = f"Allow more with {edit} max_pages={profile.max_pages * 10}`, {then}"
        told.append(f"max_pages = {profile.max_pages:,} is reached: further pages are left out. {more}")
    if deep:
        links = f"links on {deep:,} page{'s' * (deep > 1)}, if there are any to further pages, are not followed"
        more = f"Go deeper with {edit} max_depth={profile.max_depth + 1}`, {then}"
        told.append(f"max_depth = {profile.max_depth} is reached: {links}. {more}")
    return told


@dataclass(frozen=True, slots=True)
class RunFilter:
    source_id: UUID | None = None
    status: str | None = None
    since: datetime | None = None


async def list_runs(
    database: Database,
    wanted: RunFilter,
    limit: int = 20,
    before: tuple[datetime, UUID] | None = None,
    looked: int | None = None,
) -> list[Run]:
    """Newest first; `before` is the time and the id of the last one of the page before.

    Of a status are those among the newest `looked`.
    """
    at, run_id = before or (None, NOBODY)
    call = queries.list_runs(
        source_id=wanted.source_id,
        at=at,
        id=run_id,
        since=wanted.since,
        looked=looked or limit,
        status=wanted.status,
        limit=limit,
    )
    return [_run(row) for row in await database.fetch(*call)]


async def last_run_looked_at(
    database: Database, wanted: RunFilter, before: tuple[datetime, UUID] | None, looked: int
) -> tuple[datetime, UUID] | None:
    """None where there are not so many."""
    at, run_id = before or (None, NOBODY)
    call = queries.last_run_looked_at(source_id=wanted.source_id, at=at, id=run_id, since=wanted.since, looked=looked)
    row = await database.fetchrow(*call)
    return (row["at"], row["id"]) if row else None


async def runs_lately(database: Database, source_id: UUID | None, span: timedelta) -> dict[UUID, datetime]:
    """When the runs of a span before the newest one were, by their ids."""
    return {row["id"]: row["at"] for row in await database.fetch(queries.runs_lately, source_id, span)}


async def runs_after(
    database: Database, moment: datetime, source_id: UUID | None, known: Collection[UUID]
) -> list[Run]:
    """Oldest first, a thousand at most: for `--follow`."""
    return [_run(row) for row in await database.fetch(queries.runs_after, moment, source_id, list(known))]


@dataclass(slots=True)
class RunFollower:
    """New runs, each once, also those that come late; `known` is kept for as long as they may be read again."""

    database: Database
    known: dict[UUID, datetime]
    newest: datetime
    source_id: UUID | None = None
    late_by: timedelta = LATE_BY_AT_MOST

    async def news(self) -> list[Run]:
        """Oldest first."""
        since = self.newest - self.late_by
        self.known = {run_id: at for run_id, at in self.known.items() if at > since}
        found = await runs_after(self.database, since, self.source_id, self.known)
        for run in found:
            self.known[run.id] = run.at
            self.newest = max(self.newest, run.at)
        return found


async def follow_runs(database: Database, late_by: timedelta) -> RunFollower:
    """Of all sources, from now on."""
    known = await runs_lately(database, None, late_by)
    return RunFollower(database, known, max(known.values(), default=await time_now(database)), late_by=late_by)


async def schedule(database: Database, limit: int) -> list[Scheduled]:
    """The next polls; at the end channels that rest: taken down, or of a source that is paused or blocked."""
    coming = await _scheduled(database, await database.fetch(queries.schedule, limit))
    coming.sort(key=lambda one: one.is_taken_down)
    for status in (DiscoveryStatus.PAUSED, DiscoveryStatus.BLOCKED):
        if len(coming) < limit:
            coming += _resting(await list_sources(database, SourceFilter(status), limit - len(coming)))
    return coming[:limit]


async def upcoming_polls(database: Database, minutes: int) -> tuple[int, ...]:
    """Channels that are due in each of the next minutes."""
    rows = await database.fetch(queries.upcoming_polls, minutes, MOST_UPCOMING)
    found = {row["minute"]: row["channels"] for row in rows}
    return tuple(found.get(minute, 0) for minute in range(minutes))


async def whole_schedule(database: Database, batch: int = SCHEDULED_AT_ONCE) -> AsyncIterator[list[Scheduled]]:
    """As `schedule`, all of it in parts: no more than one of them is held, and no transaction while it is printed."""
    after = (datetime.min.replace(tzinfo=UTC), NOBODY)
    taken_down: list[Scheduled] = []
    while rows := await database.fetch(queries.schedule_after, batch, *after):
        coming = await _scheduled(database, rows)
        yield [one for one in coming if not one.is_taken_down]
        taken_down += [one for one in coming if one.is_taken_down]
        after = (rows[-1]["next_poll_at"], rows[-1]["id"])
        if len(rows) < batch:
            break
    yield taken_down
    for status in (DiscoveryStatus.PAUSED, DiscoveryStatus.BLOCKED):
        last = ("", NOBODY)
        while resting := await list_sources(database, SourceFilter(status), SOURCES_AT_ONCE, last):
            yield _resting(resting)
            last = (resting[-1].source.name, resting[-1].source.id)


async def _scheduled(database: Database, rows: Sequence[Any]) -> list[Scheduled]:
    taken = await taken_down_addresses(database, await _watched(database, rows))
    coming = [
        Scheduled(
            row["source"],
            row["source_id"],
            ChannelKind(row["kind"]),
            row["url"],
            row["next_poll_at"],
            row["next_reason"],
            row["poll_interval"],
            row["consecutive_errors"],
            row["last_error"],
            bool(row["is_running"]),
            row["is_one_of_several"],
        )
        for row in rows
    ]
    left_alone = [taken.get(row["site"]) or taken.get(row["url"]) for row in rows]
    return [_left_alone(one, why) if why else one for one, why in zip(coming, left_alone, strict=True)]


async def _watched(database: Database, rows: Sequence[Any]) -> set[str]:
    """The addresses of which a takedown may speak: few of many, so that only they are taken apart."""
    hosts = {row[name] for row in rows for name in ("site_host", "host") if row[name]}
    taken = await domains_taken_down(database, hosts)
    watched = {host for host in hosts if not taken.isdisjoint(domains_above(host))} if taken else set()
    return {row[name] for row in rows if {row["site_host"], row["host"]} & watched for name in ("site", "url")}


def _left_alone(one: Scheduled, why: str) -> Scheduled:
    return replace(one, next_poll_at=None, next_reason=f"It is {why}", is_taken_down=True)


def _resting(overviews: Sequence[DiscoveryOverview]) -> list[Scheduled]:
    """Enabled channels of sources that are not polled."""
    names = Counter(one.source.name for one in overviews for channel in one.channels if channel.is_enabled)
    return [
        Scheduled(
            one.source.name,
            one.source.id,
            channel.kind,
            channel.url,
            None,
            f"{one.health.word}: {one.health.reason}",
            channel.poll_interval,
            channel.consecutive_errors,
            channel.last_error,
            channel.is_running,
            names[one.source.name] > 1,
        )
        for one in overviews
        for channel in one.channels
        if channel.is_enabled
    ]


async def overview_of_channel(database: Database, channel_id: UUID) -> tuple[DiscoveryOverview, ChannelState]:
    """Its source, and the channel."""
    source_id = await database.fetchval(queries.source_of_channel, channel_id)
    if source_id is None:
        raise NotFound("There is no such channel.", fix="`headwater sources show` lists the channels of a source.")
    (found,) = await overviews(database, [await read_source(database, source_id)])
    return found, next(one for one in found.channels if one.id == channel_id)


async def time_now(database: Database) -> datetime:
    """The database's."""
    moment: datetime = await database.fetchval(queries.server_time)
    return moment


async def summary(database: Database) -> DiscoverySummary:
    # One moment: a fold between the mark and the runs after it would have some counted twice.
    async with database.transaction(readonly=True, snapshot=True) as connection:
        mark = await connection.fetchval(queries.runs_folded_until)
        row = await connection.fetchrow(queries.discovery_summary, NEWEST_ITEMS, mark)
        counted = await connection.fetch(queries.count_sources)
        push = await push_summary(connection)
    assert row is not None
    return DiscoverySummary(
        now=row["now"],
        sources={one["status"]: one["sources"] for one in counted},
        channels=row["channels"],
        polling=row["polling"],
        due=row["due"],
        runs=row["runs"],
        failed_runs=row["failed_runs"],
        found=row["found"],
        delay_p50=row["delays"][0] if row["delays"] else None,
        delay_p95=row["delays"][1] if row["delays"] else None,
        push=push,
    )


def _run(row: Any) -> Run:
    return Run(**{**{name: row[name] for name in Run.__dataclass_fields__}, "kind": ChannelKind(row["kind"])})


def _beginning(text: str | None) -> str | None:
    """As a pattern."""
    return f"{_escaped(text.lower())}%" if text else None


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
