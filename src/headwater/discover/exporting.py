"""Sources as rows of a file, so that importing it brings the same again."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.importing import DYNAMIC, FEED_OFF
from headwater.sources.exchange.fields import Row, row_fields_of
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, Source, SourceKind, SourceMode, SourceStatus
from headwater.sources.store import ChannelState
from headwater.urls.scope import folder_of

queries = load_queries("headwater.sources")


async def sources_rendered(database: Database | Connection, sources: Sequence[Source]) -> set[UUID]:
    """Those on hosts whose pages are rendered."""
    places = {one.id: one.profile.address for one in sources}
    buckets, hosts = [one.bucket for one in places.values()], [one.host for one in places.values()]
    rendered = {row["host"] for row in await database.fetch(queries.rendered_hosts, buckets, hosts)}
    return {source_id for source_id, place in places.items() if place.host in rendered}


def rows_of(
    source: Source,
    channels: Sequence[ChannelState],
    line: int = 0,
    *,
    external_ids: tuple[str, ...] = (),
    is_rendered: bool = False,
) -> Iterator[Row]:
    """As it is exported: one row per feed, so that every format carries all of them."""
    profile = source.profile
    by_kind = {kind: [one.url for one in channels if one.kind is kind and one.is_enabled] for kind in ChannelKind}
    first_sitemap, *more_sitemaps = by_kind[ChannelKind.SITEMAP] or [""]
    feeds = [(one.url, why) for one in channels if (why := _why_off(one)) is not None]
    of_source = {
        "status": str(source.status),
        "disable_reason": "" if source.status is SourceStatus.ACTIVE else source.status_reason or "",
        "include_paths": explicit_paths(profile),
        "external_ids": external_ids,
        "render_mode": DYNAMIC if is_rendered else "",
    }
    for feed, why in feeds or [("", "")]:
        of_channels = {
            "feed_url": feed,
            "sitemap_url": first_sitemap,
            "more_sitemaps": tuple(more_sitemaps),
            "source_type": "api" if by_kind[ChannelKind.API] else "rss" if feed else "html",
            "ingestion_mode": _said_mode(profile, by_kind),
            "feed_disable_reason": why,
        }
        yield Row(line=line, **row_fields_of(profile) | of_source | of_channels)


def _why_off(channel: ChannelState) -> str | None:
    """Of a feed that is exported: nothing while it is polled. None for one that we left off for reasons of our own."""
    if channel.kind is not ChannelKind.FEED:
        return None
    if channel.is_enabled:
        return ""
    reason = channel.disabled_reason or ""
    return reason.removeprefix(FEED_OFF) if reason.startswith(FEED_OFF) else None


def explicit_paths(profile: Profile) -> tuple[str, ...]:
    """Of a manual that is the whole site although its address has a path: it would be narrowed when it is imported."""
    return profile.include_paths or (
        ("/",) if profile.kind is SourceKind.DOCS and folder_of(profile.address) != "/" else ()
    )


def _said_mode(profile: Profile, by_kind: Mapping[ChannelKind, Sequence[str]]) -> str:
    """`spider` is also what is noted while nothing is known yet; said aloud it would add a listing."""
    looks_through = by_kind[ChannelKind.LISTING] or by_kind[ChannelKind.CRAWL]
    return str(profile.ingestion_mode) if looks_through or profile.ingestion_mode is not SourceMode.SPIDER else ""
