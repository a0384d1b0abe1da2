"""A worker whose database is in trouble: it claims no more than it must to see whether that is over."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

from headwater.clock import SystemClock
from headwater.errors import DatabaseDown, QueryFailed
from headwater.figures import NOT_GIVEN_BACK
from headwater.lease_worker import FIRST_PAUSE, LONGEST_PAUSE, NEXT_BEAT, LeaseWorker
from headwater.log import make_logger
from headwater.settling import Settling

SIZE = 8
DISK_IS_FULL = QueryFailed("No space left on device", sqlstate="53100")


@dataclass(frozen=True, slots=True)
class Errand:
    token: UUID = field(default_factory=uuid4)


class Pauses(SystemClock):
    """Sleeping takes no time and is noted; only hearts, which beat rarely here, sleep for ever."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        if seconds > LONGEST_PAUSE:
            await asyncio.Event().wait()
        self.seconds.append(seconds)
        await asyncio.sleep(0)


@dataclass
class Errands:
    """`troubles` are what claims, then work, are met with one after the other; None is luck."""

    claim_troubles: list[Exception | None] = field(default_factory=list)
    work_troubles: list[Exception | None] = field(default_factory=list)
    clock: Pauses = field(default_factory=Pauses)
    claims: list[int] = field(default_factory=list)
    strays_asked_for: list[int] = field(default_factory=list)

    async def claim(self, most: int) -> tuple[Sequence[Errand], timedelta | None]:
        self.claims.append(most)
        if self.claim_troubles and (trouble := self.claim_troubles.pop(0)):
            raise trouble
        return [Errand() for _ in range(most)], None

    async def claim_alone(self) -> Errand | None:
        return None

    async def has_lonely_work(self) -> bool:
        return False

    async def work(self, lease: Errand) -> None:
        if self.work_troubles and (trouble := self.work_troubles.pop(0)):
            raise trouble
        await asyncio.Event().wait()

    async def extend(self, leases: Sequence[Errand]) -> Collection[UUID]:
        return {lease.token for lease in leases}

    async def release(self, leases: Sequence[Errand]) -> None:
        pass

    async def release_all_but(self, held: Collection[UUID]) -> None:
        self.strays_asked_for.append(len(held))

    async def rest(self, come_back_in: timedelta | None) -> None:
        raise AssertionError("there is always something to do")

    def named(self, lease: Errand) -> dict[str, Any]:
        return {}


class Unheld(Errands):
    """Whose leases do not hold."""

    beats = 0

    async def extend(self, leases: Sequence[Errand]) -> Collection[UUID]:
        self.beats += 1
        return set()


def lease_worker_of(errands: Errands, log: StringIO, lease: timedelta = timedelta(days=1)) -> LeaseWorker[Errand]:
    logger = make_logger("info", "json", stream=log)
    return LeaseWorker(errands, errands.clock, logger, SIZE, lease, grace=timedelta())


async def played(errands: Errands) -> Errands:
    """Until nothing moves by itself any more."""
    stop = asyncio.Event()
    running = asyncio.create_task(lease_worker_of(errands, StringIO()).run(stop))
    for _ in range(300):
        await asyncio.sleep(0)
    stop.set()
    await running
    return errands


async def test_after_a_claim_without_an_answer_what_it_may_have_been_granted_is_given_back_first() -> None:
    errands = await played(Errands(claim_troubles=[DatabaseDown("gone")]))
    assert errands.claims[0] == SIZE
    assert errands.strays_asked_for[0] == 0


async def test_after_work_was_lost_one_at_a_time_tries_the_database() -> None:
    errands = await played(Errands(work_troubles=[DISK_IS_FULL] * SIZE))
    assert errands.claims == [SIZE, 1]
    assert errands.strays_asked_for == [0]


async def test_work_that_could_not_be_given_back_at_the_end_is_counted() -> None:
    class Away(Errands):
        async def release(self, leases: Sequence[Errand]) -> None:
            raise DatabaseDown("The database does not answer.")

    stop, lease_worker = asyncio.Event(), lease_worker_of(Away(), StringIO())
    running = asyncio.create_task(lease_worker.run(stop))
    for _ in range(50):
        await asyncio.sleep(0)
    stop.set()
    await running
    assert lease_worker.figures.said == {NOT_GIVEN_BACK: "The database does not answer."}


async def test_pauses_grow_up_to_a_limit_while_the_trouble_lasts() -> None:
    errands = await played(Errands(work_troubles=[DISK_IS_FULL] * (SIZE + 6)))
    assert errands.claims == [SIZE, *[1] * 7]
    assert errands.clock.seconds == [FIRST_PAUSE, 2, 4, 8, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]


