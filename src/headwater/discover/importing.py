"""Many sources at once, from a file: first planned and shown, then done; doing it twice changes nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.adding import WantedSource, check, pace_hosts, take_up
from headwater.discover.api.recipe import recipe_from
from headwater.discover.api.secrets import Secrets
from headwater.errors import Refused, UrlRejected, UsageError
from headwater.sources.exchange.fields import NO_REASON_GIVEN, BadLine, Row, bad_line, profile_fields_of
from headwater.sources.finding import note_external_ids
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import LONGEST_NAME, MOST_TAGS, Profile, SourceStatus
from headwater.sources.store import (
    NewChannel,
    add_channel,
    channels_of,
    disable_channel,
    edit_source,
    read_source,
    set_status,
    store_source,
)
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import registrable_domain
from headwater.urls.effects import has_effects

queries = load_queries("headwater.sources")

BATCH = 200
# Of a file, planned and carried out together.
ROWS_AT_ONCE = 1_000
DYNAMIC = "dynamic"
# Begins the reason of a feed that a person or an imported list switched off, so that it is exported so again.
FEED_OFF = "switched off: "
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """An import before it is done: sources to add, feeds to add to known sources, known rows, bad lines."""

    new: tuple[Row, ...] = ()
    more: tuple[tuple[Row, UUID | None], ...] = ()  # None: to a source that this very import adds
    known: tuple[tuple[Row, UUID | None], ...] = ()
    deleted: tuple[Row, ...] = ()  # sources to note as deleted
    bad: tuple[BadLine, ...] = ()


@dataclass(slots=True)
class Imported:
    is_trusted: bool = False
    added: int = 0
    paused: int = 0  # of those added
    blocked: int = 0  # of those added
    deleted: int = 0  # noted as such
    feeds_added: int = 0
    known: int = 0
    updated: int = 0  # of those known
    bad: list[BadLine] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KnownAddresses:
    """Whose an address is already: as a source, as a feed that one has or had, as a deleted source."""

    addresses: Mapping[bytes, UUID] = field(default_factory=dict)
    feeds: frozenset[tuple[UUID, bytes]] = frozenset()
    deleted: Mapping[bytes, UUID] = field(default_factory=dict)  # only of rows that say deleted

    def owner_of(self, row: Row, site: bytes, feed: bytes | None) -> UUID | None:
        """The source that has all that the row brings, or None.

        A feed counts also where it is polled no more or has moved: the same list again must not bring it back.
        """
        at_site = self.addresses.get(site)
        if _is_deleted(row):
            return self.deleted.get(site) or at_site
        if feed is None or (at_site and (at_site, feed) in self.feeds):
            return at_site
        return self.addresses.get(feed)


async def plan_import(
    database: Database,
    rows: Sequence[Row],
    secrets: Secrets | None = None,
    *,
    is_trusted: bool = False,
    coming: set[bytes] | None = None,
) -> ImportPlan:
    """A recipe of the file may name secrets, but binds none: where they may go only their own file says.

    `coming`: addresses of earlier plans of the same file that nobody has carried out; those of this one are added.
    """
    return plan_rows(rows, await _known_to(database, rows), secrets, is_trusted=is_trusted, coming=coming)


async def _known_to(database: Database, rows: Sequence[Row]) -> KnownAddresses:
    sites = [canonicalise(row.url).url_hash for row in rows]
    feeds = [canonicalise(row.feed_url).url_hash for row in rows if row.feed_url]
    addresses: dict[bytes, UUID] = {}
    for row in await database.fetch(queries.known_addresses, [*sites, *feeds]):
        addresses.setdefault(row["url_hash"], row["source_id"])
    had: set[tuple[UUID, bytes]] = set()
    for row in await database.fetch(queries.known_feeds, sites):
        hashes = (row["url_hash"], *(canonicalise(url).url_hash for url in row["former_urls"]))
        had |= {(row["source_id"], url_hash) for url_hash in hashes}
    gone = [canonicalise(row.url).url_hash for row in rows if _is_deleted(row)]
    deleted = await database.fetch(queries.deleted_addresses, gone) if gone else []
    return KnownAddresses(addresses, frozenset(had), {row["url_hash"]: row["source_id"] for row in deleted})


def plan_rows(
    rows: Sequence[Row],
    known: KnownAddresses,
    secrets: Secrets | None = None,
    *,
    is_trusted: bool = False,
    coming: set[bytes] | None = None,
) -> ImportPlan:
    """Pure, but for `coming`, which grows."""
    new: list[Row] = []
    more: list[tuple[Row, UUID | None]] = []
    had: list[tuple[Row, UUID | None]] = []
    deleted: list[Row] = []
    bad: list[BadLine] = []
    coming = set() if coming is None else coming
    for row in rows:
        site = canonicalise(row.url).url_hash
        feed = canonicalise(row.feed_url).url_hash if row.feed_url else None
        if owner := known.owner_of(row, site, feed):
            had.append((row, owner))
        elif not _is_deleted(row) and (feed or site) in coming:
            had.append((row, None))
        elif why := why_impossible(row, secrets, is_trusted=is_trusted):
            bad.append(_refused(row, why))
            continue  # it will not be there for a later row to belong to
        elif _is_deleted(row):
            deleted.append(row)
            continue  # nor will this one
        elif site in known.addresses or site in coming:
            more.append((row, known.addresses.get(site)))
        else:
            new.append(row)
        coming |= {site, feed or site}
    return ImportPlan(tuple(new), tuple(more), tuple(had), tuple(deleted), tuple(bad))


def why_impossible(row: Row, secrets: Secrets | None = None, *, is_trusted: bool = False) -> str:
    try:
        wanted = wanted_from(row, is_trusted=True)
        check(wanted, secrets)
        places = [wanted.profile.url, *wanted.feeds, *wanted.sitemaps]
        if wanted.is_api:
            recipe = recipe_from(wanted.profile.parser_hint, wanted.profile.url)
            places.append(recipe.url)
            if (recipe.method == "POST" or recipe.auth.type == "oauth2") and not is_trusted:
                # A POST may do anything, at any address that a stranger wrote into the file.
                return "its recipe sends POST requests, which only a list of your own may: import it with --trusted"
        acting = [url for url in places if has_effects(canonicalise(url))]
    except (UsageError, UrlRejected) as error:
        return error.what
    return f"{acting[0]} looks as if it did something when it is fetched" if acting else ""


async def carry_out(
    database: Database,
    plan: ImportPlan,
    default_delay: timedelta,
    actor: str,
    progress: Callable[[int], None] = lambda _done: None,
    *,
    is_trusted: bool = False,
    done: Imported | None = None,
) -> Imported:
    """In batches: whatever ends it in the middle, the same file again adds the rest and nothing twice.

    `is_trusted`: the file is the operator's own, and says for which hosts a source may speak and which need a browser.
    `done`: what was done before, of the same file.
    """
    done = done or Imported(is_trusted)
    done.known += len(plan.known)
    done.bad.extend(plan.bad)
    for rows in _batches((*plan.deleted, *plan.new)):
        async with database.transaction() as connection:
            for row in rows:
                await _add(connection, row, done, default_delay, actor)
        progress(len(rows))
    for more in _batches(plan.more):
        async with database.transaction() as connection:
            for row, source_id in more:
                await _add_feed(connection, row, source_id, done, default_delay, actor)
        progress(len(more))
    for known in _batches([(row, owner) for row, owner in (*plan.known, *plan.more) if owner]):
        async with database.transaction() as connection:
            done.updated += await _update(connection, known, done, actor)
    return done


@dataclass(frozen=True, slots=True)
class Import:
    """A file of any length: so many rows at a time are planned and carried out, and then forgotten."""

    database: Database
    default_delay: timedelta
    actor: str
    secrets: Secrets | None = None
    is_trusted: bool = False
    is_dry: bool = False

    async def of(
        self, found: Iterable[Row | BadLine], progress: Callable[[int], None] = lambda _done: None
    ) -> Imported:
        """Of a dry run what would be done."""
        done = Imported(self.is_trusted)
        coming: set[bytes] | None = set() if self.is_dry else None
        remaining = iter(found)
        while batch := list(islice(remaining, ROWS_AT_ONCE)):
            done.bad += [one for one in batch if isinstance(one, BadLine)]
            rows = [one for one in batch if isinstance(one, Row)]
            plan = await plan_import(self.database, rows, self.secrets, is_trusted=self.is_trusted, coming=coming)
            if self.is_dry:
                _count(plan, done)
                progress(len(rows))
                continue
            await carry_out(
                self.database, plan, self.default_delay, self.actor, progress, is_trusted=self.is_trusted, done=done
            )
            progress(len(plan.known) + len(plan.bad))
        done.bad.sort(key=lambda one: one.line)
        return done


def _count(plan: ImportPlan, done: Imported) -> None:
    done.added += len(plan.new)
    done.paused += sum(row.status == SourceStatus.PAUSED for row in plan.new)
    done.blocked += sum(row.status == SourceStatus.BLOCKED for row in plan.new)
    done.deleted += len(plan.deleted)
    done.feeds_added += len(plan.more)
    done.known += len(plan.known)
    done.bad.extend(plan.bad)


async def _add(connection: Connection, row: Row, done: Imported, default_delay: timedelta, actor: str) -> None:
    try:
        async with connection.savepoint():
            await store_row(connection, row, default_delay, actor, is_trusted=done.is_trusted)
    except (Refused, UsageError) as error:
        # Added by another process since the plan was made, or its feed is followed for another source.
        if await connection.fetchval(queries.source_at, canonicalise(row.url).url_hash) is not None:
            done.known += 1
        else:
            done.bad.append(_refused(row, error.what))
    else:
        done.deleted += _is_deleted(row)
        done.added += not _is_deleted(row)
        done.paused += row.status == SourceStatus.PAUSED
        done.blocked += row.status == SourceStatus.BLOCKED


async def store_row(
    connection: Connection, row: Row, default_delay: timedelta, actor: str, *, is_trusted: bool
) -> UUID:
    """A new source with all that its row says. Raises UsageError where it exists already."""
    wanted = wanted_from(row, is_trusted=is_trusted)
    if _is_deleted(row):
        # Without channels, and no host is asked more slowly for it.
        source_id = await store_source(connection, wanted.profile, actor)
    else:
        source_id = await take_up(connection, wanted, actor, default_delay)
    if row.feed_disable_reason:
        await _switch_off_feeds(connection, source_id, wanted.feeds, row, actor)
    if not _is_active(row):
        status = SourceStatus(row.status)
        why = row.disable_reason or (NO_REASON_GIVEN if status is SourceStatus.PAUSED else f"imported as {status}")
        await set_status(connection, source_id, status, why, actor)
    await note_external_ids(connection, [(source_id, one) for one in row.external_ids])
    if is_trusted and row.render_mode == DYNAMIC and not _is_deleted(row):
        await _render(connection, [row])
    return source_id


async def _switch_off_feeds(
    connection: Connection, source_id: UUID, feeds: Sequence[str], row: Row, actor: str
) -> None:
    hashes = {canonicalise(url).url_hash for url in feeds}
    for channel in (await channels_of(connection, [source_id]))[source_id]:
        if channel.kind is ChannelKind.FEED and canonicalise(channel.url).url_hash in hashes:
            await disable_channel(connection, source_id, channel.id, f"{FEED_OFF}{row.feed_disable_reason}", actor)


async def _render(connection: Connection, rows: Sequence[Row]) -> set[str]:
    """The hosts whose pages are rendered from now on; a person's own word about one stands."""
    places = [canonicalise(row.url) for row in rows]
    unique = {(one.bucket, one.host) for one in places}
    found = await connection.fetch(queries.render_hosts, [bucket for bucket, _ in unique], [host for _, host in unique])
    return {row["host"] for row in found}


