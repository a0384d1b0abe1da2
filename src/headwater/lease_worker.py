"""The loop of every role that works on leases: claim what can be carried, keep it alive, finish or give back."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from headwater.clock import Clock
from headwater.drain import Drain
from headwater.errors import DatabaseDown, OutOfResources, QueryFailed, as_fields
from headwater.figures import LEASES_LOST, NOT_GIVEN_BACK, WORK_BROKE, WORK_LOST, Figures
from headwater.load import Load
from headwater.log import Logger
from headwater.settling import Settling

# A third of the lease: two heartbeats may fail before anything is lost.
HEARTBEATS_PER_LEASE = 3
LARGEST_CLAIM = 10
# Those that only wait use next to nothing, but their leases are kept alive.
MOST_IDLE = 100
# A claim is made when this share of the worker is idle.
IDLE_SHARE = 8
GRACE = timedelta(seconds=30)
# After trouble with the database, doubled until some work has succeeded again.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 10.0
# While there is other work, a tenth of the time at the most goes to work that must be alone, and to waiting for it.
# It is looked for so often that what a killed worker had begun runs again within 90 seconds: lease, sweep and this.
LONELY_EVERY = timedelta(seconds=15)
LONELY_SPELL = timedelta(seconds=5)
TIMES_AS_LONG = 9
# A heartbeat that failed is tried again so much later.
NEXT_BEAT = 1.0
# After it ran out of something a worker is whole again so much later.
RECOVERY = timedelta(minutes=1)


class HasToken(Protocol):
    @property
    def token(self) -> UUID: ...


AnyLease = TypeVar("AnyLease", bound=HasToken)


class WorkSource(Protocol[AnyLease]):
    """Where a lease worker gets its work, and how it does it."""

    async def claim(self, most: int) -> tuple[Sequence[AnyLease], timedelta | None]:
        """And where there was nothing, when to come back; None if nobody knows."""

    async def claim_alone(self) -> AnyLease | None:
        """Something that must run with nothing beside it, to see whether it is what kills workers."""

    async def has_lonely_work(self) -> bool: ...

    async def work(self, lease: AnyLease) -> None: ...

    async def extend(self, leases: Sequence[AnyLease]) -> Collection[UUID]:
        """The tokens that still hold."""

    async def release(self, leases: Sequence[AnyLease]) -> None: ...

    async def release_all_but(self, held: Collection[UUID]) -> None:
        """Give back every other lease of this worker: granted or worked on, while the database's answer was lost."""

    async def rest(self, come_back_in: timedelta | None) -> None: ...

    def named(self, lease: AnyLease) -> dict[str, Any]:
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
        if self._left < float("inf") and moment - self._shrunk_at < FIRST_PAUSE:
            return False
        self._left, self._shrunk_at = running / 2, moment
        return True


