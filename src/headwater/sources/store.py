"""Sources, their channels and their trail in the database. Every change leaves its trace in the same transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from shlex import quote
from typing import Any, TypeVar
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, QueryFailed, UrlRejected, UsageError
from headwater.sources.causes import ErrorCause, HeldBy, StopReason
from headwater.sources.kinds import NEWS, ChannelKind
from headwater.sources.push import PushState, push_from
from headwater.sources.source import (
    DEFAULT_PRIORITY,
    Policy,
    Profile,
    Source,
    SourceKind,
    SourceMode,
    SourceStatus,
)
from headwater.storable import one_line
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import registrable_domain
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.sources")

StoredWord = TypeVar("StoredWord", bound=StrEnum)


PROVEN_AT_ONCE = 1_000
_COLUMNS = tuple(Profile.__dataclass_fields__)
_NOT_EDITABLE = frozenset({"url"})
# When and how politely a source is asked, and how people find it: what is taken of its answers stays the same.
_NOT_ABOUT_CONTENT = frozenset(
    {
        *("priority", "tags", "policy", "poll_every", "crawl_frequency_days", "time_window", "timezone"),
        *("rate_limit_ms", "revisit_every"),
    }
)
# What views filter by, and under what sinks keep records.
_SENT_TO_SINKS = frozenset({"name", "tags", "country"})
EDITABLE = tuple(name for name in _COLUMNS if name not in _NOT_EDITABLE)


NOTICE = "headwater_poll"
UNIQUE_VIOLATION = "23505"
LEFT_TO_ITS_SITE = "it is followed for the site it lies on"


class Level(StrEnum):
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is a word programs count by; `message` a sentence for people."""

    kind: str
    message: str
    source_id: UUID | None = None
    channel_id: UUID | None = None
    actor: str = "headwater"
    level: Level = Level.INFO
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Happened:
    id: int
    at: datetime
    event: Event


async def record(connection: Connection | Database, *events: Event) -> None:
    """In the transaction that makes the change."""
    for event in events:
        await connection.execute(
            *queries.record_event(
                kind=event.kind,
                level=str(event.level),
                actor=event.actor,
                source_id=event.source_id,
                channel_id=event.channel_id,
                message=one_line(event.message),  # it may quote what a site wrote
                details=dict(event.details),
            )
        )


async def forget_events(database: Database, days: int) -> None:
    """Only those that we noted by ourselves: the trail of people's changes is kept."""
    await database.execute(queries.forget_events, days)


async def events_of(
    database: Database | Connection, source_id: UUID, limit: int = 50, before: int | None = None
) -> list[Happened]:
    """Newest first."""
    return [happened_from(row) for row in await database.fetch(queries.events_of_source, source_id, before, limit)]


def happened_from(row: Any) -> Happened:
    event = Event(
        row["kind"],
        row["message"],
        row["source_id"],
        row["channel_id"],
        row["actor"],
        Level(row["level"]),
        row["details"],
    )
    return Happened(row["id"], row["at"], event)


async def create_source(
    connection: Connection,
    name: str,
    url: str,
    kind: str = "news",
    priority: int = DEFAULT_PRIORITY,
    actor: str = "headwater",
) -> UUID:
    return await store_source(connection, Profile(url, name, SourceKind(kind), priority), actor)


async def store_source(connection: Connection, profile: Profile, actor: str) -> UUID:
    """Raises UsageError if a source with this address exists."""
    written = {"url_hash": f"\\x{profile.address.url_hash.hex()}", **_columns(profile)}
    created: UUID | None = await connection.fetchval(queries.write_source, None, written)
    if created is None:
        raise _there_already(profile)
    told = {name: value for name, value in _plain(profile).items() if value not in (None, [], {}, "")}
    await record(connection, Event("source_created", f"{profile.name} added", created, actor=actor, details=told))
    return created


async def require_new(database: Database, profile: Profile) -> None:
    """Raises UsageError if a source with this address exists: before anything is done for it in vain."""
    if await database.fetchval(queries.source_at, profile.address.url_hash) is not None:
        raise _there_already(profile)


async def require_new_site(database: Database, given: CanonicalUrl, led_to: CanonicalUrl) -> None:
    """Raises UsageError where a redirect leads to a site that is followed already."""
    if led_to.url_hash == given.url_hash:
        return
    # On one host every address may be a source of its own.
    site = None if led_to.host == given.host else led_to.target == "/"
    row = await database.fetchrow(queries.source_of_site, led_to.host, led_to.url_hash, site)
    if row is None:
        return
    raise UsageError(
        f"{given.url} leads to {led_to.url}, a site that is followed already: {row['name']}.",
        fix=f"Follow both with --anyway, or look at it: headwater sources show {row['id']}",
    )


