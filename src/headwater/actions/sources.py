"""Sources followed, changed and stopped, as a person asks for it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from headwater.actions.source_editions import require_source_known
from headwater.archive.jobs import Left, jobs_left_by
from headwater.discover.adding import Stopped, WantedSource, change, change_status, check, take_up
from headwater.discover.api.secrets import secrets_from
from headwater.discover.searching.following import (
    Eyes,
    FollowRequest,
    LookBegun,
    LookListener,
    NotFollowed,
    SeenSite,
    SiteLook,
    chosen_from,
)
from headwater.discover.trying import Trial
from headwater.editions import KnownEditions
from headwater.errors import UsageError
from headwater.reports.discovery import DiscoveryOverview, overviews
from headwater.run.polling import channel_reader, poll_of
from headwater.services import Services
from headwater.sources.finding import find_source
from headwater.sources.source import Source, SourceStatus
from headwater.sources.store import poll_now, require_new
from headwater.web import open_web


@dataclass(frozen=True, slots=True)
class Added:
    """The source as it was stored; its id is None after a dry run. `why` says why nothing was found."""

    source_id: UUID | None
    wanted: WantedSource
    look: SiteLook
    why: str
    trials: tuple[Trial, ...]


async def add_source(
    services: Services, request: FollowRequest, progress: LookListener = lambda _step: None
) -> Added | NotFollowed:
    """Raises UsageError for a source that can never work, and where it exists already."""
    settings, database = services.settings, services.database
    secrets = secrets_from(settings.poll.secrets_file) if request.wanted.profile.parser_hint else None
    # Known before the site is asked for anything.
    await require_new(database, request.wanted.profile)
    check(request.wanted, secrets)
    seen: SeenSite | NotFollowed = SeenSite()
    if request.is_looked_at:
        progress(LookBegun(request.wanted.profile.address))
        async with eyes_of(services, leaves_no_trace=request.is_dry) as eyes:
            seen = await eyes.see(request, progress)
    if isinstance(seen, NotFollowed):
        return seen
    chosen = chosen_from(request.wanted, seen.look, services.clock.now() + settings.poll.discovery_retry)
    if isinstance(chosen, NotFollowed) or request.is_dry:
        return chosen if isinstance(chosen, NotFollowed) else Added(None, chosen, seen.look, seen.why, seen.trials)
    async with database.transaction() as connection:
        source_id = await take_up(connection, chosen, request.actor, settings.politeness.delay, secrets)
    return Added(source_id, chosen, seen.look, seen.why, seen.trials)


@asynccontextmanager
async def eyes_of(services: Services, *, leaves_no_trace: bool) -> AsyncIterator[Eyes]:
    async with (
        open_web(services, "headwater sources add", leaves_no_trace=leaves_no_trace) as web,
        channel_reader(services) as reader,
    ):
        said = web.strangers.sitemaps
        yield Eyes(
            services.database,
            services.clock,
            poll_of(services, web, reader).asker,
            reader,
            web.transport.problem_with_name,
            lambda url: said.get(url.site, ()),
        )


async def edit_source(
    services: Services, named: str, changes: Mapping[str, Any], actor: str, known: KnownEditions = None
) -> tuple[Source, list[str]]:
    """The source, and the fields that are different now. Raises Outdated where it is no edition that is `known`."""
    found = await find_source(services.database, named)
    secrets = secrets_from(services.settings.poll.secrets_file)
    async with services.database.transaction() as connection:
        delay = services.settings.politeness.delay
        await require_source_known(connection, found.id, known)
        return found, await change(connection, found.id, changes, actor, delay, secrets)


async def stop_sources(
    services: Services, named: Sequence[str], status: SourceStatus, reason: str | None, actor: str
) -> list[tuple[Source, Stopped]]:
    """Paused, blocked, deleted, or active again. All are found before the first is touched."""
    return [
        (one, await change_status(services.database, one.id, status, reason, actor))
        for one in await found_sources(services, named)
    ]


async def vacancies_left_by(services: Services, named: Sequence[str]) -> list[tuple[Source, Left]]:
    """The vacancies that sources would leave if they were deleted."""
    return [(one, await jobs_left_by(services.database, one.id)) for one in await found_sources(services, named)]


async def found_sources(services: Services, named: Sequence[str]) -> list[Source]:
    if not named:
        raise UsageError("No source was named.", fix="`headwater sources list` shows those there are.")
    return [await find_source(services.database, one) for one in named]


async def poll_sources(services: Services, named: Sequence[str]) -> list[tuple[DiscoveryOverview, int]]:
    """Ask for polls now: each source, and how many of its channels are due; none of one that is to be left alone."""
    found = await overviews(services.database, await found_sources(services, named))
    return [(one, 0 if one.is_left_alone else await poll_now(services.database, one.source.id)) for one in found]