async def test_a_lease_is_lost_when_two_heartbeats_in_a_row_miss_it() -> None:
    """Once may only mean that it is being settled."""
    errands, log, stop = Unheld(), StringIO(), asyncio.Event()
    lease_worker = lease_worker_of(errands, log, timedelta(seconds=3))
    running = asyncio.create_task(lease_worker.run(stop))
    while errands.beats < 1:
        await asyncio.sleep(0)
    assert "lease_lost" not in log.getvalue()
    while errands.beats < 2:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert log.getvalue().count("lease_lost") == SIZE
    stop.set()
    await running


@dataclass
class Settled(Errands):
    """Work that consists of its end; `ends` are what settling it is met with."""

    settling: Settling = field(init=False)
    ends: asyncio.Queue[Exception | None] = field(default_factory=asyncio.Queue)
    tries: int = 0

    def __post_init__(self) -> None:
        log = make_logger("info", "json", stream=StringIO())
        self.settling = Settling(self.clock, log, timedelta(minutes=1))

    async def work(self, lease: Errand) -> None:
        await self.settling.settle(self._settle)

    async def _settle(self) -> None:
        self.tries += 1
        if trouble := await self.ends.get():
            raise trouble


async def until_quiet() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


async def test_nothing_is_claimed_while_what_is_done_cannot_be_settled() -> None:
    errands, log, stop = Settled(), StringIO(), asyncio.Event()
    lease_worker = lease_worker_of(errands, log)
    lease_worker.settling = errands.settling
    running = asyncio.create_task(lease_worker.run(stop))
    await until_quiet()
    assert errands.claims == [SIZE]
    for _ in range(SIZE - 1):
        errands.ends.put_nowait(DISK_IS_FULL)
    await until_quiet()
    assert (errands.claims, errands.tries) == ([SIZE], 2 * SIZE - 1)
    assert log.getvalue().count("claims_wait") == 0  # nothing has ended, and nobody has looked
    errands.ends.put_nowait(DISK_IS_FULL)
    errands.ends.put_nowait(None)
    await until_quiet()
    assert errands.claims == [SIZE, 1]
    stop.set()
    await running


async def test_room_that_comes_free_is_left_empty_while_other_ends_cannot_be_settled() -> None:
    errands, log, stop = Settled(), StringIO(), asyncio.Event()
    lease_worker = lease_worker_of(errands, log)
    lease_worker.settling = errands.settling
    running = asyncio.create_task(lease_worker.run(stop))
    await until_quiet()
    errands.ends.put_nowait(None)
    errands.ends.put_nowait(DISK_IS_FULL)
    await until_quiet()
    assert errands.claims == [SIZE]
    assert log.getvalue().count("claims_wait") == 1
    stop.set()
    await running


@dataclass
class Stubborn(Errands):
    """The first works until it is let go, the second meets trouble."""

    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self, lease: Errand) -> None:
        if len(self.claims) == 1 and not self.work_troubles:
            await self.go.wait()
            return
        await Errands.work(self, lease)


async def test_work_begun_before_the_trouble_does_not_end_it() -> None:
    errands, stop = Stubborn(work_troubles=[DISK_IS_FULL] * (SIZE - 1)), asyncio.Event()
    running = asyncio.create_task(lease_worker_of(errands, StringIO()).run(stop))
    await until_quiet()
    errands.go.set()
    await until_quiet()
    assert errands.claims == [SIZE, 1]
    stop.set()
    await running


class Heart(SystemClock):
    """Time passes at once; the worker's loop never sleeps here."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


@dataclass
class Beating(Errands):
    """`beats` are what heartbeats are met with, one after the other; then they stop."""

    beats: list[Exception | None] = field(default_factory=list)

    async def extend(self, leases: Sequence[Errand]) -> Collection[UUID]:
        if not self.beats:
            await asyncio.Event().wait()
        if trouble := self.beats.pop(0):
            raise trouble
        return {lease.token for lease in leases}


async def test_a_heart_goes_on_whatever_stops_it_and_beats_again_soon() -> None:
    errands = Beating(beats=[DatabaseDown("gone"), KeyError("a fault of ours"), None, None])
    clock, log, stop = Heart(), StringIO(), asyncio.Event()
    lease_worker = LeaseWorker(
        errands, clock, make_logger("info", "json", stream=log), SIZE, timedelta(minutes=1), timedelta()
    )
    running = asyncio.create_task(lease_worker.run(stop))
    await until_quiet()
    assert clock.seconds == [20, NEXT_BEAT, NEXT_BEAT, 20, 20]
    assert "heartbeat_failed" in log.getvalue()
    assert "heartbeat_broke" in log.getvalue()
    stop.set()
    await running