async def require_new_feeds(database: Database, feeds: Sequence[CanonicalUrl]) -> None:
    """Raises UsageError where all of these feeds are followed already: nothing would come from them."""
    rows = await database.fetch(queries.followers_of_feeds, [feed.url_hash for feed in feeds]) if feeds else []
    if rows and {row["url_hash"] for row in rows} == {feed.url_hash for feed in feeds}:
        raise UsageError(
            f"{rows[0]['url']} is followed already, for {rows[0]['name']}.",
            fix=f"Look at it: headwater sources show {rows[0]['id']}",
        )


def _there_already(profile: Profile) -> UsageError:
    return UsageError(
        f"There is a source for {profile.url} already.", fix=f"Look at it: headwater sources show {quote(profile.url)}"
    )


async def manual_source(connection: Connection) -> UUID:
    """The source of URLs that a person adds by hand, made on first use."""
    await connection.fetchval(queries.wait_to_be_alone)
    found: UUID | None = await connection.fetchval(queries.find_manual_source)
    return found or await connection.fetchval(queries.create_manual_source)


async def read_source(connection: Connection | Database, source_id: UUID) -> Source:
    row = await connection.fetchrow(queries.read_source, source_id)
    if row is None:
        raise NotFound(f"There is no source {source_id}.", fix="`headwater sources list` shows those there are.")
    return source_from(row)


async def lock_source(connection: Connection, source_id: UUID) -> Source:
    """Nobody else changes it until this transaction ends."""
    row = await connection.fetchrow(queries.lock_source, source_id)
    if row is None:
        raise NotFound(f"There is no source {source_id}.")
    return source_from(row)


async def prove_sources(database: Database) -> int:
    """Note which sources have an active channel and kept something; how many are new among them."""
    count = 0
    while proven := int((await database.execute(queries.prove_sources, PROVEN_AT_ONCE, NEWS)).split()[-1]):
        count += proven
    return count


async def fold_totals(database: Database) -> None:
    """Sources and channels that came, went or changed since the last time, into the totals that `status` reads."""
    await database.execute(queries.fold_totals)


async def edit_source(connection: Connection, source_id: UUID, changes: Mapping[str, Any], actor: str) -> list[str]:
    """The fields that are different now; values that cannot be are refused as when it was added."""
    unknown = [name for name in changes if name not in EDITABLE]
    if unknown:
        raise UsageError(f"A source has no field {unknown[0]!r}.", fix=f"One of: {', '.join(EDITABLE)}.")
    before = (await lock_source(connection, source_id)).profile
    after = replace(before, **changes)
    old, new = _plain(before), _plain(after)
    changed = {name: [old[name], new[name]] for name in changes if old[name] != new[name]}
    if changed:
        edited = {name: value for name, value in _columns(after).items() if name in EDITABLE}
        await connection.execute(queries.write_source, source_id, edited)
        if {"poll_every", "crawl_frequency_days"} & set(changed) and (interval := _interval_of(after)):
            await connection.execute(queries.bring_polls_forward, source_id, interval)
        if "revisit_every" in changed:
            await connection.execute(queries.plan_revisits, source_id, list(after.revisit_every))
        if not _NOT_ABOUT_CONTENT.issuperset(changed):
            await connection.execute(queries.want_all_again, source_id)
        if _SENT_TO_SINKS & set(changed):
            await connection.execute(queries.refill_sinks, source_id, f"{after.name} was edited")
        message = f"{after.name} edited: {', '.join(changed)}"
        await record(connection, Event("source_edited", message, source_id, actor=actor, details=changed))
    return list(changed)


def _interval_of(profile: Profile) -> timedelta | None:
    days = profile.crawl_frequency_days
    return profile.poll_every or (timedelta(days=days) if days else None)


async def set_status(
    connection: Connection, source_id: UUID, status: SourceStatus, reason: str | None, actor: str
) -> SourceStatus:
    """Its channels follow at once; answers with the status before. Its entries are the frontier's business."""
    row = await connection.fetchrow(queries.lock_source, source_id)
    if row is None:
        raise NotFound(f"There is no source {source_id}.")
    before = SourceStatus(row["status"])
    if before is SourceStatus.DELETED and status is not SourceStatus.DELETED:
        raise UsageError(f"{row['name']} was deleted.", fix="Add it again.")
    # A reason may quote what a site wrote.
    reason = one_line(reason) if reason else None
    await connection.execute(queries.set_source_status, source_id, str(status), reason)
    await connection.execute(queries.follow_source_status, source_id)
    message = f"{row['name']} {_verb(status)}" + (f": {reason}" if reason else "")
    level = Level.WARN if status is SourceStatus.BLOCKED else Level.INFO
    details = {"before": str(before), "after": str(status)}
    await record(connection, Event(f"source_{_verb(status)}", message, source_id, None, actor, level, details))
    return before


