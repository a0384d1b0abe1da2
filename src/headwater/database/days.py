"""History tables are kept by day: days ahead are made early, days past retention are dropped whole.

Rows of a day that nobody made are in the default partition: work goes on, and retention looks there too.
"""

from datetime import UTC, datetime

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import QueryFailed

queries = load_queries("headwater.database")

HISTORY = ("fetch_log", "runs", "raw_bodies", "changes")
DAYS_AHEAD = 16
# Maintenance keeps more: with fewer it has not come by for days, and any role makes them.
FEWEST_DAYS = DAYS_AHEAD // 2
# How long dropping a day may keep writers waiting, and how many rows are deleted at once.
LOCK_SECONDS = 2
BATCH = 1_000
NOTED_AT_ONCE = 20_000
# Rows of one day that are moved from the default partition while their writers wait; bodies are large.
MOST_MOVED = {"raw_bodies": 300}
MOST_MOVED_ELSEWHERE = 10_000
LOCK_NOT_AVAILABLE = "55P03"


async def ensure_days(database: Database) -> None:
    """Where maintenance has not run for weeks, a starting role makes the days it is going to write."""
    for table in HISTORY:
        await make_days(database, table)


async def make_days(database: Database, table: str) -> None:
    """Sessions in the way are left alone: until the next try rows go to the default partition."""
    try:
        most = MOST_MOVED.get(table, MOST_MOVED_ELSEWHERE)
        await database.fetchval(queries.ensure_days, table, DAYS_AHEAD, most)
    except QueryFailed as error:
        if error.sqlstate != LOCK_NOT_AVAILABLE:
            raise


async def days_ahead(database: Database) -> dict[str, int]:
    """Whole days after today that have a partition, by table."""
    return {row["name"]: row["days"] for row in await database.fetch(queries.days_ahead, list(HISTORY))}


async def keep_days(database: Database, table: str, retention_days: int) -> list[str]:
    """Make the days ahead, drop those past retention; returns what was dropped."""
    await make_days(database, table)
    dropped = []
    for row in await database.fetch(queries.old_days, table, retention_days):
        if not await _dropped(database, row["name"]):
            break
        dropped.append(row["name"])
    while await database.fetchval(queries.forget_in_default, table, retention_days, BATCH) == BATCH:
        pass
    return dropped


async def _note_bodies_of(connection: Connection, day: str) -> None:
    """Dropping a day runs no trigger: what its rows refer to outside is noted beforehand, and stands with the drop."""
    last = None
    on = datetime.strptime(day[-8:], "%Y%m%d").replace(tzinfo=UTC).date()
    while last := await connection.fetchval(queries.note_bodies_of_day, on, last, NOTED_AT_ONCE):
        pass


async def _dropped(database: Database, day: str) -> bool:
    """False where a reader is in the way: everybody would wait behind us, so the next round tries again.

    A table that has a default partition gives up its others in no gentler way.
    """
    try:
        async with database.transaction() as connection:
            if day.startswith("raw_bodies_"):
                await _note_bodies_of(connection, day)
            await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS * 1000:.0f}ms'")
            await connection.execute(f"DROP TABLE IF EXISTS {day}")
    except QueryFailed as error:
        if error.sqlstate != LOCK_NOT_AVAILABLE:
            raise
        return False
    return True
