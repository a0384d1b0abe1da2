"""Channels as a trade: due ones are leased, each a poll."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from headwater.clock import Clock
from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.polls.intake import PollLost
from headwater.discover.polls.lease import Leased, leased_from
from headwater.discover.polls.poll import Poll, Ran
from headwater.errors import DatabaseDown, QueryFailed
from headwater.log import Logger

queries = load_queries("headwater.discover")

# What is due and yet was not leased is locked by somebody: asking again at once would only keep both busy.
SHORTEST_REST = timedelta(milliseconds=10)
# Classes of SQLSTATE that say nothing about the channel: rolled back among others, out of resources, stopped.
OUT_OF_LUCK = ("40", "53", "55", "57")


@dataclass(frozen=True, slots=True)
class Polling:
    database: Database
    clock: Clock
    log: Logger
    listener: Listener
    poll: Poll
    owner: str
    lease: timedelta
    tick: timedelta
    told: Callable[[Ran], None]

    async def claim(self, most: int) -> tuple[Sequence[Leased], timedelta | None]:
        """One channel of a host at a time; the longest due first."""
        if not self.poll.settings.enabled:
            return (), None
        now = self.poll.calendar()
        leased_at = self.clock.monotonic()
        ids = [row[0] for row in await self.database.fetch(queries.claim_channels, self.owner, most, self.lease, now)]
        if not ids:
            return (), await self.database.fetchval(queries.next_due, now, self.owner)
        rows = await self.database.fetch(queries.read_leased, ids, self.owner, now)
        return [leased_from(row, leased_at) for row in rows], None

    async def claim_alone(self) -> Leased | None:
        """A channel under suspicion need not be alone: a claim leases one of them at a time."""
        return None

    async def has_lonely_work(self) -> bool:
        return False

    async def work(self, lease: Leased) -> None:
        try:
            ran = await self.poll.run(lease)
        except PollLost:
            self.log.warning("poll_lost", **self.named(lease))
            return
        except DatabaseDown:
            raise
        except Exception as error:
            if isinstance(error, QueryFailed) and error.sqlstate.startswith(OUT_OF_LUCK):
                raise
            self.log.exception("poll_broke", **self.named(lease))
            ran = await self.poll.give_up(lease)
        log_run(self.log, ran)
        self.told(ran)

    async def extend(self, leases: Sequence[Leased]) -> Collection[UUID]:
        tokens = [lease.token for lease in leases]
        return {row["token"] for row in await self.database.fetch(queries.extend_polls, tokens, self.lease)}

    async def release(self, leases: Sequence[Leased]) -> None:
        await self.database.execute(queries.release_polls, [lease.token for lease in leases])

    async def rest(self, come_back_in: timedelta | None) -> None:
        wait = self.tick if come_back_in is None else min(self.tick, max(come_back_in, SHORTEST_REST))
        await self.listener.wait(wait.total_seconds())

    def named(self, lease: Leased) -> dict[str, Any]:
        return {"source": str(lease.source_id), "channel": str(lease.id), "host": lease.url.host}


def log_run(log: Logger, ran: Ran) -> None:
    """One line per run; waits are many and mean nothing, a page that robots.txt forbids is worth a warning."""
    named = {"source": str(ran.channel.source_id), "kind": str(ran.channel.kind), "host": ran.channel.url.host}
    if ran.ending is None:
        log.debug("poll_waits", **named, why=ran.waits.why if ran.waits else "")
        return
    tally, ending = ran.walk.tally, ran.ending
    counts = {name: getattr(tally, name) for name in ("found", "inserted", "updated", "skipped", "errors")}
    told = {**named, **counts, "next_poll_at": ending.next.at.isoformat(), "message": ending.message}
    if ending.next.is_loud:
        log.error("poll_keeps_failing", **told)
    elif ending.status == "ok":
        log.info("polled", **told)
    else:
        log.warning("poll_failed" if ending.status == "fail" else "polled", **told)
