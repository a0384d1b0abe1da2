"""How many channels are pushed, for people."""

from dataclasses import dataclass
from datetime import datetime

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.reports")

MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class PushSummary:
    """Channels, each counted up to MOST_COUNTED."""

    named: int  # whose answers name a hub
    subscribed: int
    trusted: int  # pushed so well that polls are for safety
    last_push_at: datetime | None

    @property
    def is_cut(self) -> bool:
        return self.named >= MOST_COUNTED


async def push_summary(database: Connection | Database) -> PushSummary:
    row = await database.fetchrow(queries.push_summary, MOST_COUNTED)
    assert row is not None
    return PushSummary(**dict(row))
