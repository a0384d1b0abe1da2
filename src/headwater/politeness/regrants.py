"""Further slots for a place already held, and its end."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.politeness.settlement import Settlement, Visit
from headwater.politeness.slots import REACH, NotBefore
from headwater.politeness.window import Lag, StartWindow, start_window_for

queries = load_queries("headwater.politeness")


@dataclass(frozen=True, slots=True)
class Regranter:
    database: Database
    clock: Clock
    lease: timedelta
    lag: Lag = field(default_factory=Lag)

    async def regrant(self, bucket: int, token: UUID, past: Visit) -> StartWindow | NotBefore:
        """`past` is the request that has just ended in this place; it is written down. `why` may be lost."""
        slack = self.lag.slack
        async with self.database.borrowed() as connection:
            asked_at = self.clock.monotonic()
            row = await connection.fetchrow(
                *queries.regrant_slot(
                    bucket=bucket,
                    token=token,
                    lease=self.lease,
                    reach=REACH,
                    verdict="went_on",
                    status=past.status,
                    body_bytes=past.body_bytes,
                    started_after=past.started_after,
                    duration_ms=past.milliseconds,
                    kind=past.kind,
                    slack=slack,
                    now=None,
                )
            )
            answered_at = self.clock.monotonic()
        self.lag.heard(asked_at, answered_at)
        assert row is not None
        if row["why"] is not None:
            return NotBefore(row["not_before"] or timedelta(), row["why"])
        return start_window_for(asked_at, answered_at, row["wait"], self.lease, is_alone=row["is_alone"], slack=slack)

    async def end(self, settlement: Settlement) -> None:
        await self.database.fetchval(queries.end_slots, [settlement], None)
