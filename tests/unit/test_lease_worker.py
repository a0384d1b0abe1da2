import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID

from headwater.clock import SystemClock
from headwater.drain import Drain
from headwater.errors import DatabaseDown, OutOfResources
from headwater.lease_worker import LARGEST_CLAIM, LONELY_SPELL, RECOVERY, LeaseWorker, Room
from headwater.log import Logger, make_logger


@dataclass(frozen=True, slots=True)
class Errand:
    token: UUID


@dataclass(slots=True)
class Errands:
    """There is always more to do, and each takes until it is told to end."""

    claims: list[int] = field(default_factory=list)
    under_way: list[asyncio.Event] = field(default_factory=list)
    released: int = 0

    async def claim(self, most: int) -> tuple[Sequence[Errand], timedelta | None]:
        self.claims.append(most)
        return [Errand(UUID(int=sum(self.claims) + number)) for number in range(most)], None

    async def claim_alone(self) -> Errand | None:
        return None

    async def has_lonely_work(self) -> bool:
        return False

    async def work(self, lease: Errand) -> None:
        end = asyncio.Event()
        self.under_way.append(end)
        await end.wait()

    async def extend(self, leases: Sequence[Errand]) -> Collection[UUID]:
        return [lease.token for lease in leases]

    async def release(self, leases: Sequence[Errand]) -> None:
        self.released += len(leases)

    async def release_all_but(self, held: Collection[UUID]) -> None:
        raise AssertionError("nothing was lost")

    async def rest(self, come_back_in: timedelta | None) -> None:
        raise AssertionError("there is always something to do")

    def named(self, lease: Errand) -> dict[str, Any]:
        return {}


def quiet_log() -> Logger:
    return make_logger("error", "json", stream=StringIO())


async def settled() -> None:
    """Until nothing moves by itself any more."""
    for _ in range(50):
        await asyncio.sleep(0)


async def claims_after_ends(size: int, ends: int) -> list[int]:
    """What a worker of this size claims, once full, while so many errands end one after the other."""
    errands, stop = Errands(), asyncio.Event()
    lease_worker = LeaseWorker(errands, SystemClock(), quiet_log(), size, lease=timedelta(minutes=5))
    running = asyncio.create_task(lease_worker.run(stop))
    await settled()
    assert sum(errands.claims) == size
    before = len(errands.claims)
    for place in range(ends):
        errands.under_way[place].set()
        await settled()
    found = errands.claims[before:]
    stop.set()
    for end in errands.under_way:
        end.set()
    await running
    assert not errands.released
    return found


async def test_a_full_worker_claims_again_when_an_eighth_of_it_is_idle() -> None:
    assert await claims_after_ends(size=40, ends=4) == []
    assert await claims_after_ends(size=40, ends=11) == [5, 5]


async def test_a_small_worker_claims_for_every_free_hand() -> None:
    assert await claims_after_ends(size=1, ends=2) == [1, 1]
    assert await claims_after_ends(size=10, ends=3) == [1, 1, 1]


async def test_a_large_worker_waits_for_no_more_than_it_would_claim_at_once() -> None:
    assert await claims_after_ends(size=400, ends=LARGEST_CLAIM) == [LARGEST_CLAIM]


@dataclass(slots=True)
class LonelyErrands(Errands):
    """One of them must run alone; the last of the others ends while the database is asked about it."""

    is_waiting: bool = True
    went_alone: list[bool] = field(default_factory=list)

    async def has_lonely_work(self) -> bool:
        await settled()
        for end in self.under_way:
            end.set()
        await settled()
        return self.is_waiting

    async def claim_alone(self) -> Errand | None:
        if not self.is_waiting or not self.under_way:
            return None
        self.is_waiting = False
        return Errand(UUID(int=0))

    async def work(self, lease: Errand) -> None:
        if lease.token.int == 0:
            self.went_alone.append(all(end.is_set() for end in self.under_way))
            return
        await Errands.work(self, lease)