async def block_unreadable(database: Database, source_id: UUID, why: str) -> None:
    """A source whose row holds values that no person could have set: its pages and channels wait until it is mended."""
    async with database.transaction() as connection:
        row = await connection.fetchrow(queries.lock_source, source_id)
        if row is not None and row["status"] == SourceStatus.ACTIVE:
            await set_status(
                connection, source_id, SourceStatus.BLOCKED, f"{StopReason.UNREADABLE_ROW}: {why}", "headwater"
            )


def source_from(row: Any) -> Source:
    profile = {name: row[name] for name in _COLUMNS}
    lists = {name: tuple(value) for name, value in profile.items() if isinstance(value, list)}
    words = {
        "kind": SourceKind(row["kind"]),
        "ingestion_mode": SourceMode(row["ingestion_mode"]),
        "policy": Policy(row["policy"]) if row["policy"] else None,
    }
    return Source(
        id=row["id"],
        profile=Profile(**(profile | lists | words)),
        status=SourceStatus(row["status"]),
        status_reason=row["status_reason"],
        consecutive_failures=row["consecutive_failures"],
        last_run_at=row["last_run_at"],
        last_run_status=row["last_run_status"],
        last_run_message=row["last_run_message"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _verb(status: SourceStatus) -> str:
    return "resumed" if status is SourceStatus.ACTIVE else str(status)


def _columns(profile: Profile) -> dict[str, Any]:
    """Each of which is a field of a profile, as the database reads them from JSON."""
    return {name: _stored(getattr(profile, name)) for name in _COLUMNS}


def _stored(value: Any) -> Any:
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} seconds"
    return list(map(_stored, value)) if isinstance(value, tuple) else value


def _plain(profile: Profile) -> dict[str, Any]:
    """For the trail: values that JSON knows."""
    return {name: _told(value) for name, value in asdict(profile).items()}


def _told(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return list(map(_told, value)) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class ChannelState:
    """A channel as people see it."""

    id: UUID
    source_id: UUID
    kind: ChannelKind
    url: str
    title: str | None
    is_enabled: bool  # as a person or we set it
    disabled_reason: str | None
    is_active: bool  # enabled, and its source is active too: it is polled
    former_urls: tuple[str, ...]
    next_poll_at: datetime
    next_reason: str
    poll_interval: timedelta | None
    leased_by: str | None
    is_running: bool
    last_polled_at: datetime | None
    last_ok_at: datetime | None
    last_new_at: datetime | None
    newest_item_at: datetime | None
    last_item_count: int
    nochange_count: int
    overflow_count: int
    silent_since: datetime | None
    doubted_since: datetime | None  # of a list that leaves out most of its vacancies
    validators_distrusted_until: datetime | None  # it said "not modified" although it had changed
    polls_lately: float  # fading with a half-life of 14 days, like the two after it
    vain_polls_lately: float
    new_items_lately: float
    consecutive_errors: int
    error_class: str | None
    class_errors: int
    error_cause: ErrorCause | None
    last_error: str | None
    unread_page: str | None  # a further page of its list, where one could not be read
    unread_since: datetime | None
    held_by: HeldBy | None  # its next poll
    last_status: int | None
    created_at: datetime
    updated_at: datetime  # of one that is off: since when
    speaks_for_site: bool
    push: PushState | None = None  # how things stand with the hub that it names


@dataclass(frozen=True, slots=True)
class NewChannel:
    kind: ChannelKind
    url: CanonicalUrl
    title: str | None = None
    recipe: str | None = None  # how an API is asked and read
    reason: str = "new"  # why it is polled now
    # Wherever it lies: a person gave it, or the site of its source names it. A file that was imported is neither.
    speaks_for_site: bool = True
    due_in: timedelta = timedelta()  # its first poll
    heard: Mapping[str, Any] | None = None  # what it answered already, for its first poll


async def add_channel(
    connection: Connection, source_id: UUID, new: NewChannel, actor: str = "headwater", now: datetime | None = None
) -> UUID | None:
    """Its first poll is due at once. None where another source follows this feed already.

    A feed belongs to the source on whose site it lies: that one gets it from a source that only named it.
    """
    followed = await _followed_as(connection, new)
    if followed is not None and await _lies_on_site(connection, source_id, followed, new):
        await disable_channel(connection, followed["source_id"], followed["id"], LEFT_TO_ITS_SITE, actor)
        followed = None
    if followed is None:
        try:
            async with connection.savepoint():
                return await _add(connection, source_id, new, actor, now)
        except QueryFailed as error:
            # Another process added this feed a moment ago.
            followed = await _followed_as(connection, new) if error.sqlstate == UNIQUE_VIOLATION else None
            if followed is None:
                raise
    known: UUID = followed["id"]
    return known if followed["source_id"] == source_id else None


async def _followed_as(connection: Connection, new: NewChannel) -> Any:
    """Only a feed belongs to one source alone."""
    if not new.kind.traits.has_one_source:
        return None
    return await connection.fetchrow(queries.feed_is_followed, new.url.url_hash)


async def _lies_on_site(connection: Connection, source_id: UUID, followed: Any, new: NewChannel) -> bool:
    """Of this source, and not of the one that follows it now."""
    if followed["source_id"] == source_id:
        return False
    site: str = await connection.fetchval(queries.site_of_source, source_id)
    domain = registrable_domain(new.url.host)
    return _domain_of(site) == domain != _domain_of(followed["site"])


def _domain_of(site: str) -> str:
    """Empty for the source of URLs that people add by hand: it has no site."""
    try:
        return registrable_domain(canonicalise(site).host)
    except UrlRejected:
        return ""


async def _add(connection: Connection, source_id: UUID, new: NewChannel, actor: str, now: datetime | None) -> UUID:
    url = new.url
    row = await connection.fetchrow(
        *queries.add_channel(
            source_id=source_id,
            kind=str(new.kind),
            url=url.url,
            url_hash=url.url_hash,
            bucket=url.bucket,
            host=url.host,
            title=new.title,
            recipe=new.recipe,
            reason=new.reason,
            now=now,
            speaks_for_site=new.speaks_for_site,
            due_in=new.due_in,
            heard=new.heard,
        )
    )
    assert row is not None
    if row["is_new"]:
        message = f"{new.kind} {url.url} added"
        await record(connection, Event("channel_added", message, source_id, row["id"], actor))
    await connection.execute(queries.wake_pollers)
    added: UUID = row["id"]
    return added


async def disable_channel(
    connection: Connection, source_id: UUID, channel_id: UUID, reason: str, actor: str = "headwater"
) -> None:
    await connection.execute(queries.disable_channel, channel_id, reason)
    await record(connection, Event("channel_disabled", reason, source_id, channel_id, actor))


async def poll_now(
    connection: Connection | Database,
    source_id: UUID,
    *,
    kind: ChannelKind | None = None,
    reason: str = "a person asked",
    trigger: str = "manual",
    now: datetime | None = None,
) -> int:
    """Ignores schedule and window, never politeness or robots. How many channels it concerns."""
    rows = await connection.fetch(queries.poll_now, source_id, kind and str(kind), reason, trigger, now)
    await connection.execute(queries.wake_pollers)
    return len(rows)


async def channels_of(database: Connection | Database, source_ids: Sequence[UUID]) -> dict[UUID, list[ChannelState]]:
    found: dict[UUID, list[ChannelState]] = {source_id: [] for source_id in source_ids}
    for row in await database.fetch(queries.channels_of_sources, list(source_ids)):
        found[row["source_id"]].append(channel_from(row))
    return found


def channel_from(row: Any) -> ChannelState:
    return ChannelState(
        **{
            **{name: row[name] for name in ChannelState.__dataclass_fields__ if name != "push"},
            "push": push_from(row),
            "kind": ChannelKind(row["kind"]),
            "error_cause": _known(ErrorCause, row["error_cause"]),
            "held_by": _known(HeldBy, row["held_by"]),
            "former_urls": tuple(row["former_urls"]),
            "is_running": bool(row["is_running"]),
        }
    )


def _known(words: type[StoredWord], stored: str | None) -> StoredWord | None:
    """None for a word that a newer Headwater has written."""
    return words(stored) if stored in set(words) else None


async def unblock_where(database: Database, host: str, is_allowed: Callable[[CanonicalUrl], bool]) -> int:
    """Sources of this host whose channel may be asked now go on."""
    rows = await database.fetch(queries.sources_blocked_by_robots, bucket_of(host), host, StopReason.ROBOTS_DISALLOW)
    allowed = {row["source_id"] for row in rows if is_allowed(canonicalise(row["url"]))}
    for source_id in allowed:
        async with database.transaction() as connection:
            await set_status(connection, source_id, SourceStatus.ACTIVE, "robots.txt allows it again", "headwater")
            await connection.execute(queries.wake_pollers)
    return len(allowed)
