"""The right to start a request to a host, from its grant to its end.

Slots live in the host's row in PostgreSQL, so no second process and no crash can break a host's delay. A slot is
granted with a window in which its request may start (`StartWindow`), reserved by what is no entry of the frontier
(`SlotKeeper`), granted again for the next request in the same place (`Regranter`, `Charges`) and ended (`Settlement`).
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.urls.domains import registrable_domain
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.politeness")

# What a request says of its host: it answered well, nothing, it asked us to slow down, it could not be reached.
HOST_OK, HOST_UNJUDGED, HOST_SAID_SLOW_DOWN, HOST_UNREACHABLE = -1, 0, 1, 2
# Further ahead nothing is granted: the work goes back with a time, and the host is free for others.
REACH = timedelta(seconds=10)
# Slots are granted this much further apart than the delay: the way from a grant to an actual start is not instant.
SLACK = timedelta(milliseconds=30)
# A lease is not begun in its last moments: the process that takes it back must not meet our request.
LEASE_MARGIN = timedelta(seconds=5)
LEASE_MARGIN_S = LEASE_MARGIN.total_seconds()

# A process that is later than this is not helped by waiting any longer: it has to be given less to do.
WIDEST_SLACK = timedelta(seconds=2)
# Answers that are heard sooner leave enough of the slack.
CALM_S = 0.010
NOT_LATE = timedelta()


class StartWindow(NamedTuple):
    earliest: float
    latest: float
    slot_at: float  # the earliest that the granted moment itself can have been

    def allows(self, moment: float) -> bool:
        return self.earliest <= moment <= self.latest

    def lateness(self, started: float) -> timedelta:
        """How long after the granted moment a request began, at the most."""
        late = started - self.slot_at
        return timedelta(0, late) if late > 0 else NOT_LATE


def start_window_for(
    asked_at: float,
    answered_at: float,
    wait: timedelta,
    lease: timedelta,
    *,
    is_alone: bool,
    slack: timedelta = SLACK,
) -> StartWindow:
    """The grant happened between question and answer: not before the latest it can have been, not after the earliest.

    Alone on its host a request may start late, since nobody else can start before it is settled, and then the next
    slot counts from its real start. Beside others it has only the slack that was asked for with its slot. Nobody starts
    in the last moments of a lease.
    """
    earliest = wait.total_seconds()
    latest = lease.total_seconds() - LEASE_MARGIN_S
    if not is_alone:
        latest = min(earliest + slack.total_seconds(), latest)
    return StartWindow(answered_at + earliest, asked_at + latest, asked_at + earliest)


@dataclass(slots=True)
class Lag:
    """How late this process comes to what it waits for, seen from how long answers of the database take to be heard."""

    seconds: float = 0.0

    def heard(self, asked_at: float, answered_at: float) -> None:
        # A bad moment is remembered for a while: the next one would cost a slot again.
        self.seconds = max(answered_at - asked_at, self.seconds * 0.9)

    @property
    def slack(self) -> timedelta:
        """How wide a window must be not to be missed: room to hear of it, and to wake up when it opens."""
        if self.seconds <= CALM_S:
            return SLACK
        return min(SLACK + timedelta(seconds=2 * self.seconds), WIDEST_SLACK)


# Not frozen, though nobody changes one: every request makes one, and a frozen one costs three times as much to make.
@dataclass(slots=True)
class Visit:
    """The request itself, for the fetch log."""

    started_after: timedelta | None = None  # after the grant; None: it never began
    duration: timedelta | None = None
    status: int | None = None
    body_bytes: int | None = None
    kind: str | None = None  # page, robots, feed …; None: what the slot was given for
    address: str | None = None  # of its machine, where it is known
    sent_from: str | None = None  # the address of ours that it left from

    @property
    def milliseconds(self) -> int | None:
        return None if self.duration is None else round(self.duration.total_seconds() * 1000)


class Settlement(NamedTuple):
    """One row for the database's `settle_requests`; the order of fields is that of its type `settlement`."""

    bucket: int
    token: UUID
    host: str
    verdict: str
    status: str | None = None
    next_fetch_in: timedelta | None = None
    counts_as_failure: bool = False
    reason: str | None = None
    last_error: str | None = None
    http_status: int | None = None
    body_bytes: int | None = None
    started_after: timedelta | None = None
    duration_ms: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    content_hash: bytes | None = None
    fetch_url: str | None = None
    resume_url: str | None = None
    hops: int | None = None
    moved_to: str | None = None
    revisit_in: timedelta | None = None
    close_for: timedelta | None = None
    close_reason: str | None = None
    host_feedback: int = HOST_UNJUDGED
    kind: str | None = None
    address: str | None = None
    sent_from: str | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    bucket: int
    host: str
    token: UUID
    window: StartWindow


class NoSlot(StrEnum):
    """Why there is no slot now."""

    CLOSED = "closed"  # the host, for one of its reasons
    FULL = "full"  # as many requests as it may have are under way
    DELAY = "delay"
    TURN = "turn"  # a claim's
    LOST = "lost"  # the held slot is another process's by now
    SPENT = "spent"  # a rendered page has asked for enough
    ADDRESS = "address"  # too many names stand at its address


@dataclass(frozen=True, slots=True)
class NotBefore:
    """No slot now; ask again after the wait."""

    wait: timedelta
    why: NoSlot
    detail: str = ""

    @property
    def reason(self) -> str:
        """For people and logs."""
        return self.detail or self.why


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
            return NotBefore(row["not_before"], NoSlot(row["why"]))
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
                    sent_from=past.sent_from,
                    slack=slack,
                    now=None,
                )
            )
            answered_at = self.clock.monotonic()
        self.lag.heard(asked_at, answered_at)
        assert row is not None
        if row["why"] is not None:
            return NotBefore(row["not_before"] or timedelta(), NoSlot(row["why"]))
        return start_window_for(asked_at, answered_at, row["wait"], self.lease, is_alone=row["is_alone"], slack=slack)

    async def end(self, settlement: Settlement) -> None:
        await self.database.fetchval(queries.end_slots, [settlement], None)


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
            return NotBefore(timedelta(), NoSlot.SPENT)
        asked_at = self.clock.monotonic()
        row = await self._charge(bucket, token, 1, past)
        if row["why"] is not None:
            return NotBefore(row["not_before"] or timedelta(), NoSlot(row["why"]))
        self.made += 1
        self._granted_at = row["granted_at"]
        # The place is ours until its lease ends, whatever other processes do at the host.
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
                sent_from=past.sent_from,
                now=None,
            )
        )
        assert row is not None
        return row
