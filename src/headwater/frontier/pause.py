"""The pause of everything: while it is set nothing is leased, so that nothing is polled or fetched."""

from dataclasses import dataclass
from datetime import datetime

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import Refused
from headwater.storable import cut_text, storable

queries = load_queries("headwater.frontier")

LONGEST_REASON = 500
RESUME = "headwater crawl resume"


@dataclass(frozen=True, slots=True)
class CrawlPause:
    since: datetime
    set_by: str
    reason: str

    @property
    def sentence(self) -> str:
        """For people, without the way to lift it."""
        why = f" ({self.reason})" if self.reason else ""
        return f"everything is paused by {self.set_by}{why}, since {self.since:%Y-%m-%d %H:%M} UTC"

    @property
    def with_fix(self) -> str:
        return f"{self.sentence}; resume: {RESUME}"


async def read_pause(database: Connection | Database) -> CrawlPause | None:
    row = await database.fetchrow(queries.read_pause)
    return CrawlPause(**dict(row)) if row else None


async def require_not_paused(database: Connection | Database) -> None:
    """Raises Refused while everything is paused: nothing would be leased."""
    if pause := await read_pause(database):
        said = pause.sentence
        raise Refused(f"{said[0].upper()}{said[1:]}. Nothing is polled.", fix=f"Resume it: {RESUME}")


async def set_pause(connection: Connection, actor: str, reason: str) -> bool:
    """Whether it was not set before. What is under way ends; nothing new begins."""
    said = cut_text(storable(reason), LONGEST_REASON)
    return bool(await connection.fetchval(queries.set_pause, actor, said))


async def lift_pause(connection: Connection) -> bool:
    """Whether it was set; workers look within seconds."""
    return bool(await connection.fetchval(queries.lift_pause))