async def test_a_worker_outlives_the_end_of_its_last_task_while_it_asks_for_lonely_work() -> None:
    errands, stop = LonelyErrands(), asyncio.Event()
    lease_worker = LeaseWorker(errands, SystemClock(), quiet_log(), size=2, lease=timedelta(minutes=5))
    running = asyncio.create_task(lease_worker.run(stop))
    async with asyncio.timeout(300):
        while not errands.went_alone and not running.done():
            await asyncio.sleep(0)
    assert errands.went_alone == [True]
    stop.set()
    for end in errands.under_way:
        end.set()
    await running


class BusyErrands(Errands):
    """Something waits to run alone, for as long as the others run."""

    async def has_lonely_work(self) -> bool:
        return True


async def test_a_worker_that_makes_itself_idle_still_hears_that_it_should_stop() -> None:
    errands, stop = BusyErrands(), asyncio.Event()
    lease_worker = LeaseWorker(
        errands, SystemClock(), quiet_log(), size=1, lease=timedelta(minutes=5), grace=timedelta()
    )
    running = asyncio.create_task(lease_worker.run(stop))
    await settled()
    stop.set()
    async with asyncio.timeout(300):
        await running
    assert errands.released == 1


class AwayAtTheEnd(Errands):
    async def release(self, leases: Sequence[Errand]) -> None:
        raise DatabaseDown("The database does not answer.")


async def test_a_database_that_is_away_at_the_end_does_not_make_the_end_a_failure() -> None:
    errands, stop = AwayAtTheEnd(), asyncio.Event()
    lease_worker = LeaseWorker(
        errands, SystemClock(), quiet_log(), size=1, lease=timedelta(minutes=5), grace=timedelta()
    )
    running = asyncio.create_task(lease_worker.run(stop))
    await settled()
    stop.set()
    await running


class ShortErrands(Errands):
    """The first of them finds no file descriptor."""

    async def work(self, lease: Errand) -> None:
        if not self.under_way:
            self.under_way.append(asyncio.Event())
            raise OutOfResources("There is no file descriptor left.")
        await Errands.work(self, lease)


async def test_what_failed_for_want_of_descriptors_is_given_back_at_once() -> None:
    errands, stop = ShortErrands(), asyncio.Event()
    lease_worker = LeaseWorker(errands, SystemClock(), quiet_log(), size=8, lease=timedelta(minutes=5))
    running = asyncio.create_task(lease_worker.run(stop))
    await settled()
    assert errands.released == 1
    stop.set()
    for end in errands.under_way:
        end.set()
    await running
    assert errands.released == 1
    assert sum(errands.claims) == 8


def test_a_worker_that_ran_out_takes_on_half_and_is_whole_a_minute_later() -> None:
    room = Room(100)
    assert room.at(1000) == 100
    assert room.shrink(running=60, moment=1000)
    assert not room.shrink(running=59, moment=1000.1)
    assert room.at(1000) == 30
    assert 30 < room.at(1000 + RECOVERY.total_seconds() / 2) < 100
    assert room.at(1000 + RECOVERY.total_seconds()) == 100


def test_a_worker_that_runs_out_again_and_again_still_takes_on_one() -> None:
    room = Room(4)
    for moment in range(10):
        room.shrink(room.at(moment), 100 + 2 * moment)
    assert room.at(118) == 1


@dataclass(slots=True)
class LostErrands(ShortErrands):
    refused: int = 0

    async def work(self, lease: Errand) -> None:
        if not self.under_way:
            self.under_way.append(asyncio.Event())
            raise DatabaseDown("The database does not answer.")
        await Errands.work(self, lease)

    async def release_all_but(self, held: Collection[UUID]) -> None:
        if not self.refused:
            self.refused = 1
            raise DatabaseDown("The database does not answer.")
        self.released += 1


async def test_what_a_lost_database_interrupted_is_given_back_when_it_is_there_again() -> None:
    errands, stop = LostErrands(), asyncio.Event()
    lease_worker = LeaseWorker(errands, SystemClock(), quiet_log(), size=1, lease=timedelta(minutes=5))
    running = asyncio.create_task(lease_worker.run(stop))
    async with asyncio.timeout(300):
        while not errands.released:
            await asyncio.sleep(0.01)
    stop.set()
    for end in errands.under_way:
        end.set()
    await running
    assert errands.refused == 1


