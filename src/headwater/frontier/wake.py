"""Workers that sleep until a submit wakes them: a hint that saves a second, never a promise."""

from dataclasses import dataclass
from datetime import timedelta

from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.frontier")

CHANNEL = "headwater_work"
# Below this a sleeper is back before a notice would reach it.
WORTH_A_NOTICE = timedelta(milliseconds=200)


@dataclass(slots=True)
class Sleeper:
    """Sleeps until told to come back, until woken, or for `longest`: whichever is first."""

    database: Database
    listener: Listener
    owner: str
    longest: timedelta

    async def sleep(self, come_back_in: timedelta | None) -> None:
        wait = min(self.longest, come_back_in if come_back_in is not None else self.longest)
        if wait >= WORTH_A_NOTICE:
            await self.database.execute(queries.fall_asleep, self.owner, wait)
        await self.listener.wait(wait.total_seconds())
