"""Taking down and lifting, with what follows for hosts and entries."""

from collections.abc import AsyncIterator
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound
from headwater.frontier.control import FOR_EVER, WAITING, end_where
from headwater.frontier.entry import DeadReason, Status
from headwater.politeness.hosts import close_host
from headwater.politeness.takedown import Takedown

queries = load_queries("headwater.politeness")


async def take_down(database: Database, takedown: Takedown, reason: str = "") -> int:
    """Recorded first, so that nothing new gets in; then what it covers is closed and ended. Returns how many ended.

    A submit that judged before and commits after is caught by the check before each request.
    """
    await database.execute(queries.add_takedown, takedown.name, takedown.domain, takedown.key_prefix, reason or None)
    count = 0
    async for host in hosts_of(database, takedown):
        if takedown.key_prefix is None:
            await close_host(database, host, "takedown", FOR_EVER)
        count += await end_where(database, host, takedown.covers, DeadReason.TAKEDOWN, (*WAITING, Status.FETCHED))
    return count


async def lift(database: Database, takedown: Takedown) -> None:
    """Open the hosts again. What was ended stays ended until a person revives it."""
    if await database.fetchrow(queries.remove_takedown, takedown.name) is None:
        raise NotFound(f"{takedown.name} is not taken down.", fix="`headwater takedown list` shows what is.")
    await database.execute(queries.want_refused_again, takedown.domain)
    if takedown.key_prefix is None:
        async for host in hosts_of(database, takedown):
            await close_host(database, host, "takedown", None)


async def list_takedowns(database: Database) -> list[Any]:
    return await database.fetch(queries.list_takedowns)


async def hosts_of(database: Database, takedown: Takedown) -> AsyncIterator[str]:
    for row in await database.fetch(queries.hosts_within_domain, takedown.domain):
        if takedown.key_prefix is None or row["host"] == takedown.domain:
            yield row["host"]
