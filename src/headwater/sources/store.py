"""Sources in the database. Whatever changes one leaves a trace in the same transaction."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from shlex import quote
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UrlRejected, UsageError
from headwater.sources.events import Event, Level, record
from headwater.sources.exchange.rows import one_line
from headwater.sources.health import UNREADABLE_ROW
from headwater.sources.kinds import NEWS
from headwater.sources.source import DEFAULT_PRIORITY, Mode, Policy, Profile, Source, SourceKind, SourceStatus
from headwater.urls.canonical import CanonicalUrl, canonicalise, site_named
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.sources")

_HOST_AND_PORT = re.compile(r"[^/\s]+:\d+")
SHORTEST_BEGINNING = 4
SHOWN_CHOICES = 5
PROVEN_AT_ONCE = 1_000
# As an id is written, up to any of its letters.
_GROUPS = (8, 4, 4, 4, 12)
ID_BEGINNING = re.compile(
    "|".join(
        "-".join((*(f"[0-9a-f]{{{n}}}" for n in _GROUPS[:whole]), f"[0-9a-f]{{0,{_GROUPS[whole]}}}"))
        for whole in range(5)
    )
)
_COLUMNS = tuple(Profile.__dataclass_fields__)
_NOT_EDITABLE = frozenset({"url"})
# When and how politely a source is asked, and how people find it: what is taken of its answers stays the same.
_NOT_ABOUT_CONTENT = frozenset(
    {
        *("priority", "tags", "policy", "poll_every", "crawl_frequency_days", "time_window", "timezone"),
        *("rate_limit_ms", "revisit_every"),
    }
)
EDITABLE = tuple(name for name in _COLUMNS if name not in _NOT_EDITABLE)


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
    call = queries.create_source(url_hash=profile.address.url_hash, **_values(profile))
    created: UUID | None = await connection.fetchval(*call)
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
    """The source of what a person adds by hand, made on first use."""
    await connection.fetchval(queries.wait_to_be_alone)
    found: UUID | None = await connection.fetchval(queries.find_manual_source)
    return found or await connection.fetchval(queries.create_manual_source)


async def read_source(connection: Connection | Database, source_id: UUID) -> Source:
    row = await connection.fetchrow(queries.read_source, source_id)
    if row is None:
        raise NotFound(f"There is no source {source_id}.", fix="`headwater sources list` shows those there are.")
    return source_from(row)


async def find_source(database: Database, text: str) -> Source:
    """By what a person types: an id or its beginning, an address, a host or a name."""
    wanted = one_line(text)
    host, site = _place_in(wanted)
    first, last = ids_beginning_with(wanted)
    call = queries.find_sources(
        wanted=wanted,
        url_hash=_hash_of(wanted),
        beginning=_beginning(wanted),
        bucket=bucket_of(host),
        host=host,
        site=site,
        first_id=first,
        last_id=last,
    )
    rows = await database.fetch(*call)
    if not rows:
        raise NotFound(f"No source is called {text!r}.", fix="`headwater sources list` shows those there are.")
    best = [row for row in rows if row["rank"] == rows[0]["rank"]]
    if len(best) > 1:
        told = "; ".join(f"{row['name']} ({row['url']}, id {str(row['id'])[:8]})" for row in best[:SHOWN_CHOICES])
        more = "; …" if len(best) > SHOWN_CHOICES else ""
        raise UsageError(f"{text!r} may mean several sources: {told}{more}.", fix="Name it by its address or its id.")
    return source_from(best[0])


def _place_in(text: str) -> tuple[str, str | None]:
    """The host that a text may be, and the site where it names a port."""
    if not _HOST_AND_PORT.fullmatch(text):
        return text.lower(), None
    try:
        place = site_named(text)
    except UrlRejected:
        return text.lower(), None
    return place.host, place.site


def _beginning(text: str) -> str | None:
    """As a pattern; too short a text would mean nearly anything."""
    if len(text) < SHORTEST_BEGINNING:
        return None
    literal = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{literal}%"


def ids_beginning_with(text: str) -> tuple[UUID, UUID] | tuple[None, None]:
    """The first and the last id that begin so; none where no id does."""
    digits = text.lower().replace("-", "")
    if len(text) < SHORTEST_BEGINNING or not ID_BEGINNING.fullmatch(text.lower()):
        return None, None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


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
    """The fields that are different now; what a person may not say is refused as when it was added."""
    unknown = [name for name in changes if name not in EDITABLE]
    if unknown:
        raise UsageError(f"A source has no field {unknown[0]!r}.", fix=f"One of: {', '.join(EDITABLE)}.")
    row = await connection.fetchrow(queries.lock_source, source_id)
    if row is None:
        raise NotFound(f"There is no source {source_id}.")
    before = source_from(row).profile
    after = replace(before, **changes)
    old, new = _plain(before), _plain(after)
    changed = {name: [old[name], new[name]] for name in changes if old[name] != new[name]}
    if changed:
        edited = {name: value for name, value in _values(after).items() if name in EDITABLE}
        await connection.execute(*queries.update_source(id=source_id, **edited))
        if {"poll_every", "crawl_frequency_days"} & set(changed) and (interval := _interval_of(after)):
            await connection.execute(queries.bring_polls_forward, source_id, interval)
        if "revisit_every" in changed:
            await connection.execute(queries.plan_revisits, source_id, list(after.revisit_every))
        if not _NOT_ABOUT_CONTENT.issuperset(changed):
            await connection.execute(queries.want_all_again, source_id)
        message = f"{after.name} edited: {', '.join(changed)}"
        await record(connection, Event("source_edited", message, source_id, actor=actor, details=changed))
    return list(changed)


def _interval_of(profile: Profile) -> timedelta | None:
    days = profile.crawl_frequency_days
    return profile.poll_every or (timedelta(days=days) if days else None)


async def set_status(
    connection: Connection, source_id: UUID, status: SourceStatus, reason: str | None, actor: str
) -> SourceStatus:
    """Its channels follow at once; answers with what it was. Its entries are the frontier's business."""
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
    """A source whose row says what a person could not have said: its pages and channels wait until it was mended."""
    async with database.transaction() as connection:
        row = await connection.fetchrow(queries.lock_source, source_id)
        if row is not None and row["status"] == SourceStatus.ACTIVE:
            await set_status(connection, source_id, SourceStatus.BLOCKED, f"{UNREADABLE_ROW}: {why}", "headwater")


def source_from(row: Any) -> Source:
    profile = {name: row[name] for name in _COLUMNS}
    lists = {name: tuple(value) for name, value in profile.items() if isinstance(value, list)}
    words = {
        "kind": SourceKind(row["kind"]),
        "ingestion_mode": Mode(row["ingestion_mode"]),
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


def _values(profile: Profile) -> dict[str, Any]:
    """By column, each of which is a field of a profile; text arrays are lists, words are texts."""
    return {name: _stored(getattr(profile, name)) for name in _COLUMNS}


def _stored(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, SourceKind | Mode | Policy) else value


def _plain(profile: Profile) -> dict[str, Any]:
    """For the trail: values that JSON knows."""
    return {name: _told(value) for name, value in asdict(profile).items()}


def _told(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return list(map(_told, value)) if isinstance(value, tuple) else _stored(value)


def _hash_of(text: str) -> bytes | None:
    try:
        return canonicalise(text if "://" in text else f"https://{text}/").url_hash
    except UrlRejected:
        return None
