"""Sinks and views as people manage them: tried, paused, filled anew, compared, removed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headwater.clock import SystemClock
from headwater.deliver import store
from headwater.deliver.kinds import kind_named
from headwater.deliver.options import valid_options
from headwater.deliver.sink import AskableSink, Fence, Sink, SinkDown, SinkKind, SinkOptions
from headwater.deliver.store import (
    FailedRecord,
    FailureGroup,
    SinkReport,
    failure_groups_of,
    failures_of,
    sink_named,
)
from headwater.deliver.verifying import Verification, Verifier
from headwater.editions import KnownEditions, require_known
from headwater.errors import HeadwaterError, UsageError
from headwater.extraction.jobs.countries import country_called
from headwater.record_kind import RecordKind
from headwater.reports.archive import DetailedHit, find_documents, find_jobs
from headwater.reports.frontier import source_names
from headwater.rights.record import marks_wanted
from headwater.run.delivering import sink_contexts
from headwater.search.question import Filters
from headwater.search.views import (
    View,
    ViewCount,
    add_view,
    change_view,
    count_in_view,
    list_views,
    lock_view,
    remove_view,
    sinks_of_view,
    view_named,
    within,
)
from headwater.services import Services
from headwater.sources.finding import find_source

if TYPE_CHECKING:
    from uuid import UUID

    from headwater.deliver.sinks.elasticsearch import ElasticsearchSink
    from headwater.deliver.sinks.retiring import ForeignDocument, Retirement

# The time that a sink has for one try: as long as a lease.
TRY_SECONDS = 60.0
SHOWN_FAILURES = 20


@dataclass(frozen=True, slots=True)
class SinkStory:
    """`kind` None: its type is not installed here."""

    sink: SinkReport
    kind: SinkKind | None
    failures: Sequence[FailedRecord]
    groups: Sequence[FailureGroup]


async def check_sink(services: Services, name: str) -> str:
    """One try now, whatever its schedule says. Raises why it failed; a sink that was down goes on at once."""
    sink = await sink_named(services.database, name)
    kind = kind_named(sink.type)
    # Who works on it has prepared it; doing so twice at once might disturb the other.
    answer = await try_sink(services, name, kind, valid_options(kind, sink.options), sink)
    if sink.failures:
        async with services.database.transaction() as connection:
            await store.try_at_once(connection, sink.id)
            store.wake_deliverers(connection)
    return answer


async def try_sink(
    services: Services, name: str, kind: SinkKind, options: SinkOptions, known: SinkReport | None = None
) -> str:
    async with opened(services, name, kind, options, known, prepares=not (known and known.is_worked)) as (sink, fence):
        return await kind.test(sink, fence) if kind.test else "It answers."


@asynccontextmanager
async def opened(
    services: Services,
    name: str,
    kind: SinkKind,
    options: SinkOptions,
    known: SinkReport | None = None,
    *,
    prepares: bool = True,
) -> AsyncIterator[tuple[Sink, Fence]]:
    """A sink without its lease: nothing may be sent to it but a try. Of a sink that is `known`, a loss is noted."""
    clock = SystemClock()

    async def note_missing(place: str | None) -> None:
        if known:
            await store.refill_lost(services.database, known.id, place)

    async with sink_contexts(services) as context:
        sink = kind.make(options, context(name))
        try:
            fence = Fence(clock, "try", clock.monotonic() + TRY_SECONDS, on_missing=note_missing)
            if prepares:
                await sink.prepare(fence)
            yield sink, fence
        finally:
            await sink.close()


async def story_of_sink(services: Services, name: str) -> SinkStory:
    sink = await sink_named(services.database, name)
    failures = await failures_of(services.database, sink.id, SHOWN_FAILURES)
    return SinkStory(sink, kind_of(sink), failures, await failure_groups_of(services.database, sink.id))


def kind_of(sink: SinkReport) -> SinkKind | None:
    try:
        return kind_named(sink.type)
    except HeadwaterError:
        return None


async def pause_sink(services: Services, name: str, reason: str) -> SinkReport:
    sink = await sink_named(services.database, name)
    await store.set_state(services.database, sink.id, "paused", reason or None)
    return sink


async def resume_sink(services: Services, name: str) -> SinkReport:
    """It is tried at once."""
    sink = await sink_named(services.database, name)
    async with services.database.transaction() as connection:
        await store.set_state(connection, sink.id, "active", None)
        store.wake_deliverers(connection)
    return sink


async def retry_sink(services: Services, name: str, error: str | None = None) -> tuple[SinkReport, int]:
    """And how many of the records that it refused are tried again; `error` is the class of some, as stories have it."""
    sink = await sink_named(services.database, name)
    async with services.database.transaction() as connection:
        count = await store.retry_failures(connection, sink.id, error)
        store.wake_deliverers(connection)
    return sink, count


async def rebuild_sink(services: Services, name: str) -> SinkReport:
    """Everything is sent anew, parked records too."""
    sink = await sink_named(services.database, name)
    async with services.database.transaction() as connection:
        await store.clear_failures(connection, sink.id)
        await store.ask_backfill(connection, sink.id, "a person asked for it")
        store.wake_deliverers(connection)
    return sink


async def foreign_documents(services: Services, name: str) -> "list[ForeignDocument]":
    """Documents of an earlier system, under other ids than ours, in the indexes that a sink writes to."""
    from headwater.deliver.sinks.retiring import find_foreign

    async with _search_sink(services, name) as (sink, sink_id, _):
        return [one async for one in find_foreign(sink, services.database, sink_id)]


async def retire_documents(services: Services, name: str, found: "Sequence[ForeignDocument]") -> "Retirement":
    """Deletes those of them that a document of ours replaces."""
    from headwater.deliver.sinks.retiring import retire_foreign

    async with _search_sink(services, name) as (sink, _, fence):
        return await retire_foreign(sink, found, fence)


@asynccontextmanager
async def _search_sink(services: Services, name: str) -> "AsyncIterator[tuple[ElasticsearchSink, UUID, Fence]]":
    from headwater.deliver.sinks.elasticsearch import ElasticsearchSink

    report = await sink_named(services.database, name)
    kind = kind_named(report.type)
    async with opened(services, name, kind, valid_options(kind, report.options), prepares=False) as (sink, fence):
        if not isinstance(sink, ElasticsearchSink):
            raise UsageError(f"The sink '{name}' is no search server that other systems write to.")
        yield sink, report.id, fence


def costs_of_rebuild(sink: SinkReport) -> list[str]:
    """Side effects of a rebuild in the sink, in sentences."""
    kind = kind_of(sink)
    if kind is None:
        return []
    options = valid_options(kind, sink.options)
    costs = []
    if kind.is_events:
        costs.append("Every record is sent as an event once more.")
    if getattr(options, "layout", "") == "raw_content":
        costs.append("classification_status is pending again for every document.")
    if kind.wants_html(options):
        costs.append("Raw HTML that is no longer kept is missing afterwards.")
    return costs


async def remove_sink(services: Services, name: str, known: KnownEditions = None) -> SinkReport:
    async with services.database.transaction() as connection:
        sink = await sink_named(connection, name)
        require_known(known, settings_of_sink(sink), f"The sink '{name}'")
        await store.remove_sink_row(connection, sink.id)
    return sink


def settings_of_sink(sink: SinkReport) -> list[Any]:
    """What people decide of it, and nothing of what was delivered. Pure."""
    return [sink.id, sink.type, dict(sink.options), sink.view_id, sink.state, sink.state_reason]


async def verify_sink(services: Services, name: str, *, mends: bool, removes_unknown: bool = False) -> Verification:
    """Raises SinkDown where the sink cannot be asked now."""
    sink = await sink_named(services.database, name)
    kind = kind_named(sink.type)
    options = valid_options(kind, sink.options)
    if mends and sink.state != "active":
        raise UsageError(
            f"The sink '{name}' is {sink.state}: nothing would be sent.", fix=f"headwater sinks resume {name}"
        )
    async with opened(services, name, kind, options, sink, prepares=False) as (made, fence):
        asked = made if isinstance(made, AskableSink) else None
        if asked and not sink.is_worked:
            await made.prepare(fence)
        verifier = Verifier(services.database, sink, kind.takes(options), kind.is_events, made.place_of, asked)
        return await verifier.verify(mends=mends, removes_unknown=removes_unknown)


@dataclass(frozen=True, slots=True)
class SinkCheck:
    """`found` is None where the sink could not be asked; `problem` says why."""

    name: str
    found: Verification | None = None
    problem: str = ""

    @property
    def is_red(self) -> bool:
        return self.found is None or self.found.is_red

    @property
    def words(self) -> str:
        if self.found is None:
            return self.problem
        parts = [f"{count:,} {kind}" for kind, count in sorted(self.found.differences.items())]
        parts += [f"{self.found.parked:,} parked"] * bool(self.found.parked)
        parts += [f"{self.found.on_their_way:,} on their way"] * bool(self.found.on_their_way)
        return ", ".join(parts) or "equal"


async def verify_all_sinks(services: Services) -> list[SinkCheck]:
    """One after the other; one that is away does not keep the others from being compared."""
    checks = []
    for sink in await store.list_sinks(services.database):
        try:
            checks.append(SinkCheck(sink.name, await verify_sink(services, sink.name, mends=False)))
        except (SinkDown, UsageError) as trouble:
            checks.append(SinkCheck(sink.name, problem=f"could not be asked: {trouble}"))
    return checks


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewWish:
    """Filters of a view as a person gives them; None: not given. An empty text takes a filter back."""

    query: str | None = None
    kinds: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    languages: Sequence[str] | None = None
    countries: Sequence[str] | None = None
    min_quality: int | None = None
    rights: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class ViewStory:
    """`sources` are names of its sources, `sinks` of those that deliver it."""

    view: View
    sources: Sequence[str]
    sinks: Sequence[str]


@dataclass(frozen=True, slots=True)
class ViewPreview:
    view: View
    counts: Sequence[ViewCount]
    found: Sequence[DetailedHit]


async def make_view(services: Services, name: str, wish: ViewWish) -> View:
    return await add_view(services.database, await _as_wished(services, View(name=name), wish))


async def edit_view(
    services: Services, name: str, wish: ViewWish, known: KnownEditions = None
) -> tuple[View, Sequence[str]]:
    """As it is now, and the sinks that look at the whole archive again because of it; none where nothing changed.

    Raises Outdated where it is no edition that is `known`.
    """
    async with services.database.transaction() as connection:
        view = await lock_view(connection, name)
        require_known(known, view, f"The view '{name}'")
        changed = await _as_wished(services, view, wish)
        if changed == view:
            return view, ()
        await change_view(connection, changed)
        sinks = await sinks_of_view(connection, view)
        for sink_id in sinks:
            await store.ask_backfill(connection, sink_id, f"the view {name} was edited")
        store.wake_deliverers(connection)
    return changed, list(sinks.values())


async def delete_view(services: Services, name: str, known: KnownEditions = None) -> None:
    async with services.database.transaction() as connection:
        view = await lock_view(connection, name)
        require_known(known, view, f"The view '{name}'")
        await remove_view(connection, view)


async def view_stories(services: Services, name: str | None = None) -> list[ViewStory]:
    database = services.database
    views = [await view_named(database, name)] if name else await list_views(database)
    names = await source_names(database, [one for view in views for one in view.source_ids])
    return [
        ViewStory(
            view,
            [names.get(one, str(one)) for one in view.source_ids],
            list((await sinks_of_view(database, view)).values()),
        )
        for view in views
    ]


async def preview_view(services: Services, name: str, limit: int) -> ViewPreview:
    """The newest that are in it, and how many of the newest are."""
    database, clock = services.database, services.clock
    view = await view_named(database, name)
    kinds = view.kinds or tuple(RecordKind)
    counts, found = [], list[DetailedHit]()
    for kind in kinds:
        counts.append(await count_in_view(database, view, kind))
        filters = await within(database, Filters(kind), view)
        if kind is RecordKind.JOB:
            answer = await find_jobs(services.search, clock, "", filters, limit, {})
        else:
            answer = await find_documents(services.search, clock, "", filters, limit)
        found += answer.found
    newest = sorted(found, key=lambda one: one.hit.first_seen_at, reverse=True)
    return ViewPreview(view, counts, newest[:limit])


async def _as_wished(services: Services, view: View, wish: ViewWish) -> View:
    wanted: dict[str, Any] = {}
    if wish.query is not None:
        wanted["query"] = wish.query.strip()
    if wish.kinds is not None:
        wanted["kinds"] = tuple(_record_kind(one) for one in _given(wish.kinds))
    if wish.sources is not None:
        found = [await find_source(services.database, one) for one in _given(wish.sources)]
        wanted["source_ids"] = tuple(one.id for one in found)
    if wish.tags is not None:
        wanted["tags"] = _given(wish.tags)
    if wish.languages is not None:
        wanted["languages"] = tuple(_language(one) for one in _given(wish.languages))
    if wish.countries is not None:
        wanted["countries"] = tuple(_country(one) for one in _given(wish.countries))
    if wish.min_quality is not None:
        # None of 0 says the same, and is shorter.
        wanted["min_quality"] = wish.min_quality or None
    if wish.rights is not None:
        wanted["rights"] = marks_wanted(wish.rights)
    return replace(view, **wanted)


def _given(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.strip() for one in texts if one.strip()))


def _record_kind(said: str) -> RecordKind:
    try:
        return RecordKind(said.lower())
    except ValueError:
        raise UsageError(f"There is no kind of record {said!r}.", fix=f"One of: {', '.join(RecordKind)}.") from None


def _language(said: str) -> str:
    if not (2 <= len(said) <= 3 and said.isascii() and said.isalpha()):
        raise UsageError(f"{said!r} is no language.", fix="Write its two letters, such as pt.")
    return said.lower()


def _country(said: str) -> str:
    code = country_called(said)
    if code is None:
        raise UsageError(f"There is no country {said!r}.", fix="Write its name or its two letters, such as KE.")
    return code
