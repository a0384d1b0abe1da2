"""Taking down and lifting, with what follows for hosts and entries."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound
from headwater.frontier.control import BATCH, FOR_EVER, WAITING, EntryKey, change
from headwater.frontier.entry import DeadReason, EntryStatus
from headwater.politeness.hosts import close_host
from headwater.politeness.takedown import Takedown
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.politeness")
frontier_queries = load_queries("headwater.frontier")

# Longer than a transaction may sit idle; a statement may take longer still, and then maintenance finishes it.
PATIENCE = timedelta(seconds=35)


class Ended(NamedTuple):
    """`living` are being fetched right now: they end with their answer."""

    entries: int
    living: int


async def record(database: Database, takedown: Takedown, reason: str) -> None:
    """From here on nothing of it is requested, queued or stored by any transaction that begins."""
    await database.execute(queries.add_takedown, takedown.name, takedown.domain, takedown.key_prefix, reason or None)


async def close_hosts(database: Database, takedown: Takedown) -> None:
    """Of a whole domain. Lifted in the same moment, it leaves none of them closed."""
    if takedown.key_prefix is None:
        await _set_closed(database, takedown, FOR_EVER)
        if not await database.fetchval(queries.is_recorded, takedown.name):
            await _set_closed(database, takedown, None)


async def outlive_earlier(database: Database, patience: timedelta = PATIENCE) -> bool:
    """Wait for transactions that looked before the takedown was recorded; False if one of them took too long."""
    return bool(await database.fetchval(queries.outlive_watchers, patience))


async def entries_of(database: Database, takedown: Takedown) -> AsyncIterator[list[EntryKey]]:
    """Every entry it covers, in batches; each bucket is walked through once, however many hosts it has."""
    rows = [row async for row in _hosts_within(database, takedown)]
    for bucket, group in groupby(rows, key=lambda row: row["bucket"]):
        hosts, after = [row["host"] for row in group], b""
        while page := await database.fetch(frontier_queries.entries_of_hosts, bucket, hosts, after, BATCH):
            after = page[-1]["url_hash"]
            yield [EntryKey(bucket, row["url_hash"]) for row in page if takedown.covers(canonicalise(row["url"]))]


async def end_entries(database: Database, keys: Sequence[EntryKey]) -> Ended:
    before = (*WAITING, EntryStatus.FETCHED)
    ended = await change(database, keys, before=before, status=EntryStatus.DEAD, reason=DeadReason.TAKEDOWN)
    living = await database.fetchval(
        frontier_queries.count_living, [key.bucket for key in keys], [key.url_hash for key in keys]
    )
    return Ended(ended, living)


async def lift(database: Database, takedown: Takedown) -> None:
    """Open the hosts again. What was ended comes back when a channel lists it again, or a person retries it."""
    if await database.fetchrow(queries.remove_takedown, takedown.name) is None:
        raise NotFound(f"{takedown.name} is not taken down.", fix="`headwater takedown list` shows what is.")
    await database.execute(queries.want_refused_again, takedown.domain)
    if takedown.key_prefix is None:
        await _set_closed(database, takedown, None)


async def _set_closed(database: Database, takedown: Takedown, until: datetime | None) -> None:
    async for row in _hosts_within(database, takedown):
        await close_host(database, row["host"], "takedown", until)


async def list_takedowns(database: Database, limit: int, after: str = "") -> list[Any]:
    """By name; `after` is the last one of the page before."""
    return await database.fetch(queries.list_takedowns, after, limit)


async def _hosts_within(database: Database, takedown: Takedown) -> AsyncIterator[Any]:
    for row in await database.fetch(queries.hosts_within_domain, takedown.domain):
        if takedown.key_prefix is None or row["host"] == takedown.domain:
            yield row
