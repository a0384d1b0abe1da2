"""One thing done to many sources: those named, or all that match. Each has its outcome."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from headwater.actions.sources import edit_source
from headwater.discover.adding import change_status
from headwater.errors import HeadwaterError, QueryFailed
from headwater.reports.discovery import NOBODY, SourceFilter, overviews, sources_that_match
from headwater.services import Services
from headwater.sources.finding import find_source
from headwater.sources.source import Policy, Source, SourceStatus
from headwater.sources.store import poll_now, read_source

READ_AT_ONCE = 200
# Of outcomes that are told one by one; the others are counted. Failures come first.
MOST_TOLD = 10_000


class BulkAction(StrEnum):
    RUN = "run"
    PAUSE = "pause"
    RESUME = "resume"
    SET_INTERVAL = "set_interval"
    SET_POLICY = "set_policy"
    TAG = "tag"
    CLEAR_ERRORS = "clear_errors"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class BulkWish:
    """`interval` and `policy` None take a set one back; `tags` are added to those a source has."""

    action: BulkAction
    actor: str
    reason: str = ""
    interval: timedelta | None = None
    tags: tuple[str, ...] = ()
    policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """`outcome`: done, skipped (nothing to do) or failed; `detail` is a sentence, where there is one."""

    named: str
    outcome: str
    detail: str = ""
    id: UUID | None = None
    name: str = ""


@dataclass(slots=True)
class BulkOutcome:
    counts: Counter[str] = field(default_factory=Counter)
    told: list[SourceOutcome] = field(default_factory=list)

    def note(self, one: SourceOutcome) -> None:
        self.counts[one.outcome] += 1
        if len(self.told) < MOST_TOLD:
            self.told.append(one)


async def change_many(
    services: Services,
    wish: BulkWish,
    chosen: Sequence[str] | SourceFilter,
    progress: Callable[[int], None] = lambda _done: None,
) -> BulkOutcome:
    done = BulkOutcome()
    targets = _matching(services, chosen) if isinstance(chosen, SourceFilter) else _named(services, chosen)
    async for named, source in targets:
        done.note(await _outcome(services, wish, named, source))
        progress(done.counts.total())
    return done


async def _named(services: Services, names: Sequence[str]) -> AsyncIterator[tuple[str, Source | HeadwaterError]]:
    for name in names:
        try:
            yield name, await find_source(services.database, name)
        except QueryFailed:
            raise
        except HeadwaterError as error:
            yield name, error


async def _matching(services: Services, wanted: SourceFilter) -> AsyncIterator[tuple[str, Source | HeadwaterError]]:
    """By name, in parts. What was done to a source changes neither its name nor its place."""
    after = ("", NOBODY)
    while page := await sources_that_match(services.database, wanted, READ_AT_ONCE, after):
        for source in page:
            yield str(source.id), source
        after = (page[-1].name, page[-1].id)


async def _outcome(services: Services, wish: BulkWish, named: str, source: Source | HeadwaterError) -> SourceOutcome:
    if isinstance(source, HeadwaterError):
        return SourceOutcome(named, "failed", source.what)
    try:
        skipped = await _act(services, wish, source)
    except QueryFailed:
        raise
    except HeadwaterError as error:
        return SourceOutcome(named, "failed", error.what, source.id, source.name)
    return SourceOutcome(named, "skipped" if skipped else "done", skipped, source.id, source.name)


async def _act(services: Services, wish: BulkWish, source: Source) -> str:
    """Why there was nothing to do; empty where it was done."""
    match wish.action:
        case BulkAction.RUN:
            return await _run(services, source)
        case BulkAction.PAUSE:
            return await _set_status(services, wish, source, SourceStatus.PAUSED)
        case BulkAction.RESUME:
            return await _set_status(services, wish, source, SourceStatus.ACTIVE)
        case BulkAction.DELETE:
            return await _set_status(services, wish, source, SourceStatus.DELETED)
        case BulkAction.CLEAR_ERRORS:
            return await _clear_errors(services, wish, source)
        case BulkAction.SET_INTERVAL:
            changed = (await edit_source(services, str(source.id), {"poll_every": wish.interval}, wish.actor))[1]
            return "" if changed else "It has this interval already."
        case BulkAction.SET_POLICY:
            changed = (await edit_source(services, str(source.id), {"policy": wish.policy}, wish.actor))[1]
            return "" if changed else "It has this policy already."
        case BulkAction.TAG:
            return await _tag(services, wish, source)


async def _run(services: Services, source: Source) -> str:
    (found,) = await overviews(services.database, [source])
    if found.is_left_alone:
        return "It is taken down."
    return "" if await poll_now(services.database, source.id) else f"It is {source.status}, or has no channel to poll."


async def _set_status(services: Services, wish: BulkWish, source: Source, status: SourceStatus) -> str:
    if source.status is status:
        return f"It is {status} already."
    reason = None if status is SourceStatus.ACTIVE else wish.reason or f"{wish.action}d by a person"
    await change_status(services.database, source.id, status, reason, wish.actor)
    return ""


async def _clear_errors(services: Services, wish: BulkWish, source: Source) -> str:
    """Its channels are asked as if nothing had gone wrong; one that is paused or blocked stays so."""
    if source.status is not SourceStatus.ACTIVE:
        return f"It is {source.status}: resume it."
    await change_status(services.database, source.id, SourceStatus.ACTIVE, None, wish.actor)
    return ""


async def _tag(services: Services, wish: BulkWish, source: Source) -> str:
    # As it is now: another person may have given it tags since the list was read.
    tags = (await read_source(services.database, source.id)).profile.tags
    both = tuple(dict.fromkeys((*tags, *wish.tags)))
    changed = (await edit_source(services, str(source.id), {"tags": both}, wish.actor))[1]
    return "" if changed else "It has these tags already."
