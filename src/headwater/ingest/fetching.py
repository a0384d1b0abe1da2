"""Entries as a work source: leases from the frontier, each a journey."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database
from headwater.errors import DatabaseDown, QueryFailed
from headwater.frontier.claim import Claimer, Shares, has_suspects
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.settle import extend, release, release_all_but
from headwater.frontier.verdicts import Dead, HostSaysWait, Postponed, Released, RetryLater
from headwater.frontier.wake import Sleeper
from headwater.ingest.journey import Finished, Journey, log_fields
from headwater.log import Logger


@dataclass(frozen=True, slots=True)
class Fetching:
    database: Database
    claimer: Claimer
    sleeper: Sleeper
    journey: Journey
    shares: Shares
    on_finished: Callable[[Finished], None]
    heart: Heartbeat | None = None

    async def claim(self, most: int) -> tuple[Sequence[Lease], timedelta | None]:
        claimed = await self.claimer.claim(most, allowance=self.shares.next_allowance())
        for lease in claimed.leases:
            self.shares.take(lease)
        if claimed.leases:
            # Leases that are held are worked on, whatever becomes of this: what was not read now is read later.
            with suppress(DatabaseDown, QueryFailed):
                await self.journey.page_reader.expect(claimed.leases)
        return claimed.leases, claimed.come_back_in

    async def claim_alone(self) -> Lease | None:
        """An entry whose worker died."""
        return await self.claimer.claim_suspect()

    async def has_lonely_work(self) -> bool:
        return await has_suspects(self.database)

    async def work(self, lease: Lease) -> None:
        try:
            on_finished = await self.journey.travel(lease)
            log_page(self.journey.log, on_finished)
            self.on_finished(on_finished)
        finally:
            self.shares.give_back(lease)
            self.journey.page_reader.forget(lease)

    async def extend(self, leases: Sequence[Lease]) -> Collection[UUID]:
        return await extend(self.heart or self.database, leases, self.claimer.lease)

    async def release(self, leases: Sequence[Lease]) -> None:
        await release(self.database, leases)

    async def release_all_but(self, held: Collection[UUID]) -> None:
        await release_all_but(self.database, self.claimer.owner, held)

    async def rest(self, come_back_in: timedelta | None) -> None:
        await self.sleeper.sleep(come_back_in)

    def named(self, lease: Lease) -> dict[str, Any]:
        return log_fields(lease)


def log_page(log: Logger, on_finished: Finished) -> None:
    """One line per page. Waits are many and mean nothing; that robots.txt forbids a page is worth a warning."""
    lease, visit, verdict = on_finished.lease, on_finished.visit, on_finished.verdict
    line = {
        "source": str(lease.source_id),
        "host": lease.host,
        "url": lease.url,
        "verdict": type(verdict).__name__ if verdict else "LeaseLost",
        "status": visit.status,
        "duration_ms": visit.milliseconds,
    }
    match verdict:
        case None | Postponed() | Released() | HostSaysWait():
            log.debug("page_waits", **line)
        case Dead(DeadReason.ROBOTS_BLOCKED, detail):
            log.warning("robots_disallow", **line, why=detail)
        case Dead(reason, detail) | RetryLater(reason, detail):
            log.info("page_failed", **line, reason=str(reason), why=detail)
        case _:
            log.info(
                "page_fetched",
                **line,
                documents=int(on_finished.effects.document is not None),
                jobs=len(on_finished.effects.jobs),
            )
