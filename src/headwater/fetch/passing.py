"""A look at the web that leaves nothing in the database: for people who only want to see what would come.

A host that the database does not know is asked by nobody else, so that its delay and its robots.txt may be kept in this
process alone. A host that it knows is asked in the slots that all processes share.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.fetch.held_slot import HeldSlot, SlotReservations, settlement_for
from headwater.fetch.robots import RobotsAccess, RobotsAnswer, RobotsStore, StoredRobots
from headwater.politeness.robots import Robots
from headwater.politeness.slots import REACH, NoSlot, NotBefore, StartWindow, Visit
from headwater.urls.fingerprint import bucket_of
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

LEASE_SECONDS = 600.0


@dataclass(slots=True)
class Strangers:
    """The hosts that the database does not know: when each may be asked next, and what its robots.txt said."""

    database: Database
    clock: Clock
    delay: timedelta
    known: dict[Origin, StoredRobots] = field(default_factory=dict, init=False)
    sitemaps: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False)
    _is_stranger: dict[str, bool] = field(default_factory=dict, init=False)
    _asked: dict[str, timedelta] = field(default_factory=dict, init=False)
    _last: dict[str, float] = field(default_factory=dict, init=False)  # start of a request
    _closed_until: dict[str, float] = field(default_factory=dict, init=False)
    _hosts: dict[UUID, str] = field(default_factory=dict, init=False)

    async def include(self, host: str) -> bool:
        """Settled by the first question, or a host could change sides in the middle of a look."""
        if host not in self._is_stranger:
            self._is_stranger[host] = not await self.database.fetchval(queries.is_known_host, bucket_of(host), host)
        return self._is_stranger[host]

    def slow_down(self, host: str, delay: timedelta) -> None:
        self._asked[host] = delay

    def close(self, host: str, wait: timedelta) -> None:
        self._closed_until[host] = self.clock.monotonic() + wait.total_seconds()

    def reserve(self, host: str) -> StartWindow | NotBefore:
        now = self.clock.monotonic()
        # By the delay that is known now: robots.txt may have asked for another since the last request.
        spaced = self._last[host] + self._delay(host).total_seconds() if host in self._last else now
        earliest = max(now, spaced, self._closed_until.get(host, now))
        if earliest - now > REACH.total_seconds():
            return NotBefore(timedelta(seconds=earliest - now), NoSlot.DELAY, self._why(host))
        self._last[host] = earliest
        return StartWindow(earliest, earliest + LEASE_SECONDS, earliest)

    async def regrant(self, bucket: int, token: UUID, past: Visit) -> StartWindow | NotBefore:
        """The delay counts from the real start of the request before."""
        host = self._hosts[token]
        self._last[host] += (past.started_after or timedelta()).total_seconds()
        return self.reserve(host)

    def held_slot(self, host: str, kind: str, window: StartWindow) -> HeldSlot:
        token = UUID(int=len(self._hosts))
        self._hosts[token] = host
        return HeldSlot(bucket_of(host), host, token, window, kind, self, self.clock)

    def _delay(self, host: str) -> timedelta:
        return max(self.delay, self._asked.get(host, timedelta()))

    def _why(self, host: str) -> str:
        is_asked = self._asked.get(host, timedelta()) > self.delay
        who = "Crawl-delay of robots.txt" if is_asked else "it asks us to wait"
        return f"{self._delay(host).total_seconds():g} s between requests ({who})"


@dataclass(frozen=True, slots=True)
class PassingReservations(SlotReservations):
    strangers: Strangers

    @asynccontextmanager
    async def reserve_slot(self, host: str, kind: str) -> AsyncIterator[HeldSlot | NotBefore]:
        if not await self.strangers.include(host):
            async with SlotReservations.reserve_slot(self, host, kind) as shared:
                yield shared
            return
        window = self.strangers.reserve(host)
        if isinstance(window, NotBefore):
            yield window
            return
        held_slot = self.strangers.held_slot(host, kind, window)
        try:
            yield held_slot
        finally:
            if wait := settlement_for(held_slot).close_for:
                self.strangers.close(host, wait)


@dataclass(frozen=True, slots=True)
class PassingRobots:
    """Rules of strangers are kept for this look; those of hosts that are known go where they always go."""

    shared: RobotsStore
    strangers: Strangers

    async def store(
        self, origin: Origin, heard: RobotsAnswer, access: RobotsAccess, term: timedelta, robots: Robots | None
    ) -> None:
        if not await self.strangers.include(origin.host):
            await self.shared.store(origin, heard, access, term, robots)
            return
        has_rules = access is RobotsAccess.RULES
        is_away = access is RobotsAccess.UNREACHABLE
        now = self.strangers.clock.now()
        self.strangers.known[origin] = StoredRobots(
            access=access,
            body=heard.body if has_rules else None,
            body_hash=sha256(heard.body).digest() if has_rules else None,
            is_fresh=True,
            failing_since=now if is_away else None,
            failing_for=timedelta(),
            failure=(heard.detail or str(heard.answer)) if is_away else "",
            status=heard.status,
            validators=heard.validators,
            now=now,
        )
        if robots is not None:
            self.strangers.sitemaps[origin.site] = tuple(robots.sitemaps)
            self.strangers.slow_down(origin.host, robots.crawl_delay or timedelta())

    async def freshen(self, origin: Origin, term: timedelta) -> None:
        if not await self.strangers.include(origin.host):
            await self.shared.freshen(origin, term)

    def rules_changed(self, origin: Origin, robots: Robots | None) -> None:
        """Only of hosts that are known: nothing waits at a stranger's."""
        self.shared.rules_changed(origin, robots)
