"""A takedown with everything it means: nothing is visited any more, and what was kept goes."""

from typing import NamedTuple

from headwater.archive.withdrawing import withdraw_where
from headwater.database.pool import Database
from headwater.frontier.entry import DeadReason
from headwater.frontier.takedowns import hosts_of, take_down
from headwater.politeness.takedown import Takedown


class TakenDown(NamedTuple):
    entries: int
    documents: int


async def take_down_everywhere(database: Database, takedown: Takedown, reason: str = "") -> TakenDown:
    """Entries first: a page that is being fetched meanwhile meets the takedown before its next request."""
    entries = await take_down(database, takedown, reason)
    documents = 0
    async for host in hosts_of(database, takedown):
        documents += await withdraw_where(database, host, takedown.covers, DeadReason.TAKEDOWN)
    return TakenDown(entries, documents)
