"""The pause of everything: while it is set nothing is leased, so that nothing is polled or fetched."""

from dataclasses import dataclass
from datetime import datetime

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.storable import cut_text, storable

queries = load_queries("headwater.frontier")

LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class CrawlPause:
    since: datetime
    set_by: str
    reason: str


async def read_pause(database: Connection | Database) -> CrawlPause | None:
    row = await database.fetchrow(queries.read_pause)
    return CrawlPause(**dict(row)) if row else None


async def set_pause(connection: Connection, actor: str, reason: str) -> bool:
    """Whether it was not set before. What is under way ends; nothing new begins."""
    said = cut_text(storable(reason), LONGEST_REASON)
    return bool(await connection.fetchval(queries.set_pause, actor, said))


async def lift_pause(connection: Connection) -> bool:
    """Whether it was set; workers look within seconds."""
    return bool(await connection.fetchval(queries.lift_pause))
