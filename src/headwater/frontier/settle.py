"""Ending leases and slots: fenced by their tokens, in the caller's transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.frontier.entry import Lease
from headwater.politeness.slots import Settlement, Slot

queries = load_queries("headwater.frontier")


async def settle(
    connection: Connection | Database, settlements: Sequence[Settlement], now: datetime | None = None
) -> frozenset[UUID]:
    """The tokens that still held. For any other token nothing was changed: drop what was done under it."""
    return frozenset(await connection.fetchval(queries.settle_requests, settlements, now))


async def release(database: Database, leases: Sequence[Lease], now: datetime | None = None) -> None:
    """Give back what was not worked on: each entry is as it was, and nothing is held against it."""
    given_back = [
        Settlement(one.bucket, one.token, one.host, "released", resume_url=one.resume_url, hops=one.hops)
        for one in leases
    ]
    await settle(database, given_back, now)


async def release_all_but(database: Database, owner: str, held: Collection[UUID], now: datetime | None = None) -> int:
    """Give back every lease of an owner except these: how many there were that it did not know of."""
    found: int = await database.fetchval(queries.release_all_but, owner, list(held), now)
    return found


async def extend(
    database: Database | Heartbeat, leases: Sequence[Lease | Slot], lease: timedelta, now: datetime | None = None
) -> frozenset[UUID]:
    """A heartbeat: the tokens that hold, also where a row is locked. Work under any other is lost and must stop."""
    if lease <= timedelta():
        raise UsageError(f"A lease cannot be extended by {lease}.", fix="Give a positive duration.")
    buckets = [one.bucket for one in leases]
    tokens = [one.token for one in leases]
    return frozenset(await database.fetchval(queries.extend_leases, buckets, tokens, lease, now))
