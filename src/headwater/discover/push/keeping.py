"""Small work around pushes; each piece bears being done by several at once."""

from datetime import timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.discover.push")

# What a poll finds in any case.
KEPT_FOR = timedelta(days=1)


async def look_after_quiet(database: Database) -> None:
    """Trusted hubs that say nothing for too long: their channels are polled."""
    await database.execute(queries.look_after_quiet)


async def forget_pushes(database: Database) -> None:
    """Those that nobody read, in batches."""
    while int((await database.execute(queries.forget_pushes, KEPT_FOR)).split()[-1]):
        pass