async def _add_feed(
    connection: Connection, row: Row, source_id: UUID | None, done: Imported, default_delay: timedelta, actor: str
) -> None:
    owner = source_id or await connection.fetchval(queries.source_at, canonicalise(row.url).url_hash)
    if owner is None or not row.feed_url:
        done.bad.append(_refused(row, "the source it belongs to could not be added"))
        return
    # Such a row must not start a poll: not even where its source goes on.
    if not _is_active(row) and (await read_source(connection, owner)).status is SourceStatus.ACTIVE:
        done.known += 1
        return
    new = NewChannel(ChannelKind.FEED, canonicalise(row.feed_url), speaks_for_site=done.is_trusted)
    await pace_hosts(connection, wanted_from(row).profile, [new], default_delay)
    if await add_channel(connection, owner, new, actor) is None:
        done.known += 1
    else:
        done.feeds_added += 1
        if row.feed_disable_reason:
            await _switch_off_feeds(connection, owner, [row.feed_url], row, actor)


async def _update(connection: Connection, rows: Sequence[tuple[Row, UUID]], done: Imported, actor: str) -> int:
    """News of a known row: its ids in other systems, and the fields that only an operator's own file may set.

    Answers with how many sources are different now.
    """
    changed = await note_external_ids(connection, [(owner, one) for row, owner in rows for one in row.external_ids])
    if done.is_trusted:
        changed |= await _believe(connection, rows, done, actor)
    return len(changed)