class Steps(SystemClock):
    """Only work makes time pass."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


@dataclass(slots=True)
class Suspects(Errands):
    """Without end; each takes a second, and so does everything else."""

    clock: Steps = field(default_factory=Steps)
    others: int = 1_000_000
    alone: float = 0.0
    together: float = 0.0

    async def claim(self, most: int) -> tuple[Sequence[Errand], timedelta | None]:
        if not self.others:
            return [], None
        self.others -= 1
        self.claims.append(most)
        return [Errand(UUID(int=sum(self.claims)))], None

    async def has_lonely_work(self) -> bool:
        return True

    async def claim_alone(self) -> Errand | None:
        return Errand(UUID(int=0))

    async def work(self, lease: Errand) -> None:
        await asyncio.sleep(0)
        self.clock.seconds += 1
        if lease.token.int:
            self.together += 1
        else:
            self.alone += 1

    async def rest(self, come_back_in: timedelta | None) -> None:
        raise AssertionError("suspects are left")


async def worked(suspects: Suspects, size: int, seconds: float) -> Suspects:
    stop = asyncio.Event()
    lease_worker = LeaseWorker(suspects, suspects.clock, quiet_log(), size, lease=timedelta(days=1))
    running = asyncio.create_task(lease_worker.run(stop))
    while suspects.clock.seconds < 1000 + seconds and not running.done():
        await asyncio.sleep(0)
    stop.set()
    await running
    return suspects


async def test_a_worker_with_other_work_spends_a_tenth_of_its_time_alone() -> None:
    spent = await worked(Suspects(), size=1, seconds=2000)
    assert 0.08 < spent.alone / (spent.alone + spent.together) < 0.12


async def test_a_worker_that_is_never_idle_works_alone_in_spells() -> None:
    spent = await worked(Suspects(), size=8, seconds=2000)
    assert LONELY_SPELL.total_seconds() <= spent.alone <= 0.11 * (spent.alone + spent.together)


@dataclass(slots=True)
class OutOfReach(Suspects):
    """Suspects whose hosts are closed, beside work that takes half a minute each."""

    looks: int = 0

    async def has_lonely_work(self) -> bool:
        self.looks += 1
        return True

    async def claim_alone(self) -> Errand | None:
        return None

    async def work(self, lease: Errand) -> None:
        await asyncio.sleep(0)
        self.clock.seconds += 30


async def test_waiting_in_vain_for_work_that_must_be_alone_costs_a_tenth_of_the_time_too() -> None:
    spent = await worked(OutOfReach(), size=1, seconds=6000)
    assert isinstance(spent, OutOfReach)
    assert 6000 / 300 / 2 < spent.looks < 6000 / 300 * 1.1


async def test_a_worker_without_other_work_tries_suspects_one_after_the_other() -> None:
    spent = await worked(Suspects(others=0), size=8, seconds=200)
    assert spent.alone >= 200


async def test_a_drained_worker_claims_nothing_more_ends_what_it_has_and_works_again_when_it_is_let() -> None:
    errands, stop, drain = Errands(), asyncio.Event(), Drain()
    lease_worker = LeaseWorker(errands, SystemClock(), quiet_log(), 4, lease=timedelta(minutes=5), drain=drain)
    running = asyncio.create_task(lease_worker.run(stop))
    await settled()
    assert (sum(errands.claims), drain.under_way) == (4, 4)
    drain.follow(is_asked=True)
    for place, end in enumerate(errands.under_way[:4]):
        end.set()
        await settled()
        assert (sum(errands.claims), drain.under_way) == (4, 3 - place)
    drain.follow(is_asked=False)
    await settled()
    assert (sum(errands.claims), drain.under_way) == (8, 4)
    drain.follow(is_asked=True)
    stop.set()
    for end in errands.under_way:
        end.set()
    await running
    assert not errands.released
