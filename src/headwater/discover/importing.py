"""Many sources at once, from a file: first said what would happen, then done; doing it twice changes nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.adding import Wanted, check, pace_hosts, take_up
from headwater.discover.api.recipe import recipe_from
from headwater.discover.api.secrets import Secrets
from headwater.errors import UrlRejected, UsageError
from headwater.sources.channels import ChannelKind, ChannelState, NewChannel, add_channel
from headwater.sources.exchange.rows import BadLine, Row, bad_line
from headwater.sources.source import DEFAULT_DEPTH, DEFAULT_PRIORITY, Kind, Mode, Policy, Profile, Source, SourceStatus
from headwater.sources.store import read_source, set_status
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import registrable_domain
from headwater.urls.effects import has_effects
from headwater.urls.scope import folder_of

queries = load_queries("headwater.sources")

BATCH = 200
NO_REASON_GIVEN = "imported as disabled"
# Written the same in a file and in a profile.
SAID_ALIKE = (
    *("max_pages", "start_urls", "allowed_domains", "include_paths", "exclude_paths", "allow_external"),
    *("article_patterns", "selectors"),
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do: sources to add, feeds to add to sources there are, rows that are known, bad lines."""

    new: tuple[Row, ...] = ()
    more: tuple[tuple[Row, UUID | None], ...] = ()  # None: to a source that this very import adds
    known: tuple[Row, ...] = ()
    bad: tuple[BadLine, ...] = ()


@dataclass(slots=True)
class Imported:
    is_trusted: bool = False
    added: int = 0
    paused: int = 0  # of those added
    feeds_added: int = 0
    known: int = 0
    bad: list[BadLine] = field(default_factory=list)


async def plan_import(database: Database, rows: Sequence[Row], secrets: Secrets | None = None) -> Plan:
    """A recipe of the file may name secrets, but binds none: where they may go only their own file says."""
    known: dict[bytes, UUID] = {}
    hashes = [canonicalise(url).url_hash for row in rows for url in (row.url, row.feed_url) if url]
    for row in await database.fetch(queries.known_addresses, hashes):
        known.setdefault(row["url_hash"], row["source_id"])
    return planned(rows, known, secrets)


def planned(rows: Sequence[Row], known: dict[bytes, UUID], secrets: Secrets | None = None) -> Plan:
    """Pure. `known`: whose an address is already, as a source or as a feed of one."""
    new: list[Row] = []
    more: list[tuple[Row, UUID | None]] = []
    had: list[Row] = []
    bad: list[BadLine] = []
    coming: set[bytes] = set()
    for row in rows:
        site = canonicalise(row.url).url_hash
        feed = canonicalise(row.feed_url).url_hash if row.feed_url else None
        if feed in known or feed in coming or (feed is None and (site in known or site in coming)):
            had.append(row)
        elif why := why_impossible(row, secrets):
            bad.append(_refused(row, why))
            continue  # it will not be there for a later row to belong to
        elif site in known or site in coming:
            more.append((row, known.get(site)))
        else:
            new.append(row)
        coming |= {site, feed or site}
    return Plan(tuple(new), tuple(more), tuple(had), tuple(bad))


def why_impossible(row: Row, secrets: Secrets | None = None) -> str:
    try:
        wanted = wanted_from(row, is_trusted=True)
        check(wanted, secrets)
        places = [wanted.profile.url, *wanted.feeds, *wanted.sitemaps]
        if wanted.is_api:
            places.append(recipe_from(wanted.profile.parser_hint, wanted.profile.url).url)
        acting = [url for url in places if has_effects(canonicalise(url))]
    except (UsageError, UrlRejected) as error:
        return error.what
    return f"{acting[0]} looks as if it did something when it is fetched" if acting else ""


async def carry_out(
    database: Database,
    plan: Plan,
    default_delay: timedelta,
    actor: str,
    progress: Callable[[int], None] = lambda _done: None,
    *,
    is_trusted: bool = False,
) -> Imported:
    """In batches: whatever ends it in the middle, the same file again adds the rest and nothing twice.

    `is_trusted`: the file is the operator's own, and says for which hosts a source may speak.
    """
    done = Imported(is_trusted, known=len(plan.known), bad=list(plan.bad))
    for rows in _batches(plan.new):
        async with database.transaction() as connection:
            for row in rows:
                await _add(connection, row, done, default_delay, actor)
        progress(len(rows))
    for more in _batches(plan.more):
        async with database.transaction() as connection:
            for row, source_id in more:
                await _add_feed(connection, row, source_id, done, default_delay, actor)
        progress(len(more))
    return done


async def _add(connection: Connection, row: Row, done: Imported, default_delay: timedelta, actor: str) -> None:
    try:
        async with connection.savepoint():
            source_id = await take_up(connection, wanted_from(row, is_trusted=done.is_trusted), actor, default_delay)
            if _is_paused(row):
                why = row.disable_reason or NO_REASON_GIVEN
                await set_status(connection, source_id, SourceStatus.PAUSED, why, actor)
    except UsageError as error:
        # Added by somebody else since the plan was made, or its feed is followed for another source.
        if await connection.fetchval(queries.source_at, canonicalise(row.url).url_hash) is not None:
            done.known += 1
        else:
            done.bad.append(_refused(row, error.what))
    else:
        done.added += 1
        done.paused += _is_paused(row)


