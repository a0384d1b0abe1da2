"""History tables are kept by day: days ahead are made early, days past retention are dropped whole."""

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.database")

HISTORY = ("fetch_log", "runs", "raw_bodies")
DAYS_AHEAD = 16
PATIENCE_SECONDS = 3600


async def ensure_days(database: Database) -> None:
    """Where maintenance has not run for weeks, whoever starts makes the days it is going to write."""
    for table in HISTORY:
        await database.fetchval(queries.ensure_days, table, DAYS_AHEAD)


async def keep_days(database: Database, table: str, retention_days: int) -> list[str]:
    """Make the days ahead, drop those past retention; returns what was dropped."""
    await database.fetchval(queries.ensure_days, table, DAYS_AHEAD)
    dropped = []
    for row in await database.fetch(queries.old_days, table, retention_days):
        # Detached first and without blocking: dropping a partition in place stalls every writer while a reader is open.
        parent, day = database.qualified(table), database.qualified(row["name"])
        await database.execute_patiently(f"ALTER TABLE {parent} DETACH PARTITION {day} CONCURRENTLY", PATIENCE_SECONDS)
        await database.execute(f"DROP TABLE {row['name']}")
        dropped.append(row["name"])
    return dropped
