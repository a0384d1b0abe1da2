"""Sources that a program describes: followed, changed, looked at; also in the words of the systems before this one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from headwater.actions.source_editions import edition_of_source, require_source_known
from headwater.actions.sources import Added, add_source, edit_source, stop_sources
from headwater.discover.adding import check
from headwater.discover.api.secrets import secrets_from
from headwater.discover.exporting import sources_rendered
from headwater.discover.importing import DYNAMIC, FEED_OFF, store_row, wanted_from
from headwater.discover.searching.following import FollowRequest, NotFollowed
from headwater.editions import KnownEditions
from headwater.errors import NotFound, UsageError
from headwater.politeness.hosts import HostPolicy, set_policy
from headwater.reports.discovery import DiscoveryOverview, overviews
from headwater.services import Services
from headwater.sources.exchange.described import changes_described, row_described
from headwater.sources.finding import external_ids_of, find_source, note_external_ids
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Source, SourceStatus
from headwater.sources.store import NewChannel, add_channel, channels_of, disable_channel, queries, require_new
from headwater.urls.canonical import canonicalise

BY_A_PROGRAM = "by a person, through the API"
_ABOUT_STATUS = frozenset({"enabled", "status", "disable_reason", "disabled_at"})


@dataclass(frozen=True, slots=True)
class DescribedSource:
    """A source with all that programs are told of it."""

    overview: DiscoveryOverview
    external_ids: tuple[str, ...]
    is_rendered: bool

    @property
    def edition(self) -> str:
        return edition_of_source(self.overview, self.external_ids, is_rendered=self.is_rendered)


async def require_source_as_known(services: Services, source_id: UUID, known: KnownEditions) -> None:
    """In a transaction of its own, before something that is no edit."""
    if known is not None:
        async with services.database.transaction() as connection:
            await require_source_known(connection, source_id, known)


async def described(services: Services, found: list[DiscoveryOverview]) -> list[DescribedSource]:
    sources = [one.source for one in found]
    ids = await external_ids_of(services.database, [one.id for one in sources])
    rendered = await sources_rendered(services.database, sources)
    return [DescribedSource(one, ids.get(one.source.id, ()), one.source.id in rendered) for one in found]


async def describe_source(services: Services, named: str) -> DescribedSource:
    found = await overviews(services.database, [await find_source(services.database, named)])
    return (await described(services, found))[0]


async def add_described(services: Services, said: Mapping[str, Any], actor: str) -> UUID:
    """Followed without a look: a poller looks for its channels where none is named."""
    row = row_described(said)
    wanted, secrets = wanted_from(row, is_trusted=True), secrets_from(services.settings.poll.secrets_file)
    await require_new(services.database, wanted.profile)
    check(wanted, secrets)
    async with services.database.transaction() as connection:
        return await store_row(connection, row, services.settings.politeness.delay, actor, is_trusted=True)


async def source_at(services: Services, url: str) -> UUID | None:
    """The source with this very address."""
    found: UUID | None = await services.database.fetchval(queries.source_at, canonicalise(url).url_hash)
    return found


async def look_at_described(
    services: Services, said: Mapping[str, Any], actor: str, *, is_dry: bool, is_forced: bool = False
) -> Added | NotFollowed:
    """As `headwater sources add` does; a dry look stores nothing."""
    row = row_described(said)
    request = FollowRequest(wanted_from(row, is_trusted=True), actor, is_forced=is_forced, is_dry=is_dry)
    added = await add_source(services, request)
    if isinstance(added, Added) and added.source_id is not None:
        async with services.database.transaction() as connection:
            await note_external_ids(connection, [(added.source_id, one) for one in row.external_ids])
    return added


async def change_described(
    services: Services, named: str, said: Mapping[str, Any], actor: str, known: KnownEditions = None
) -> Source:
    """What is not named stays. Raises UsageError for values that cannot be, before anything is changed; Outdated where
    it is no edition that is `known`.
    """
    found = await find_source(services.database, named)
    changes = changes_described(said)
    if "url" in changes:
        _require_same_address(found, str(changes.pop("url") or ""))
    if said.get("source_type"):
        raise UsageError(
            "The source_type of a source is that of its channels.", fix="Name its feed_url, or add it anew."
        )
    status = _status_in(said)
    if changes:
        await edit_source(services, str(found.id), changes, actor, known)
    else:
        await require_source_as_known(services, found.id, known)
    if status is not None and status is not found.status:
        reason = str(said.get("disable_reason") or f"stopped {BY_A_PROGRAM}")
        await stop_sources(services, [str(found.id)], status, None if status is SourceStatus.ACTIVE else reason, actor)
    if "feed_disabled_at" in said:
        off = str(said.get("feed_disable_reason") or BY_A_PROGRAM)
        switched = switch_feeds_off(services, str(found.id), off, actor) if said["feed_disabled_at"] else None
        await (switched or switch_feeds_on(services, str(found.id), actor))
    if "render_mode" in said:
        await _render(services, found, str(said["render_mode"] or ""))
    async with services.database.transaction() as connection:
        row = row_described({"url": found.profile.url, **{n: said[n] for n in ("external_ids",) if n in said}})
        await note_external_ids(connection, [(found.id, one) for one in row.external_ids])
    return found


def _require_same_address(source: Source, url: str) -> None:
    if url and canonicalise(url).url_hash != source.profile.address.url_hash:
        raise UsageError(
            "The address of a source cannot be changed.", fix="Add the new address, then delete this source."
        )


def _status_in(said: Mapping[str, Any]) -> SourceStatus | None:
    if _ABOUT_STATUS.isdisjoint(said):
        return None
    about = {name: value for name, value in said.items() if name in _ABOUT_STATUS}
    if about.keys() <= {"disable_reason", "disabled_at"} and not any(about.values()):
        return None
    return SourceStatus(row_described({"url": "https://any.example/", **about}).status or SourceStatus.ACTIVE)


async def _render(services: Services, source: Source, mode: str) -> None:
    if mode not in ("static", DYNAMIC):
        raise UsageError(f"There is no render_mode {mode!r}.", fix="One of: static, dynamic.")
    rendered = await sources_rendered(services.database, [source])
    if (source.id in rendered) != (mode == DYNAMIC):
        policy = HostPolicy(allow_js=mode == DYNAMIC)
        host = source.profile.address.host
        await set_policy(services.database, host, policy, services.settings.politeness.delay)


async def switch_feeds_off(services: Services, named: str, reason: str, actor: str) -> int:
    """Its feeds are polled no more until they are switched on again; other channels go on."""
    found = await find_source(services.database, named)
    async with services.database.transaction() as connection:
        feeds = [one for one in (await channels_of(connection, [found.id]))[found.id] if one.kind is ChannelKind.FEED]
        if not feeds:
            raise NotFound(f"{found.name} has no feed.", fix="`headwater sources show` lists its channels.")
        polled = [one for one in feeds if one.is_enabled]
        for one in polled:
            await disable_channel(connection, found.id, one.id, f"{FEED_OFF}{reason}", actor)
    return len(polled)


async def switch_feeds_on(services: Services, named: str, actor: str) -> int:
    """Those that were switched off; not those that we, or another feed, replaced."""
    found = await find_source(services.database, named)
    async with services.database.transaction() as connection:
        channels = (await channels_of(connection, [found.id]))[found.id]
        off = [one for one in channels if one.kind is ChannelKind.FEED and is_switched_off(one.disabled_reason)]
        for one in off:
            if await add_channel(connection, found.id, NewChannel(one.kind, canonicalise(one.url)), actor) is None:
                raise UsageError(f"{one.url} is followed already, for another source.")
    return len(off)


def is_switched_off(reason: str | None) -> bool:
    return bool(reason and reason.startswith(FEED_OFF))
