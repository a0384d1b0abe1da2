"""The loop around journeys: claims what it can carry, keeps leases alive, finishes or gives back when told to stop."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.errors import DatabaseDown, QueryFailed
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import Lease
from headwater.frontier.settle import extend, release
from headwater.frontier.wake import Sleeper
from headwater.ingest.journey import Journey, Told
from headwater.log import Logger

# A third of the lease: two heartbeats may fail before anything is lost.
HEARTBEATS_PER_LEASE = 3
LARGEST_CLAIM = 10
GRACE = timedelta(seconds=30)
PAUSE_AFTER_TROUBLE = 1.0


@dataclass(slots=True)
class Worker:
    database: Database
    clock: Clock
    log: Logger
    claimer: Claimer
    sleeper: Sleeper
    journey: Journey
    concurrency: int
    told: Callable[[Told], None]
    _running: dict[asyncio.Task[None], Lease] = field(default_factory=dict, init=False)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; then what is under way is finished within a grace, and the rest given back."""
        heart = asyncio.create_task(self._beat())
        try:
            while not stop.is_set():
                try:
                    await self._claim_and_start()
                except (DatabaseDown, QueryFailed) as error:
                    self.log.warning("claim_failed", error=error.what)
                    await self.clock.sleep(PAUSE_AFTER_TROUBLE)
            await self._finish()
        finally:
            heart.cancel()
            await self._give_back()

    async def _claim_and_start(self) -> None:
        room = self.concurrency - len(self._running)
        if room <= 0:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            return
        claimed = await self.claimer.claim(min(room, LARGEST_CLAIM))
        for lease in claimed.leases:
            task = asyncio.create_task(self._travel(lease))
            self._running[task] = lease
            task.add_done_callback(self._forget)
        if not claimed.leases:
            await self._rest(claimed.come_back_in)

    async def _rest(self, come_back_in: timedelta | None) -> None:
        """A journey that ends frees its host: then it is worth looking again at once."""
        sleeping = asyncio.create_task(self.sleeper.sleep(come_back_in))
        done, _ = await asyncio.wait([sleeping, *self._running], return_when=asyncio.FIRST_COMPLETED)
        if sleeping in done:
            sleeping.result()
        sleeping.cancel()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)

    async def _travel(self, lease: Lease) -> None:
        try:
            self.told(await self.journey.travel(lease))
        except (DatabaseDown, QueryFailed) as error:
            # The lease runs out by itself, and the entry comes back.
            self.log.warning("journey_lost", host=lease.host, error=error.what)
        except Exception:
            # One page must not end a worker; the entry comes back as a suspect when its lease has run out.
            self.log.exception("journey_broke", url=lease.url)

    async def _beat(self) -> None:
        wait = self.claimer.lease.total_seconds() / HEARTBEATS_PER_LEASE
        while True:
            await self.clock.sleep(wait)
            await self._extend()

    async def _extend(self) -> None:
        """A lease that no longer holds is somebody else's by now: its journey ends where it is."""
        leases = dict(self._running)
        if not leases:
            return
        try:
            held = await extend(self.database, list(leases.values()), self.claimer.lease)
        except (DatabaseDown, QueryFailed) as error:
            self.log.warning("heartbeat_failed", error=error.what)
            return
        for task, lease in leases.items():
            if lease.token not in held and not task.done():
                self.log.warning("lease_lost", host=lease.host)
                task.cancel()

    async def _finish(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=GRACE.total_seconds())

    async def _give_back(self) -> None:
        left = dict(self._running)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
            await release(self.database, list(left.values()))
