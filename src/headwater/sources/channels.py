"""Channels: the feeds, sitemaps, listings and APIs that are polled for a source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import QueryFailed, UrlRejected
from headwater.sources.events import Event, record
from headwater.sources.kinds import ChannelKind as ChannelKind  # noqa: PLC0414 - to be had from here as well
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import registrable_domain

queries = load_queries("headwater.sources")

NOTICE = "headwater_poll"
UNIQUE_VIOLATION = "23505"
LEFT_TO_ITS_SITE = "it is followed for the site it lies on"


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
    consecutive_errors: int
    error_class: str | None
    class_errors: int
    last_error: str | None
    last_status: int | None
    created_at: datetime
    speaks_for_site: bool


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
    """Nothing for the source of what people add by hand: it has no site."""
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
            **{name: row[name] for name in ChannelState.__dataclass_fields__},
            "kind": ChannelKind(row["kind"]),
            "former_urls": tuple(row["former_urls"]),
            "is_running": bool(row["is_running"]),
        }
    )
