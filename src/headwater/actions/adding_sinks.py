"""A sink is added: by a free name, to a place that no other sink writes to, and tried once."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from headwater.actions.delivery import kind_of, opened, try_sink
from headwater.actions.sink_places import require_allowed_places
from headwater.deliver import store
from headwater.deliver.kinds import kind_named
from headwater.deliver.options import options_from, valid_options
from headwater.deliver.sink import SinkHome, SinkKind, SinkOptions, options_as_given
from headwater.deliver.sinks.folder import folder_of
from headwater.errors import HeadwaterError, UsageError
from headwater.search.views import require_name, view_named
from headwater.services import Services, data_folder


@dataclass(frozen=True, slots=True)
class AddedSink:
    """`answer` is what the sink said to a try; `trouble` why it could not be tried."""

    kind: SinkKind
    is_filled: bool
    answer: str = ""
    trouble: HeadwaterError | None = None


@dataclass(frozen=True, slots=True)
class PlacedOptions:
    """A sink, new or known, and the places that it writes to."""

    name: str
    kind: SinkKind
    options: SinkOptions
    homes: frozenset[SinkHome]


async def add_sink(
    services: Services,
    name: str,
    kind_name: str,
    given: Mapping[str, str],
    *,
    view: str | None = None,
    from_archive: bool = False,
    is_remote: bool = False,
) -> AddedSink:
    """A store is filled from the archive; a stream of events begins at the log's end, unless it is asked for more.

    `is_remote`: who asks may have no account on this machine, so that files are written in its data folder alone.
    """
    require_name(name, "sink")
    kind = kind_named(kind_name)
    options = options_from(kind, given)
    database = services.database
    view_id = (await view_named(database, view)).id if view else None
    if any(value.startswith("setting:") for value in given.values()):
        raise UsageError("Only Headwater's own settings name settings.", fix="Give env:NAME or file:/path.")
    require_allowed_places(options, data_folder(services.settings) if is_remote else None)
    # Before it is tried: a try makes folders and indexes.
    await store.require_free_name(database, name)
    await require_own_home(services, _placed(services, name, kind, options))
    answer, trouble = "", None
    try:
        answer = await try_sink(services, name, kind, options)
    except HeadwaterError as error:
        trouble = error
    is_filled = from_archive or not kind.is_events
    async with database.transaction() as connection:
        added = await store.add_sink_row(connection, name, kind.name, options_as_given(options), view_id)
        if is_filled:
            await store.ask_backfill(connection, added, "it is new")
        store.wake_deliverers(connection)
    return AddedSink(kind, is_filled, answer, trouble)


async def require_own_home(services: Services, new: PlacedOptions) -> None:
    """Two sinks in one folder or index would take each other's records for their own, and remove them."""
    others = [one async for one in _placed_sinks(services)] if new.homes else []
    for other in others:
        if shared := new.homes & other.homes:
            raise _shared_home(other.name, min(shared))
    places = {home.place for home in new.homes}
    alike = [one for one in others if one.kind.name == new.kind.name and places & {home.place for home in one.homes}]
    if alike and (server := await _server_id(services, new)):
        for other, theirs in zip(alike, await _server_ids(services, alike), strict=True):
            if theirs == server:
                raise _shared_home(other.name, min(one for one in other.homes if one.place in places))


def _shared_home(name: str, home: SinkHome) -> UsageError:
    fix = "Give this one another folder, index or name there."
    return UsageError(f"The sink '{name}' writes to {home.in_words} already.", fix=fix)


async def _placed_sinks(services: Services) -> AsyncIterator[PlacedOptions]:
    for sink in await store.list_sinks(services.database):
        if kind := kind_of(sink):
            yield _placed(services, sink.name, kind, valid_options(kind, sink.options))


def _placed(services: Services, name: str, kind: SinkKind, options: SinkOptions) -> PlacedOptions:
    folder = getattr(options, "folder", None)
    if folder is not None:
        place = str(folder_of(folder, name, data_folder(services.settings)).resolve())
        return PlacedOptions(name, kind, options, frozenset({SinkHome("", place)}))
    return PlacedOptions(name, kind, options, frozenset(kind.homes(options)))


async def _server_ids(services: Services, sinks: Sequence[PlacedOptions]) -> list[str | None]:
    return await asyncio.gather(*(_server_id(services, one) for one in sinks))


async def _server_id(services: Services, sink: PlacedOptions) -> str | None:
    """None where its server has no name of its own, or does not say it now: that is no reason to refuse a sink."""
    if sink.kind.server_id is None:
        return None
    try:
        async with opened(services, sink.name, sink.kind, sink.options, prepares=False) as (made, fence):
            return await sink.kind.server_id(made, fence)
    except HeadwaterError:
        return None
