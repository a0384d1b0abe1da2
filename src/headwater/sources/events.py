"""The trail: what happened to a source or a channel, who did it, and what was before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.sources.exchange.rows import one_line

queries = load_queries("headwater.sources")


class Level(StrEnum):
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is a word programs count by; `message` a sentence for people."""

    kind: str
    message: str
    source_id: UUID | None = None
    channel_id: UUID | None = None
    actor: str = "headwater"
    level: Level = Level.INFO
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Happened:
    id: int
    at: datetime
    event: Event


async def record(connection: Connection | Database, *events: Event) -> None:
    """In the transaction that does what it tells of."""
    for event in events:
        await connection.execute(
            *queries.record_event(
                kind=event.kind,
                level=str(event.level),
                actor=event.actor,
                source_id=event.source_id,
                channel_id=event.channel_id,
                message=one_line(event.message),  # it may quote what a site wrote
                details=dict(event.details),
            )
        )


async def forget_events(database: Database, days: int) -> None:
    """Only what we noted by ourselves: the trail of what people did is kept."""
    await database.execute(queries.forget_events, days)


async def events_of(database: Database, source_id: UUID, limit: int = 50, before: int | None = None) -> list[Happened]:
    """Newest first."""
    return [_happened(row) for row in await database.fetch(queries.events_of_source, source_id, before, limit)]


async def events_since(database: Database, after: int, limit: int = 500) -> list[Happened]:
    """Oldest first, beyond an id seen before: for whoever follows along."""
    return [_happened(row) for row in await database.fetch(queries.events_since, after, limit)]


def _happened(row: Any) -> Happened:
    event = Event(
        row["kind"],
        row["message"],
        row["source_id"],
        row["channel_id"],
        row["actor"],
        Level(row["level"]),
        row["details"],
    )
    return Happened(row["id"], row["at"], event)
