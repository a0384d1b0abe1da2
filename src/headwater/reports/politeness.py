"""Did we keep our word? Judged from the fetch log, host by host."""

from dataclasses import dataclass
from datetime import timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.reports")

# Start times are our own account of when a request began; a server sees it this much earlier or later.
TOLERANCE = timedelta(milliseconds=5)
PATIENCE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class HostGap:
    host: str
    requests: int
    smallest_gap: timedelta
    delay: timedelta

    @property
    def is_broken(self) -> bool:
        return self.smallest_gap < self.delay - TOLERANCE


@dataclass(frozen=True, slots=True)
class AddressLoad:
    """Requests to one address under all its names; of those under its own pace the most in one minute."""

    address: str
    names: int
    requests: int
    most_in_a_second: int
    paced_in_a_minute: int

    def is_broken(self, pace: timedelta) -> bool:
        """Names take their turns by their own clocks: within a factor of two is what is promised."""
        return bool(pace) and self.paced_in_a_minute > 2 * max(timedelta(minutes=1) / pace, 1)


async def busiest_addresses(database: Database, since: timedelta, limit: int = 20) -> list[AddressLoad]:
    async with database.transaction(readonly=True, patience=PATIENCE_SECONDS) as connection:
        rows = await connection.fetch(queries.busiest_addresses, since, limit, timeout=PATIENCE_SECONDS)
    return [AddressLoad(*(row[name] for name in AddressLoad.__slots__)) for row in rows]


async def smallest_gaps(database: Database, since: timedelta, limit: int = 20) -> list[HostGap]:
    """The hosts whose requests came closest to their delay, worst first."""
    async with database.transaction(readonly=True, patience=PATIENCE_SECONDS) as connection:
        rows = await connection.fetch(queries.smallest_gaps, since, limit, timeout=PATIENCE_SECONDS)
    return [HostGap(row["host"], row["requests"], row["smallest_gap"], row["delay"]) for row in rows]
