"""A database whose clock is set forward or back: noticed within a second or two, and followed.

Only the database's time decides, and times are written that lie ahead of it. After a step they are wrong by as much: a
clock set back two hours leaves hosts closed for two hours, one set forward ends all leases at once.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headwater.clock import Clock
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.frontier")

BUCKETS = 256
# Less is drift, or a process that was held up; nothing that is granted depends on it.
SMALLEST_STEP = timedelta(seconds=5)
NO_STEP = timedelta()


@dataclass(frozen=True, slots=True)
class ClockLook:
    """One moment by the database's clock and by ours, which only ever goes forward."""

    now: datetime
    moment: float


def step_of(now: datetime, moment: float, seen_at: datetime, last: ClockLook | None) -> timedelta:
    """How far the clock was set since the last look of any process: negative is back. Zero where nothing happened."""
    if seen_at - now >= SMALLEST_STEP:
        return now - seen_at
    if last is None:
        return NO_STEP
    ahead = now - last.now - timedelta(seconds=moment - last.moment)
    # Unless another process has seen it already.
    return ahead if ahead >= SMALLEST_STEP and now - seen_at >= SMALLEST_STEP else NO_STEP


@dataclass(slots=True)
class ClockWatch:
    database: Database
    clock: Clock
    lease: timedelta
    _last: ClockLook | None = field(default=None, init=False)

    async def look(self) -> timedelta:
        """The step that was followed, mostly none. Other processes that look meanwhile wait for its end."""
        # Mostly another process looked a moment ago, and then one statement is enough.
        if now := await self.database.fetchval(queries.pass_on_clock_mark, SMALLEST_STEP):
            self._last = ClockLook(now, self.clock.monotonic())
            return NO_STEP
        async with self.database.transaction() as connection:
            seen_at = await connection.fetchval(queries.hold_clock_mark)
            now, moment = await connection.fetchval(queries.read_clock), self.clock.monotonic()
            step = step_of(now, moment, seen_at, self._last)
            if step:
                await self._follow(step, seen_at, connection)
            await _note(connection, now, seen_at, step)
            self._last = ClockLook(now, moment)
        return step

    async def _follow(self, step: timedelta, seen_at: datetime, connection: Connection) -> None:
        """A transaction for each bucket: its hosts are not held while the others are followed."""
        for bucket in range(BUCKETS):
            if step < NO_STEP:
                await self.database.execute(queries.follow_clock_back, bucket, -step, self.lease)
            else:
                await self.database.execute(queries.follow_clock_ahead, bucket, step, seen_at, self.lease)
            # The session that holds the mark must not seem to have gone to sleep.
            await connection.execute(queries.read_clock)
        if step < NO_STEP:
            await self.database.execute(queries.follow_clock_back_in_channels, -step, self.lease)


async def _note(connection: Connection, now: datetime, seen_at: datetime, step: timedelta) -> None:
    """Not back without a step: of two who look at once the later may have looked first."""
    if step or now > seen_at:
        await connection.execute(queries.note_clock, now)
