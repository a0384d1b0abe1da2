"""Versions that were kept for as long as the settings say; each batch is a transaction of its own."""

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")

BATCH = 1_000


async def forget_old_versions(database: Database, days: int | None, batch: int = BATCH) -> int:
    """Former versions of documents; how many there were."""
    return await _in_batches(database, queries.forget_old_versions, days, batch)


async def _in_batches(database: Database, query: str, days: int | None, batch: int) -> int:
    """Without a number of days nothing is ever too old."""
    count = 0
    while days is not None and (forgotten := int((await database.execute(query, days, batch)).split()[-1])):
        count += forgotten
    return count
