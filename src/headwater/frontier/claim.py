"""Leases on due entries: hosts first, one round trip, and when to come back if there is nothing.

How much of one worker may be busy for one registrable domain, one source and hosts in doubt is decided here (`Shares`).
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.politeness.slots import LEASE_MARGIN, start_window_for

queries = load_queries("headwater.frontier")

LARGEST_BATCH = 1_000
# How long a claim trusts where the last one found its first open host. Then it looks from the beginning again, so that
# a host left behind by a transaction that ended late is found.
MARKS_HOLD = timedelta(seconds=10)
# A busy worker still meets a new publisher: at every so many claims one host in doubt comes first.
DOUBTED_EVERY = 8
Owner = TypeVar("Owner")


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much the next claim may take. Owners that have their share are served when nobody else waits."""

    doubted: int
    doubted_first: int
    full_domains: tuple[str, ...] = ()
    full_sources: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Claimed:
    """`come_back_in` None: nothing is waiting anywhere, or all of it on hosts that are full or closed for good."""

    leases: list[Lease]
    come_back_in: timedelta | None


@dataclass(slots=True)
class Claimer:
    """Claims for one owner. `now` stands in for the database's clock in tests."""

    database: Database
    clock: Clock
    owner: str
    lease: timedelta
    bucket: int | None = None
    _marks: list[datetime] | None = field(default=None, init=False)
    _marked_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        if self.lease <= LEASE_MARGIN:
            raise UsageError(f"A lease of {self.lease} is too short.", fix=f"Give more than {LEASE_MARGIN}.")

    async def claim(self, limit: int, now: datetime | None = None, allowance: Allowance | None = None) -> Claimed:
        """Without an allowance everything open may be taken; hosts that answer come first all the same."""
        if not 1 <= limit <= LARGEST_BATCH:
            raise UsageError(f"A claim of {limit} entries is not possible.", fix=f"Ask for 1 to {LARGEST_BATCH}.")
        allowed = allowance or Allowance(limit, 0)
        async with self.database.borrowed() as connection:
            # With the connection in hand: the wait for one says nothing about when the slots were granted.
            asked_at = self.clock.monotonic()
            if asked_at - self._marked_at > MARKS_HOLD.total_seconds():
                self._marks, self._marked_at = None, asked_at
            looked_everywhere = self._marks is None
            rows = await connection.fetch(
                *queries.claim_entries(
                    owner=self.owner,
                    most=limit,
                    lease=self.lease,
                    bucket=self.bucket,
                    marks=self._marks,
                    now=now,
                    doubted=allowed.doubted,
                    doubted_first=allowed.doubted_first,
                    full_domains=allowed.full_domains,
                    full_sources=allowed.full_sources,
                )
            )
            answered_at = self.clock.monotonic()
        last = rows.pop()
        self._marks = last["marks"]
        leases = [lease_from(row, asked_at, answered_at, self.lease) for row in rows]
        return Claimed(leases, last["wait"] if looked_everywhere else self._before_marks_end(last["wait"], asked_at))

    def _before_marks_end(self, wait: timedelta | None, asked_at: float) -> timedelta:
        """Something may wait behind the marks: nobody sleeps longer than they are trusted."""
        trusted = MARKS_HOLD - timedelta(seconds=asked_at - self._marked_at)
        return trusted if wait is None else min(wait, trusted)

    async def claim_suspect(self, now: datetime | None = None) -> Lease | None:
        """One entry whose worker died; only while this owner holds nothing else."""
        async with self.database.borrowed() as connection:
            asked_at = self.clock.monotonic()
            row = await connection.fetchrow(queries.claim_suspect, self.owner, self.lease, now)
            answered_at = self.clock.monotonic()
        return lease_from(row, asked_at, answered_at, self.lease) if row else None


async def has_suspects(database: Database) -> bool:
    found: bool = await database.fetchval(queries.has_suspects)
    return found


def lease_from(row: Any, asked_at: float, answered_at: float, lease: timedelta) -> Lease:
    return Lease(
        token=row["token"],
        bucket=row["bucket"],
        url_hash=row["url_hash"],
        host=row["host"],
        url=row["url"],
        source_id=row["source_id"],
        origin=EntryOrigin(row["origin"]),
        depth=row["depth"],
        priority=row["priority"],
        retry_count=row["retry_count"],
        fetch_count=row["fetch_count"],
        hops=row["hops"],
        resume_url=row["resume_url"],
        etag=row["etag"],
        last_modified=row["last_modified"],
        content_hash=row["content_hash"],
        window=start_window_for(asked_at, answered_at, row["wait"], lease, is_alone=row["is_alone"]),
        domain=row["domain"],
        found_by=row["found_by"],
        is_doubted=row["is_doubted"],
    )


@dataclass(slots=True)
class Shares:
    """The leases a worker with `size` places holds, by whom they are for.

    Hosts in doubt have at most half of the places: a place given to a silent host is gone for half a minute. A domain
    has a quarter and a source a half while others wait.
    """

    size: int
    _claims: int = field(default=0, init=False)
    _held: dict[UUID, Lease] = field(default_factory=dict, init=False)

    def take(self, lease: Lease) -> None:
        self._held[lease.token] = lease

    def give_back(self, lease: Lease) -> None:
        self._held.pop(lease.token, None)

    def next_allowance(self) -> Allowance:
        self._claims += 1
        held = self._held.values()
        doubted = sum(lease.is_doubted for lease in held)
        room = max(max(1, self.size // 2) - doubted, 0)
        is_their_turn = not doubted and self._claims % DOUBTED_EVERY == 0
        return Allowance(
            room,
            min(room, int(is_their_turn)),
            _full(Counter(lease.domain for lease in held if lease.domain), max(2, self.size // 4)),
            _full(Counter(lease.found_by for lease in held if lease.found_by), max(2, self.size // 2)),
        )


def _full(counts: Counter[Owner], share: int) -> tuple[Owner, ...]:
    return tuple(owner for owner, count in counts.items() if count >= share)