async def _add_feed(
    connection: Connection, row: Row, source_id: UUID | None, done: Imported, default_delay: timedelta, actor: str
) -> None:
    owner = source_id or await connection.fetchval(queries.source_at, canonicalise(row.url).url_hash)
    if owner is None or not row.feed_url:
        done.bad.append(_refused(row, "the source it belongs to could not be added"))
        return
    # Such a row must not start a poll: not even where its source goes on.
    if _is_paused(row) and (await read_source(connection, owner)).status is SourceStatus.ACTIVE:
        done.known += 1
        return
    new = NewChannel(ChannelKind.FEED, canonicalise(row.feed_url), speaks_for_site=done.is_trusted)
    await pace_hosts(connection, wanted_from(row).profile, [new], default_delay)
    if await add_channel(connection, owner, new, actor) is None:
        done.known += 1
    else:
        done.feeds_added += 1


def _refused(row: Row, why: str) -> BadLine:
    return bad_line(row.line, row.record or row.url, why)


def _is_paused(row: Row) -> bool:
    return row.status == SourceStatus.PAUSED


def wanted_from(row: Row, *, is_trusted: bool = False) -> Wanted:
    """Whom a source may speak for is a person's word: a file that others may have written does not say it."""
    kind = Kind(row.kind) if row.kind else Kind.NEWS
    profile = Profile(
        url=row.url,
        name=row.name[:200],
        kind=kind,
        priority=row.priority or DEFAULT_PRIORITY,
        tags=row.tags[:50],
        org_type=row.org_type or None,
        timezone=row.timezone or None,
        poll_every=row.interval,
        crawl_frequency_days=row.crawl_frequency_days,
        time_window=row.time_window or None,
        max_depth=DEFAULT_DEPTH if row.max_depth is None else row.max_depth,
        parser_hint=row.parser_hint or None,
        rate_limit_ms=None if row.rate_limit is None else round(row.rate_limit.total_seconds() * 1000),
        country=row.country or None,
        policy=Policy(row.policy) if row.policy else None,
        revisit_every=row.revisit_every,
        speaks_for=row.speaks_for if is_trusted else (),
        **{name: getattr(row, name) for name in SAID_ALIKE},
    )
    feed = row.feed_url or (row.url if row.source_type == "rss" else "")
    return Wanted(
        profile,
        feeds=(feed,) if feed else (),
        sitemaps=(*([row.sitemap_url] if row.sitemap_url else ()), *row.more_sitemaps),
        mode=Mode(row.ingestion_mode) if row.ingestion_mode else None,
        is_api=row.source_type == "api",
        is_trusted=is_trusted,
    )


def needs_trust(row: Row) -> bool:
    """Whether it would let a source speak for hosts that are not those of its feed."""
    if row.speaks_for or row.source_type == "api" or not row.feed_url:
        return bool(row.speaks_for) or row.source_type == "api"
    site, feed = (registrable_domain(canonicalise(url).host) for url in (row.url, row.feed_url))
    return site != feed


def rows_of(source: Source, channels: Sequence[ChannelState], line: int = 0) -> Iterator[Row]:
    """As it is exported: one row per feed, so that every format carries all of them."""
    profile = source.profile
    by_kind = {kind: [one.url for one in channels if one.kind is kind and one.is_enabled] for kind in ChannelKind}
    first_sitemap, *more_sitemaps = by_kind[ChannelKind.SITEMAP] or [""]
    for feed in by_kind[ChannelKind.FEED] or [""]:
        yield Row(
            line=line,
            url=profile.url,
            name=profile.name,
            feed_url=feed,
            sitemap_url=first_sitemap,
            more_sitemaps=tuple(more_sitemaps),
            kind=str(profile.kind),
            source_type="api" if by_kind[ChannelKind.API] else "rss" if feed else "html",
            ingestion_mode=_said_mode(profile, by_kind),
            # A blocked source must not begin to be polled because it was carried elsewhere.
            status=str(SourceStatus.ACTIVE if source.status is SourceStatus.ACTIVE else SourceStatus.PAUSED),
            disable_reason="" if source.status is SourceStatus.ACTIVE else source.status_reason or "",
            tags=profile.tags,
            priority=profile.priority,
            interval=profile.poll_every,
            rate_limit=None if profile.rate_limit_ms is None else timedelta(milliseconds=profile.rate_limit_ms),
            max_depth=profile.max_depth,
            timezone=profile.timezone or "",
            org_type=profile.org_type or "",
            parser_hint=profile.parser_hint or "",
            crawl_frequency_days=profile.crawl_frequency_days,
            time_window=profile.time_window or "",
            country=profile.country or "",
            policy=str(profile.policy or ""),
            revisit_every=profile.revisit_every,
            **{name: getattr(profile, name) for name in SAID_ALIKE} | {"include_paths": said_paths(profile)},
            speaks_for=profile.speaks_for,
        )


def said_paths(profile: Profile) -> tuple[str, ...]:
    """Of a manual that is the whole site although its address has a path: it would be narrowed when it is imported."""
    return profile.include_paths or (("/",) if profile.kind is Kind.DOCS and folder_of(profile.address) != "/" else ())


def _said_mode(profile: Profile, by_kind: Mapping[ChannelKind, Sequence[str]]) -> str:
    """`spider` is also what is noted while nothing is known yet; said aloud it would add a listing."""
    looks_through = by_kind[ChannelKind.LISTING] or by_kind[ChannelKind.CRAWL]
    return str(profile.ingestion_mode) if looks_through or profile.ingestion_mode is not Mode.SPIDER else ""


def _batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
