"""The right to start one request to a host, for everything that is not an entry of the frontier.

Slots live in the host's row in PostgreSQL, so no second process and no crash can break a host's delay.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.politeness.window import Lag, StartWindow, start_window_for
from headwater.urls.domains import registrable_domain
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.politeness")

# Further ahead nothing is granted: the work goes back with a time, and the host is free for others.
REACH = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Slot:
    bucket: int
    host: str
    token: UUID
    window: StartWindow


@dataclass(frozen=True, slots=True)
class NotBefore:
    """No slot now; ask again after the wait. `why` is closed, full, delay, or turn: a claim's."""

    wait: timedelta
    why: str


@dataclass(frozen=True, slots=True)
class SlotKeeper:
    database: Database
    clock: Clock
    owner: str
    lease: timedelta
    default_delay: timedelta
    lag: Lag = field(default_factory=Lag)

    async def ask(self, host: str, kind: str, now: datetime | None = None) -> Slot | NotBefore:
        """One question, one answer, no waiting; the connection is free again at once."""
        slack = self.lag.slack
        async with self.database.borrowed() as connection:
            # With the connection in hand: the wait for one says nothing about when the slot was granted.
            asked_at = self.clock.monotonic()
            row = await connection.fetchrow(
                *queries.reserve_slot(
                    bucket=bucket_of(host),
                    host=host,
                    kind=kind,
                    owner=self.owner,
                    lease=self.lease,
                    reach=REACH,
                    default_delay_ms=round(self.default_delay.total_seconds() * 1000),
                    slack=slack,
                    now=now,
                    domain=registrable_domain(host),
                )
            )
            answered_at = self.clock.monotonic()
        self.lag.heard(asked_at, answered_at)
        assert row is not None
        if row["token"] is None:
            return NotBefore(row["not_before"], row["why"])
        window = start_window_for(asked_at, answered_at, row["wait"], self.lease, is_alone=row["is_alone"], slack=slack)
        return Slot(bucket_of(host), host, row["token"], window)

    async def reserve(self, host: str, kind: str) -> Slot | NotBefore:
        """Wait for a slot up to the reach, holding no connection; beyond it, the time to come back at."""
        deadline = self.clock.monotonic() + REACH.total_seconds()
        while True:
            answer = await self.ask(host, kind)
            if isinstance(answer, Slot):
                await self.clock.sleep(max(0.0, answer.window.earliest - self.clock.monotonic()))
                return answer
            wait = answer.wait.total_seconds()
            if self.clock.monotonic() + wait > deadline:
                return answer
            await self.clock.sleep(wait)
