"""Requests made at once in a place already held, each put on the host's account: what a rendered page asks for."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.politeness.settlement import Visit
from headwater.politeness.slots import NotBefore
from headwater.politeness.window import LEASE_MARGIN, StartWindow, start_window_for

queries = load_queries("headwater.politeness")


@dataclass(slots=True)
class Charges:
    """Gives a held slot its slots like a Regranter, but without a wait, and no more than `most`."""

    database: Database
    clock: Clock
    most: int
    made: int = field(default=0, init=False)
    _granted_at: datetime | None = field(default=None, init=False)

    async def regrant(self, bucket: int, token: UUID, past: Visit) -> StartWindow | NotBefore:
        """Charged before it is sent: not even a crash makes a request free. `why` may be lost, closed or spent."""
        if self.made >= self.most:
            await self.note(bucket, token, past)
            return NotBefore(timedelta(), "spent")
        asked_at = self.clock.monotonic()
        row = await self._charge(bucket, token, 1, past)
        if row["why"] is not None:
            return NotBefore(row["not_before"] or timedelta(), row["why"])
        self.made += 1
        self._granted_at = row["granted_at"]
        # The place is ours until its lease ends, whoever else is at the host.
        return start_window_for(asked_at, self.clock.monotonic(), timedelta(), row["lasts"], is_alone=True)

    async def note(self, bucket: int, token: UUID, past: Visit) -> None:
        """Write the last request down, where no other follows that would do it."""
        await self._charge(bucket, token, 0, past)

    async def _charge(self, bucket: int, token: UUID, count: int, past: Visit) -> Any:
        started_at = None
        if self._granted_at is not None and past.started_after is not None:
            started_at = self._granted_at + past.started_after
        row = await self.database.fetchrow(
            *queries.charge_slots(
                bucket=bucket,
                token=token,
                count=count,
                margin=LEASE_MARGIN,
                started_at=started_at,
                duration_ms=past.milliseconds,
                status=past.status,
                body_bytes=past.body_bytes,
                kind=past.kind,
                now=None,
            )
        )
        assert row is not None
        return row