async def _believe(connection: Connection, rows: Sequence[tuple[Row, UUID]], done: Imported, actor: str) -> set[UUID]:
    found = await connection.fetch(queries.voices_of, [owner for _, owner in rows])
    voices = {row["id"]: row for row in found}
    # Fields of a site are meant for the source of that site, also where another source follows the feed.
    own = [(row, owner) for row, owner in rows if _is_site_of(row, voices.get(owner))]
    changed: set[UUID] = set()
    for row, owner in own:
        if row.speaks_for and tuple(voices[owner]["speaks_for"]) != row.speaks_for:
            try:
                async with connection.savepoint():
                    if await edit_source(connection, owner, {"speaks_for": row.speaks_for}, actor):
                        changed.add(owner)
            except UsageError as error:
                # Counted once. Only known rows come so far: the others were judged when the import was planned.
                done.bad.append(_refused(row, error.what))
                done.known -= 1
    pairs = [(owner, canonicalise(url).url_hash) for row, owner in own for url in _addresses_in(row)]
    believed = await connection.fetch(queries.believe_channels, [one for one, _ in pairs], [two for _, two in pairs])
    rendered = await _render(connection, [row for row, _ in own if row.render_mode == DYNAMIC])
    changed |= {row["source_id"] for row in believed}
    return changed | {owner for row, owner in own if canonicalise(row.url).host in rendered}


