"""The loop of every role that works on leases: claim what can be carried, keep it alive, finish or give back."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from headwater.clock import Clock
from headwater.errors import DatabaseDown, OutOfResources, QueryFailed
from headwater.log import Logger

# A third of the lease: two heartbeats may fail before anything is lost.
HEARTBEATS_PER_LEASE = 3
LARGEST_CLAIM = 10
# A claim is made when this share of the crew is idle.
IDLE_SHARE = 8
GRACE = timedelta(seconds=30)
PAUSE_AFTER_TROUBLE = 1.0
LONELY_EVERY = timedelta(minutes=2)
# After it ran out of something a crew is whole again so much later.
RECOVERY = timedelta(minutes=1)


class HasToken(Protocol):
    @property
    def token(self) -> UUID: ...


Lease = TypeVar("Lease", bound=HasToken)


class Trade(Protocol[Lease]):
    """What a crew does for its living."""

    async def claim(self, most: int) -> tuple[Sequence[Lease], timedelta | None]:
        """And where there was nothing, when to come back; None if nobody knows."""

    async def claim_alone(self) -> Lease | None:
        """Something that must run with nothing beside it, to see whether it is what kills workers."""

    async def has_lonely_work(self) -> bool: ...

    async def work(self, lease: Lease) -> None: ...

    async def extend(self, leases: Sequence[Lease]) -> Collection[UUID]:
        """The tokens that still hold."""

    async def release(self, leases: Sequence[Lease]) -> None: ...

    async def rest(self, come_back_in: timedelta | None) -> None: ...

    def named(self, lease: Lease) -> dict[str, Any]:
        """How a lease is called in a log line."""


@dataclass(slots=True)
class Room:
    """How much is taken on at once: less after the process ran out of something, and more again with time."""

    size: int
    _left: float = field(default=float("inf"), init=False)
    _shrunk_at: float = field(default=0.0, init=False)

    def at(self, moment: float) -> int:
        grown = self.size * (moment - self._shrunk_at) / RECOVERY.total_seconds()
        return max(1, int(min(self.size, self._left + grown)))

    def shrink(self, running: int, moment: float) -> bool:
        """To half of what was running when it was too much. False where that has just been done."""
        if self._left < float("inf") and moment - self._shrunk_at < PAUSE_AFTER_TROUBLE:
            return False
        self._left, self._shrunk_at = running / 2, moment
        return True


@dataclass(slots=True)
class Crew(Generic[Lease]):
    trade: Trade[Lease]
    clock: Clock
    log: Logger
    size: int
    lease: timedelta
    grace: timedelta = GRACE
    _running: dict[asyncio.Task[None], Lease] = field(default_factory=dict, init=False)
    _last_alone: float = field(default=float("-inf"), init=False)
    _ending: asyncio.Future[None] | None = field(default=None, init=False)
    _room: Room = field(init=False)
    _lost: list[Lease] = field(default_factory=list, init=False)
    _is_short: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._room = Room(self.size)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; then what is under way is finished within a grace, and the rest given back."""
        heart = asyncio.create_task(self._beat())
        try:
            while not stop.is_set():
                try:
                    await self._claim_and_start(stop)
                except (DatabaseDown, QueryFailed) as error:
                    self.log.warning("claim_failed", error=error.what)
                    await self.clock.sleep(PAUSE_AFTER_TROUBLE)
            if self._running:
                await asyncio.wait(self._running, timeout=self.grace.total_seconds())
        finally:
            heart.cancel()
            await self._end()

    async def _end(self) -> None:
        try:
            await give_back(self.trade, self._running)
            await self._give_back_lost()
        except (DatabaseDown, QueryFailed) as error:
            # Its leases run out by themselves.
            self.log.warning("release_failed", error=error.what)

    async def _claim_and_start(self, stop: asyncio.Event) -> None:
        await self._give_back_lost()
        if self._is_short:
            self._is_short = False
            await self._pause(stop)
            return
        if await self._worked_alone(stop):
            return
        size = self._room.at(self.clock.monotonic())
        room = size - len(self._running)
        if room < worth_a_claim(size):
            await self._until_something_ends(stop)
            return
        leases, come_back_in = await self.trade.claim(min(room, LARGEST_CLAIM))
        for lease in leases:
            self._start(lease)
        if not leases:
            await self._rest(come_back_in, stop)

    async def _give_back_lost(self) -> None:
        """Nothing of what we could not finish for reasons of our own is held against what it was for."""
        if self._lost:
            lost = self._lost[:]
            await self.trade.release(lost)
            del self._lost[: len(lost)]

    async def _pause(self, stop: asyncio.Event) -> None:
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([stopping], timeout=PAUSE_AFTER_TROUBLE)
        finally:
            stopping.cancel()

    def _start(self, lease: Lease) -> None:
        task = asyncio.create_task(self._work(lease))
        self._running[task] = lease
        task.add_done_callback(self._forget)

    async def _worked_alone(self, stop: asyncio.Event) -> bool:
        """Mostly there is nothing of the kind. A crew that is never idle makes itself so now and then."""
        moment = self.clock.monotonic()
        if self._running and moment - self._last_alone >= LONELY_EVERY.total_seconds():
            self._last_alone = moment
            if await self.trade.has_lonely_work():
                await self._until_idle(stop)
        if self._running or stop.is_set() or not (lease := await self.trade.claim_alone()):
            return False
        self._start(lease)
        await self._until_idle(stop)
        return True

    async def _until_idle(self, stop: asyncio.Event) -> None:
        """Or until told to stop. Asked anew each time: the last task may end while nobody waits for it."""
        while self._running and not stop.is_set():
            await self._until_something_ends(stop)

    async def _rest(self, come_back_in: timedelta | None, stop: asyncio.Event) -> None:
        """Work that ends may make room for more: then it is worth looking again at once."""
        sleeping = asyncio.create_task(self.trade.rest(come_back_in))
        try:
            if sleeping in await self._until_something_ends(stop, sleeping):
                sleeping.result()
        finally:
            sleeping.cancel()

    async def _until_something_ends(self, stop: asyncio.Event, *also: asyncio.Task[None]) -> set[Any]:
        stopping = asyncio.create_task(stop.wait())
        # One promise instead of a look at each of a hundred tasks, every time one of them ends.
        self._ending = asyncio.get_running_loop().create_future()
        watched: list[asyncio.Future[Any]] = [stopping, self._ending, *also]
        try:
            done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            return done
        finally:
            stopping.cancel()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(None)

    async def _work(self, lease: Lease) -> None:
        try:
            await self.trade.work(lease)
        except DatabaseDown as error:
            self._lost.append(lease)
            self.log.warning("work_lost", **self.trade.named(lease), error=error.what)
        except OutOfResources as error:
            self._lost.append(lease)
            self._take_on_less(error)
        except QueryFailed as error:
            # The lease runs out by itself, and what it was for comes back.
            self.log.warning("work_lost", **self.trade.named(lease), error=error.what)
        except Exception:
            # One page or one feed must not end a role; it comes back when its lease has run out.
            self.log.exception("work_broke", **self.trade.named(lease))

    def _take_on_less(self, error: OutOfResources) -> None:
        """One line for all that failed in the same moment."""
        self._is_short = True
        moment = self.clock.monotonic()
        if self._room.shrink(len(self._running), moment):
            self.log.error("ran_out_of_resources", error=error.what, fix=error.fix, at_once=self._room.at(moment))

    async def _beat(self) -> None:
        wait = self.lease.total_seconds() / HEARTBEATS_PER_LEASE
        while True:
            await self.clock.sleep(wait)
            await self._extend()

    async def _extend(self) -> None:
        """A lease that no longer holds is somebody else's by now: the work under it ends where it is."""
        leases = dict(self._running)
        if not leases:
            return
        try:
            held = await self.trade.extend(list(leases.values()))
        except (DatabaseDown, QueryFailed) as error:
            self.log.warning("heartbeat_failed", error=error.what)
            return
        for task, lease in leases.items():
            if lease.token not in held and not task.done():
                self.log.warning("lease_lost", **self.trade.named(lease))
                task.cancel()


def worth_a_claim(size: int) -> int:
    """A claim for one costs nearly as much as a claim for eight."""
    return max(1, min(size // IDLE_SHARE, LARGEST_CLAIM))


async def give_back(trade: Trade[Lease], running: Mapping[asyncio.Task[None], Lease]) -> None:
    """What is under way ends where it is; whoever comes next need not wait until its leases have run out."""
    left = {task: lease for task, lease in running.items() if not task.done()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
        await trade.release(list(left.values()))
