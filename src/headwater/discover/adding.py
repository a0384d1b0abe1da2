"""Sources taken up, changed and stopped: checked, stored, and their channels with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.archive.jobs import NOTHING_LEFT, Left, leave_jobs
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.api.recipe import recipe_from
from headwater.discover.api.secrets import Secrets, require_bound
from headwater.discover.polls.requesting import Body, pack_response
from headwater.errors import Refused, UsageError
from headwater.extraction.jobs.pages import is_selector
from headwater.extraction.jobs.text import shorten
from headwater.extraction.selectors import check_selectors
from headwater.frontier.control import let_go, set_aside
from headwater.frontier.submit import JOBS_DELAY, hold_hosts, milliseconds
from headwater.politeness.hosts import set_source_delay
from headwater.politeness.takedown import takedowns_for
from headwater.settings.durations import format_duration
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, Source, SourceKind, SourceMode, SourceStatus
from headwater.sources.store import (
    Event,
    NewChannel,
    add_channel,
    disable_channel,
    edit_source,
    read_source,
    record,
    set_status,
    store_source,
)
from headwater.sources.store import channels_of as stored_channels_of
from headwater.sources.store import queries as source_queries
from headwater.urls.articles import patterns_from
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.scope import folder_of, why_no_path

queries = load_queries("headwater.sources")

# What a person may name anew beside the fields of the source itself.
NAMED = {"feed_url": ChannelKind.FEED, "sitemap_url": ChannelKind.SITEMAP}
BACKFILL = "backfill"
_LONGEST_HINT_SHOWN = 80
# News come first, and tell by the way where the sitemaps are.
AFTER_FIRST_POLLS = timedelta(minutes=5)
SHORTEST_BACKFILL, LONGEST_BACKFILL = timedelta(days=1), timedelta(days=30 * 366)
NOT_WANTED = "left out by the ingestion mode"
REPLACED = "replaced by a person"
NO_SITEMAP = "found no sitemap"
IN_VAIN = "nothing was found when it was added: looked for again after poll.discovery_retry"


@dataclass(frozen=True, slots=True)
class WantedSource:
    """A source as a person wants it followed. Without any channel they are looked for."""

    profile: Profile
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    mode: SourceMode | None = None
    is_api: bool = False
    is_searched: bool = True
    search_again_at: datetime | None = None  # where a look has just found nothing
    backfill: timedelta | None = None  # how far back its past is read
    is_trusted: bool = True  # False: from a file that others may have written
    answers: tuple[Body, ...] = ()  # that its channels gave during the look: they are not asked again at once
    was_searched: bool = False  # to the end: a poller need not look for what was not found


async def take_up(
    connection: Connection, wanted: WantedSource, actor: str, default_delay: timedelta, secrets: Secrets | None = None
) -> UUID:
    """Raises UsageError for a source that can never work, and where it exists already.

    Without `secrets` their bindings are looked at when a request is made, and only then.
    """
    check(wanted, secrets)
    channels = with_answers(channels_of(wanted), wanted.answers)
    paths = paths_of(wanted.profile, channels)
    profile = replace(wanted.profile, ingestion_mode=mode_of(wanted), include_paths=paths)
    await require_not_taken_down(connection, [profile.address, *(one.url for one in channels)])
    source_id = await store_source(connection, profile, actor)
    await pace_hosts(connection, profile, channels, default_delay)
    due = {ChannelKind.SEARCH: wanted.search_again_at}
    added = [await add_channel(connection, source_id, one, actor, due.get(one.kind)) for one in channels]
    if wanted.mode is not None:
        await _leave_out(connection, source_id, wanted.mode, actor)
    if channels and not any(added):
        raise UsageError(f"{channels[0].url.url} is followed already, for another source.")
    if wanted.was_searched and wanted.feeds and not wanted.sitemaps:
        search = NewChannel(ChannelKind.SEARCH, profile.address)
        if searched := await add_channel(connection, source_id, search, actor):
            await disable_channel(connection, source_id, searched, NO_SITEMAP, actor)
    if wanted.backfill is not None:
        await begin_backfill(connection, source_id, profile, wanted.backfill, actor, AFTER_FIRST_POLLS)
    return source_id


async def require_not_taken_down(connection: Connection, places: Sequence[CanonicalUrl]) -> None:
    """Raises Refused: nothing of such a source would ever be asked for."""
    taken = await takedowns_for(connection, [place.host for place in places])
    for place in places:
        if taken.covers(place):
            fix = "`headwater takedown rm` lifts it. See it: headwater takedown list"
            raise Refused(f"{place.url} is on the takedown list, so that nothing of it is asked for.", fix=fix)


async def begin_backfill(
    connection: Connection,
    source_id: UUID,
    profile: Profile,
    back: timedelta,
    actor: str,
    begins_in: timedelta = timedelta(),
) -> None:
    """Read its past, so far back, in the background."""
    require_backfill(profile, back)
    since: datetime = await connection.fetchval(queries.day_before, back)
    new = NewChannel(ChannelKind.BACKFILL, profile.address, recipe=since.isoformat(), reason="reads its past")
    channel_id = await add_channel(connection, source_id, new, actor)
    reason = f"reads the past back to {since:%Y-%m-%d}: not begun yet"
    await connection.execute(queries.begin_backfill, channel_id, begins_in, reason)


async def end_backfill(connection: Connection, source_id: UUID, actor: str) -> None:
    for channel in (await stored_channels_of(connection, [source_id]))[source_id]:
        if channel.kind is ChannelKind.BACKFILL and channel.is_enabled:
            await disable_channel(connection, source_id, channel.id, "ended by a person", actor)


def require_backfill(profile: Profile, back: timedelta) -> None:
    if profile.kind is SourceKind.JOBS:
        raise UsageError("A job source has no past to read: vacancies of the past are closed.")
    if not SHORTEST_BACKFILL <= back <= LONGEST_BACKFILL:
        raise UsageError(f"A backfill of {format_duration(back)} is not possible: give 1d to 30y.")


async def change(
    connection: Connection,
    source_id: UUID,
    changes: Mapping[str, Any],
    actor: str,
    default_delay: timedelta,
    secrets: Secrets | None = None,
) -> list[str]:
    """The fields that are different now; channels and hosts follow them.

    Raises UsageError for values that can never work, as when it was added: nothing of the transaction may stay then.
    """
    require_paths(*changes.get("include_paths", ()), *changes.get("exclude_paths", ()))
    patterns_from(changes.get("article_patterns", ()))
    require_sound(changes.get("selectors", {}))
    mode = await _mode_with(connection, source_id, [url for name in NAMED for url in changes.get(name, ())])
    fields = {name: value for name, value in {**mode, **changes}.items() if name not in {*NAMED, BACKFILL}}
    changed = await edit_source(connection, source_id, fields, actor)
    source = await read_source(connection, source_id)
    profile = source.profile
    for name in [name for name in NAMED if name in changes]:
        if await _replace(connection, source, name, changes[name], actor, default_delay):
            changed.append(name)
    if BACKFILL in changes:
        back = changes[BACKFILL]
        begun = begin_backfill(connection, source_id, profile, back, actor) if back else None
        await (begun or end_backfill(connection, source_id, actor))
        changed.append(BACKFILL)
    if "parser_hint" in changed:
        await _change_hint(connection, source_id, profile, actor, secrets)
    if "ingestion_mode" in changed:
        await _follow_mode(connection, source_id, profile, actor)
    elif not NAMED.keys().isdisjoint(changed):
        await _leave_out(connection, source_id, profile.ingestion_mode, actor)
    channels = (await stored_channels_of(connection, [source_id]))[source_id]
    asked = [NewChannel(one.kind, canonicalise(one.url)) for one in channels if one.is_enabled]
    has_recipe = any(one.kind is ChannelKind.API for one in asked)
    if {"kind", "rate_limit_ms", *(["parser_hint"] if has_recipe else ())} & set(changed):
        await set_source_delay(connection, profile.address.host, profile.rate_limit_ms, default_delay)
        await pace_hosts(connection, profile, asked, default_delay)
    return changed


async def _mode_with(connection: Connection, source_id: UUID, polled: Sequence[str]) -> dict[str, Any]:
    """A source whose pages alone were looked through has another mode once a person names feeds or sitemaps."""
    source = await read_source(connection, source_id)
    if not polled or source.profile.ingestion_mode is not SourceMode.SPIDER:
        return {}
    channels = (await stored_channels_of(connection, [source_id]))[source_id]
    is_looked_through = any(one.kind.traits.mode == SourceMode.SPIDER and one.is_enabled for one in channels)
    return {"ingestion_mode": SourceMode.BOTH if is_looked_through else SourceMode.FEED}


async def _replace(
    connection: Connection, source: Source, name: str, urls: Sequence[str], actor: str, default_delay: timedelta
) -> bool:
    """Whether other feeds, or other sitemaps, are polled now. Those no longer named stay on record."""
    kind = NAMED[name]
    wanted = {url.url_hash: url for url in map(canonicalise, urls)}
    channels = (await stored_channels_of(connection, [source.id]))[source.id]
    polled = {canonicalise(one.url).url_hash: one.url for one in channels if one.kind is kind and one.is_enabled}
    if wanted.keys() == polled.keys():
        return False
    for one in channels:
        is_had = one.is_enabled or one.disabled_reason == NOT_WANTED
        is_gone = one.kind is kind and canonicalise(one.url).url_hash not in wanted
        # Nothing is looked for once a person named the channels, as when it is added so.
        if is_had and (is_gone or (wanted and one.kind is ChannelKind.SEARCH)):
            await disable_channel(connection, source.id, one.id, REPLACED, actor)
    new = [NewChannel(kind, url) for url_hash, url in wanted.items() if url_hash not in polled]
    await pace_hosts(connection, source.profile, new, default_delay)
    for channel in new:
        if await add_channel(connection, source.id, channel, actor) is None:
            raise UsageError(f"{channel.url.url} is followed already, for another source.")
    details = {name: [sorted(polled.values()), [url.url for url in wanted.values()]]}
    message = f"{source.name} edited: {name}"
    await record(connection, Event("source_edited", message, source.id, actor=actor, details=details))
    return True


async def _change_hint(
    connection: Connection, source_id: UUID, profile: Profile, actor: str, secrets: Secrets | None
) -> None:
    channels = (await stored_channels_of(connection, [source_id]))[source_id]
    asked = [one for one in channels if one.kind is ChannelKind.API and one.is_enabled]
    if not asked:
        require_hint(profile.parser_hint)
    for channel in asked:
        require_recipe(profile.parser_hint, channel.url, secrets)
        api = NewChannel(ChannelKind.API, canonicalise(channel.url), recipe=profile.parser_hint)
        await add_channel(connection, source_id, api, actor)


def is_wanted_in(mode: SourceMode, kind: ChannelKind) -> bool:
    """Feeds and sitemaps are polled in `feed` and `both`, pages looked through in `spider` and `both`."""
    return mode is SourceMode.BOTH or kind.traits.mode in ("any", mode)


async def _leave_out(connection: Connection, source_id: UUID, mode: SourceMode, actor: str) -> None:
    """Channels that the mode does not want stay on record, for another mode."""
    for channel in (await stored_channels_of(connection, [source_id]))[source_id]:
        if not is_wanted_in(mode, channel.kind) and channel.is_enabled:
            await disable_channel(connection, source_id, channel.id, NOT_WANTED, actor)


async def _follow_mode(connection: Connection, source_id: UUID, profile: Profile, actor: str) -> None:
    """Another mode holds from now on."""
    await _leave_out(connection, source_id, profile.ingestion_mode, actor)
    channels = (await stored_channels_of(connection, [source_id]))[source_id]
    mode = profile.ingestion_mode
    for channel in channels:
        if is_wanted_in(mode, channel.kind) and channel.disabled_reason == NOT_WANTED:
            await add_channel(connection, source_id, NewChannel(channel.kind, canonicalise(channel.url)), actor)
    if profile.ingestion_mode is not SourceMode.FEED:
        kind = ChannelKind.CRAWL if profile.kind is SourceKind.DOCS else ChannelKind.LISTING
        await add_channel(connection, source_id, NewChannel(kind, profile.address), actor)
    elif not any(is_wanted_in(mode, channel.kind) for channel in channels):
        search = NewChannel(ChannelKind.SEARCH, profile.address, reason="looks for its channels")
        await add_channel(connection, source_id, search, actor)


def paths_of(profile: Profile, channels: Sequence[NewChannel]) -> tuple[str, ...]:
    """Where its pages lie. A manual is the folder that was given, unless a person says otherwise; feeds may link
    anywhere, and what a page of news or vacancies lists rarely lies below it.
    """
    is_read_whole = any(one.kind in (ChannelKind.CRAWL, ChannelKind.SITEMAP) for one in channels)
    if profile.include_paths or profile.kind is not SourceKind.DOCS or not is_read_whole:
        return profile.include_paths
    folders = {folder_of(canonicalise(url)) for url in (profile.url, *profile.start_urls)}
    return () if "/" in folders else tuple(sorted(folders))


def mode_of(wanted: WantedSource) -> SourceMode:
    if wanted.mode is not None:
        return wanted.mode
    return SourceMode.FEED if wanted.feeds or wanted.sitemaps else SourceMode.SPIDER


def check(wanted: WantedSource, secrets: Secrets | None = None) -> None:
    require_paths(*wanted.profile.include_paths, *wanted.profile.exclude_paths)
    if wanted.backfill is not None:
        require_backfill(wanted.profile, wanted.backfill)
    patterns_from(wanted.profile.article_patterns)
    require_sound(wanted.profile.selectors)
    if wanted.is_api:
        require_recipe(wanted.profile.parser_hint, wanted.profile.url, secrets)
    else:
        require_hint(wanted.profile.parser_hint)


def require_hint(hint: str | None) -> None:
    """Raises UsageError for a hint that is neither a CSS selector nor meant as the recipe of an API."""
    said = (hint or "").strip()
    if said and not said.startswith("{") and not is_selector(said):
        raise UsageError(
            f"The parser hint {shorten(said, _LONGEST_HINT_SHOWN)!r} is not a CSS selector: it would find nothing.",
            fix="Write one that each vacancy of the list matches, such as li.job, or a recipe as JSON for an API.",
        )


def require_recipe(hint: str | None, url: str, secrets: Secrets | None) -> None:
    """Raises UsageError for a recipe that cannot be used, and for one that would send a secret where it may not go."""
    recipe = recipe_from(hint, url)
    if secrets is not None:
        require_bound(recipe.secret_names, recipe.url, secrets)
        if recipe.auth.type == "oauth2":
            require_bound(recipe.auth.client_secret_names, recipe.auth.token_url, secrets)


def require_paths(*paths: str) -> None:
    for why in filter(None, map(why_no_path, paths)):
        raise UsageError(why)


def require_sound(selectors: Mapping[str, Any]) -> None:
    for problem in check_selectors(selectors) if selectors else ():
        raise UsageError(f"These selectors cannot be used. {problem}")


def channels_of(wanted: WantedSource) -> list[NewChannel]:
    """Given ones first; pages are looked through where that is wanted, or where nothing else is known."""
    profile, trusted = wanted.profile, wanted.is_trusted
    given = [
        *(NewChannel(ChannelKind.FEED, canonicalise(url), speaks_for_site=trusted) for url in wanted.feeds),
        *(NewChannel(ChannelKind.SITEMAP, canonicalise(url), speaks_for_site=trusted) for url in wanted.sitemaps),
    ]
    if wanted.is_api:
        recipe = profile.parser_hint
        given.append(NewChannel(ChannelKind.API, profile.address, recipe=recipe, speaks_for_site=trusted))
    has_polled = bool(given)
    is_unsaid = wanted.mode is None and not given and profile.kind is not SourceKind.NEWS
    if wanted.mode in (SourceMode.SPIDER, SourceMode.BOTH) or is_unsaid:
        kind = ChannelKind.CRAWL if profile.kind is SourceKind.DOCS else ChannelKind.LISTING
        given.append(NewChannel(kind, profile.address))
    if (not given or (wanted.mode is SourceMode.BOTH and not has_polled)) and wanted.is_searched:
        reason = IN_VAIN if wanted.search_again_at else "looks for its channels"
        given.append(NewChannel(ChannelKind.SEARCH, profile.address, reason=reason))
    return given


def with_answers(channels: Sequence[NewChannel], answers: Sequence[Body]) -> list[NewChannel]:
    """Each with the answer that its address has given already."""
    heard = {answer.response.url.url_hash: answer for answer in answers}
    found = ((one, heard.get(one.url.url_hash) if one.kind.traits.is_found else None) for one in channels)
    return [replace(one, heard=pack_response(answer)) if answer else one for one, answer in found]


async def pace_hosts(
    connection: Connection, profile: Profile, channels: Sequence[NewChannel], default_delay: timedelta
) -> None:
    """Hosts of job sources are asked more slowly; a source's own rate limit and an API's throttle hold for theirs."""
    asked = delays_asked(profile, channels)
    if profile.kind is SourceKind.JOBS:
        places: dict[str, CanonicalUrl] = {url.host: url for url in (profile.address, *(one.url for one in channels))}
        default_delay = max(JOBS_DELAY, default_delay)
        await hold_hosts(connection, places, default_delay)
        for url in sorted(places.values(), key=lambda one: (one.bucket, one.host)):
            await connection.execute(queries.slow_down_for_jobs, url.bucket, url.host)
            await connection.execute(queries.raise_base_delay, url.bucket, url.host, milliseconds(default_delay))
            await set_source_delay(connection, url.host, asked.pop(url.host, None), default_delay)
    for host, delay_ms in sorted(asked.items()):
        await set_source_delay(connection, host, delay_ms, default_delay)


def delays_asked(profile: Profile, channels: Sequence[NewChannel]) -> dict[str, int]:
    """By host, in milliseconds; nothing for a host of which nobody said anything."""
    own = profile.rate_limit_ms
    limited = [profile.address, *(one.url for one in channels if profile.kind is SourceKind.JOBS)]
    asked = {} if own is None else {url.host: own for url in limited}
    for one in channels:
        recipe = recipe_from(one.recipe or profile.parser_hint, one.url.url) if one.kind is ChannelKind.API else None
        if recipe and recipe.throttle:
            host = canonicalise(recipe.url).host
            asked[host] = max(asked.get(host, 0), milliseconds(recipe.throttle.delay))
    return asked


@dataclass(frozen=True, slots=True)
class Stopped:
    """Waiting entries that followed; of a removed source also the fate of its vacancies."""

    entries: int
    left: Left = NOTHING_LEFT


async def change_status(
    database: Database, source_id: UUID, status: SourceStatus, reason: str | None = None, actor: str = "headwater"
) -> Stopped:
    """No row goes: a deleted source keeps its history and its documents. Its vacancies are over."""
    async with database.transaction() as connection:
        await set_status(connection, source_id, status, reason, actor)
        await connection.execute(source_queries.wake_pollers)
    entries = await (let_go if status is SourceStatus.ACTIVE else set_aside)(database, source_id)
    left = await leave_jobs(database, source_id) if status is SourceStatus.DELETED else NOTHING_LEFT
    return Stopped(entries, left)