def _is_site_of(row: Row, source: Mapping[str, Any] | None) -> bool:
    return source is not None and canonicalise(row.url).url_hash == source["url_hash"]


def _addresses_in(row: Row) -> Iterator[str]:
    yield from (url for url in (row.url, row.feed_url, row.sitemap_url, *row.more_sitemaps) if url)


def _refused(row: Row, why: str) -> BadLine:
    return bad_line(row.line, row.record or row.url, why)


def _is_active(row: Row) -> bool:
    return row.status in ("", SourceStatus.ACTIVE)


def _is_deleted(row: Row) -> bool:
    return row.status == SourceStatus.DELETED


def wanted_from(row: Row, *, is_trusted: bool = False) -> WantedSource:
    """Whom a source may speak for is a person's word: a file that others may have written does not say it."""
    said = profile_fields_of(row)
    mode = said.pop("ingestion_mode", None)
    trusted = {} if is_trusted else {"speaks_for": ()}
    profile = Profile(**said | {"name": row.name[:LONGEST_NAME], "tags": row.tags[:MOST_TAGS]} | trusted)
    feed = row.feed_url or (row.url if row.source_type == "rss" else "")
    return WantedSource(
        profile,
        feeds=(feed,) if feed else (),
        sitemaps=(*([row.sitemap_url] if row.sitemap_url else ()), *row.more_sitemaps),
        mode=mode,
        is_api=row.source_type == "api",
        is_trusted=is_trusted,
    )


def needs_trust(row: Row) -> bool:
    """Whether it would let a source speak for hosts that are not those of its feed, or an API by the file's recipe."""
    if row.speaks_for or row.source_type == "api" or not row.feed_url:
        return bool(row.speaks_for) or row.source_type == "api"
    site, feed = (registrable_domain(canonicalise(url).host) for url in (row.url, row.feed_url))
    return site != feed


def is_plain_api(row: Row) -> bool:
    """Whether it reads an API and names no host to speak for."""
    return row.source_type == "api" and not row.speaks_for


def needs_browser(row: Row) -> bool:
    return row.render_mode == DYNAMIC and not _is_deleted(row)


def _batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
