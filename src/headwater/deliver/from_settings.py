"""Sinks that settings make: one for each server they name, which follows its setting at each start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.deliver import store
from headwater.log import Logger
from headwater.settings.groups import DeliverSettings

queries = load_queries("headwater.deliver")


@dataclass(frozen=True, slots=True)
class SinkBySetting:
    """The name is also its type; `setting` is the one that makes it, and holds its address."""

    name: str
    setting: str
    options: Mapping[str, Any]


def sinks_by_settings(settings: DeliverSettings) -> list[SinkBySetting]:
    """Addresses and keys stay in the settings: options only name them."""
    wanted = []
    if settings.elasticsearch_url:
        address = "deliver.elasticsearch_url"
        wanted.append(SinkBySetting("elasticsearch", address, {"url": f"setting:{address}"}))
    if settings.meili_url:
        address = "deliver.meili_url"
        key = {"api_key": "setting:deliver.meili_key"} if settings.meili_key else {}
        options = {"url": f"setting:{address}", "jobs_index": settings.meili_jobs_index, "documents_index": "", **key}
        wanted.append(SinkBySetting("meilisearch", address, options))
    return wanted


async def follow_settings(database: Database, settings: DeliverSettings, log: Logger) -> None:
    """A new one is filled from the archive; one whose setting is gone stays as it is, and says so when it is down."""
    standing = {sink.name: sink for sink in await store.list_sinks(database)}
    for wanted in sinks_by_settings(settings):
        known = standing.get(wanted.name)
        if known is None:
            async with database.transaction() as connection:
                await _add(connection, wanted)
            log.info("sink_added", sink=wanted.name, setting=wanted.setting)
        elif known.set_by is not None and dict(known.options) != dict(wanted.options):
            await database.execute(*queries.change_sink(id=known.id, type=wanted.name, options=dict(wanted.options)))
            log.info("sink_changed", sink=wanted.name, setting=wanted.setting)


async def _add(connection: Connection, wanted: SinkBySetting) -> None:
    """Two processes may start at once: the second finds it there."""
    added = await connection.fetchval(
        *queries.add_sink(
            name=wanted.name, type=wanted.name, options=dict(wanted.options), view_id=None, set_by=wanted.setting
        )
    )
    if added is not None:
        await store.ask_backfill(connection, added, "it is new")