@dataclass(slots=True)
class LeaseWorker(Generic[AnyLease]):
    work_source: WorkSource[AnyLease]
    clock: Clock
    log: Logger
    size: int
    lease: timedelta
    grace: timedelta = GRACE
    settling: Settling | None = None
    load: Load | None = None  # in place of a fixed size
    figures: Figures = field(default_factory=Figures)
    drain: Drain = field(default_factory=Drain)
    idle: Callable[[], int] = lambda: 0  # how many of those at work only wait for what others find
    _running: dict[asyncio.Task[None], AnyLease] = field(default_factory=dict, init=False)
    _alone_from: float = field(default=float("-inf"), init=False)
    _ending: asyncio.Future[None] | None = field(default=None, init=False)
    _missed: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _is_troubled: bool = field(default=False, init=False)
    _has_strays: bool = field(default=False, init=False)
    _troubles: int = field(default=0, init=False)
    _is_told: bool = field(default=False, init=False)
    _is_beating: bool = field(default=True, init=False)
    _pause: float = field(default=FIRST_PAUSE, init=False)
    _room: Room = field(init=False)
    _lost: list[AnyLease] = field(default_factory=list, init=False)
    _is_short: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._room = Room(self.size)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; then what is under way is finished within a grace, and the rest given back."""
        heart = asyncio.create_task(self._beat())
        try:
            while not stop.is_set():
                try:
                    if self._has_strays:
                        await self._recover(stop)
                    await self._claim_and_start(stop)
                except (DatabaseDown, QueryFailed) as error:
                    self.log.warning("claim_failed", **as_fields(error))
                    self._note_trouble()
            if self._running:
                await asyncio.wait(self._running, timeout=self.grace.total_seconds())
        finally:
            heart.cancel()
            await self._end()

    async def _end(self) -> None:
        try:
            await give_back(self.work_source, self._running)
            await self._give_back_lost()
            if self._has_strays:
                await self.work_source.release_all_but(())
        except (DatabaseDown, QueryFailed) as error:
            # Its leases run out by themselves.
            self.figures.add(NOT_GIVEN_BACK, error.what)
            self.log.warning("release_failed", **as_fields(error))

    async def _recover(self, stop: asyncio.Event) -> None:
        """After trouble with the database: wait a while, then give back what nobody here works on any more.

        Until it takes that, nothing is claimed.
        """
        wait, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        await self._sleep_unless(stop, wait)
        # Before the question: work may be lost while it is asked, and then there is more to give back.
        self._has_strays = False
        await self.work_source.release_all_but(
            [lease.token for task, lease in self._running.items() if not task.done()]
        )

    async def _claim_and_start(self, stop: asyncio.Event) -> None:
        await self._give_back_lost()
        if self.drain.is_asked:
            await self._until_asked_to_work(stop)
            return
        if self._is_short:
            self._is_short = False
            await self._sleep_unless(stop, FIRST_PAUSE)
            return
        if self._must_wait:
            await self._until_something_ends(stop)
            return
        if stop.is_set() or await self._worked_alone(stop):
            return
        size = self._most_at_once
        room = size - len(self._running) + min(self.idle(), MOST_IDLE)
        if room < worth_a_claim(size):
            if self.load:
                self.load.note_full(self.clock.monotonic())
            await self._until_something_ends(stop)
            return
        leases, come_back_in = await self.work_source.claim(asked := min(room, LARGEST_CLAIM))
        if self.load:
            self.load.note_claim(asked, len(leases), self.clock.monotonic())
        for lease in leases:
            self._start(lease)
        # What was put off for other work need not wait while there is none.
        is_put_off = self.clock.monotonic() < self._alone_from
        if not leases and not (is_put_off and await self._work_alone(stop)):
            await self._rest(come_back_in, stop)

    async def _until_asked_to_work(self, stop: asyncio.Event) -> None:
        """What is under way goes on meanwhile."""
        resting = asyncio.create_task(self.drain.until_over())
        try:
            await self._until_something_ends(stop, resting)
        finally:
            resting.cancel()

    @property
    def _must_wait(self) -> bool:
        """Work under way cannot be settled: more of it would be claimed in vain."""
        waits = self.settling is not None and self.settling.fails and bool(self._running)
        if waits and not self._is_told:
            self.log.warning("claims_wait", under_way=len(self._running), why="what is done cannot be settled")
        self._is_told = waits
        return waits

    @property
    def _most_at_once(self) -> int:
        """A database that takes claims and nothing else would have us ask site after site for nothing: one tries it."""
        self._room.size = self.load.size if self.load else self.size
        return 1 if self._is_troubled else self._room.at(self.clock.monotonic())

    async def _give_back_lost(self) -> None:
        """Nothing of what we could not finish for reasons of our own is held against what it was for."""
        if self._lost:
            lost = self._lost[:]
            await self.work_source.release(lost)
            del self._lost[: len(lost)]

    def _start(self, lease: AnyLease) -> None:
        task = asyncio.create_task(self._work(lease, self._troubles))
        self._running[task] = lease
        self.drain.under_way += 1
        task.add_done_callback(self._forget)

    async def _worked_alone(self, stop: asyncio.Event) -> bool:
        """Mostly there is nothing of the kind. A worker that is never idle makes itself so now and then."""
        began = self.clock.monotonic()
        if began < self._alone_from:
            return False
        has_waited = bool(self._running)
        if has_waited:
            self._alone_from = began + LONELY_EVERY.total_seconds()
            if not await self.work_source.has_lonely_work():
                return False
            await self._until_idle(stop)
        has_worked = await self._work_alone(stop)
        if has_waited or has_worked:
            # Waiting in vain, as for pages of hosts that are closed, costs others as much as working.
            spent = self.clock.monotonic() - began
            self._alone_from = max(self._alone_from, began + spent * (1 + TIMES_AS_LONG))
        return has_worked

    async def _work_alone(self, stop: asyncio.Event) -> bool:
        """One after the other, for a spell; False where nothing of the kind waits, or something else is under way."""
        ends_at, has_worked = self.clock.monotonic() + LONELY_SPELL.total_seconds(), False
        while not self._running and not stop.is_set() and self.clock.monotonic() < ends_at:
            if not (lease := await self.work_source.claim_alone()):
                break
            has_worked = True
            self._start(lease)
            await self._until_idle(stop)
        return has_worked

    async def _until_idle(self, stop: asyncio.Event) -> None:
        """Or until told to stop. Asked anew each time: the last task may end while nobody waits for it."""
        while self._running and not stop.is_set():
            await self._until_something_ends(stop)

    async def _rest(self, come_back_in: timedelta | None, stop: asyncio.Event) -> None:
        """Work that ends may make room for more: then it is worth looking again at once."""
        sleeping = asyncio.create_task(self.work_source.rest(come_back_in))
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

    async def _sleep_unless(self, stop: asyncio.Event, seconds: float) -> None:
        sleeping = asyncio.create_task(self.clock.sleep(seconds))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([sleeping, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            stopping.cancel()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self.drain.under_way -= 1
        self.look_again()

    def look_again(self) -> None:
        """There may be room for more."""
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(None)

    async def _work(self, lease: AnyLease, troubles: int) -> None:
        try:
            await self.work_source.work(lease)
            # What was begun before the last trouble says nothing about whether that is over.
            if troubles == self._troubles:
                self._is_troubled, self._pause = False, FIRST_PAUSE
        except OutOfResources as error:
            self._lost.append(lease)
            self._take_on_less(error)
        except (DatabaseDown, QueryFailed) as error:
            # Given back as soon as the database takes it; should this process end before, its lease runs out.
            self.figures.add(WORK_LOST, error.what)
            self.log.warning("work_lost", **self.work_source.named(lease), **as_fields(error))
            self._note_trouble()
        except Exception as error:
            # One page or one feed must not end a role; it comes back when its lease has run out.
            self.figures.add(WORK_BROKE, f"{type(error).__name__}: {error}")
            self.log.exception("work_broke", **self.work_source.named(lease))

    def _note_trouble(self) -> None:
        self._is_troubled = self._has_strays = True
        self._troubles += 1

    def _take_on_less(self, error: OutOfResources) -> None:
        """One line for all that failed in the same moment."""
        self._is_short = True
        moment = self.clock.monotonic()
        if self._room.shrink(len(self._running), moment):
            self.log.error("ran_out_of_resources", error=error.what, fix=error.fix, at_once=self._room.at(moment))

    async def _beat(self) -> None:
        """Also with nothing under way: it shows that this worker lives."""
        every = self.lease.total_seconds() / HEARTBEATS_PER_LEASE
        wait = every
        while True:
            await self.clock.sleep(wait)
            try:
                wait = every if await self._extend() else min(NEXT_BEAT, every)
            except Exception:
                # Without a heart everything under way would be lost.
                self.log.exception("heartbeat_broke")
                wait = min(NEXT_BEAT, every)

    async def _extend(self) -> bool:
        """A lease that no longer holds belongs to another worker by now: the work under it ends where it is.

        Once is not enough: it may be settled at this very moment, and only the answer is still on its way. What is done
        under a lost lease changes nothing meanwhile. False where the database did not answer.
        """
        leases = dict(self._running)
        try:
            held = await self.work_source.extend(list(leases.values()))
        except (DatabaseDown, QueryFailed) as error:
            if self._is_beating:
                self.log.warning("heartbeat_failed", **as_fields(error), under_way=len(leases))
            self._is_beating = False
            return False
        self._is_beating = True
        missing = {task for task, lease in leases.items() if lease.token not in held and not task.done()}
        for task in missing & self._missed:
            self.figures.add(LEASES_LOST)
            self.log.warning("lease_lost", **self.work_source.named(leases[task]))
            task.cancel()
        self._missed = missing
        return True


def worth_a_claim(size: int) -> int:
    """A claim for one costs nearly as much as a claim for eight."""
    return max(1, min(size // IDLE_SHARE, LARGEST_CLAIM))


async def give_back(work_source: WorkSource[AnyLease], running: Mapping[asyncio.Task[None], AnyLease]) -> None:
    """Work under way ends where it is; the next worker need not wait until its leases have run out."""
    left = {task: lease for task, lease in running.items() if not task.done()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)
        await work_source.release(list(left.values()))
