"""A common pace for names that stand at one address: many names of one machine are not asked as if they were many."""

from datetime import datetime, timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.politeness")

# With more names than these, an address has a pace of its own.
MOST_NAMES = 20
# So many domains that answer are no single machine's: a shared host, or a network that delivers for others.
SHARED_FROM = 50
BATCH = 500


async def pace_addresses(database: Database, pace: timedelta, now: datetime | None = None) -> int:
    """Give each name of a crowded address its part of the common pace; how many were changed.

    The waits lie a pace apart, so that names whose time is over do not all come at once.
    """
    while await database.fetchval(queries.weigh_addresses, MOST_NAMES, SHARED_FROM, BATCH) == BATCH:
        pass
    rows = await database.fetch(queries.crowded_hosts, round(pace.total_seconds() * 1000), now)
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        await database.execute(
            queries.pace_hosts,
            [row["bucket"] for row in batch],
            [row["host"] for row in batch],
            [row["delay_ms"] for row in batch],
            [pace * row["place"] for row in batch],
            now,
        )
    return len(rows)


async def answering_domains(database: Database, address: str) -> int:
    count: int = await database.fetchval(queries.answering_domains, address)
    return count
