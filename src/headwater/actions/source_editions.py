"""Which edition of a source somebody has read, so that no save undoes what another person changed meanwhile."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.discover.exporting import rows_of, sources_rendered
from headwater.editions import KnownEditions, edition_of, require_known
from headwater.reports.discovery import DiscoveryOverview
from headwater.sources.finding import external_ids_of
from headwater.sources.source import Source
from headwater.sources.store import ChannelState, channels_of, events_of, lock_source

# Of its trail: what a person, or we, changed of it.
CHANGES = ("source_", "channel_added", "channel_disabled", "channel_moved")
LOOKED_BACK = 20


def settings_of(
    source: Source, channels: Sequence[ChannelState], external_ids: tuple[str, ...], *, is_rendered: bool
) -> list[Any]:
    """All that an export of it says: what a person can set, and nothing of what its polls have said. Pure."""
    return list(rows_of(source, channels, external_ids=external_ids, is_rendered=is_rendered))


def edition_of_source(overview: DiscoveryOverview, external_ids: tuple[str, ...], *, is_rendered: bool) -> str:
    """Pure."""
    return edition_of(settings_of(overview.source, overview.channels, external_ids, is_rendered=is_rendered))


async def require_source_known(connection: Connection, source_id: UUID, known: KnownEditions) -> None:
    """Raises Outdated. The source is locked from here on, so that of two saves at once the second one is refused."""
    if known is None:
        return
    source = await lock_source(connection, source_id)
    channels = (await channels_of(connection, [source_id]))[source_id]
    ids = (await external_ids_of(connection, [source_id])).get(source_id, ())
    rendered = await sources_rendered(connection, [source])
    settings = settings_of(source, channels, ids, is_rendered=source_id in rendered)
    require_known(known, settings, source.name, await last_change_of(connection, source_id))


async def last_change_of(connection: Connection | Database, source_id: UUID) -> str:
    """A sentence without its stop; empty where its trail tells none."""
    events = await events_of(connection, source_id, LOOKED_BACK)
    last = next((one for one in events if one.event.kind.startswith(CHANGES)), None)
    return f"{last.event.message}, by {last.event.actor} at {last.at:%H:%M:%S} UTC" if last else ""
