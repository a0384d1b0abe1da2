"""A crew whose database is in trouble: it claims no more than it must to see whether that is over."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

from headwater.clock import SystemClock
from headwater.crew import FIRST_PAUSE, LONGEST_PAUSE, Crew
from headwater.errors import DatabaseDown, QueryFailed
from headwater.log import make_logger

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


def crew_of(errands: Errands, log: StringIO, lease: timedelta = timedelta(days=1)) -> Crew[Errand]:
    logger = make_logger("info", "json", stream=log)
    return Crew(errands, errands.clock, logger, SIZE, lease, grace=timedelta())


async def played(errands: Errands) -> Errands:
    """Until nothing moves by itself any more."""
    stop = asyncio.Event()
    running = asyncio.create_task(crew_of(errands, StringIO()).run(stop))
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


async def test_pauses_grow_up_to_a_limit_while_the_trouble_lasts() -> None:
    errands = await played(Errands(work_troubles=[DISK_IS_FULL] * (SIZE + 6)))
    assert errands.claims == [SIZE, *[1] * 7]
    assert errands.clock.seconds == [FIRST_PAUSE, 2, 4, 8, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]


async def test_a_lease_is_lost_when_two_heartbeats_in_a_row_miss_it() -> None:
    """Once may only mean that it is being settled."""
    errands, log, stop = Unheld(), StringIO(), asyncio.Event()
    crew = crew_of(errands, log, timedelta(seconds=3))
    running = asyncio.create_task(crew.run(stop))
    while errands.beats < 1:
        await asyncio.sleep(0)
    assert "lease_lost" not in log.getvalue()
    while errands.beats < 2:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert log.getvalue().count("lease_lost") == SIZE
    stop.set()
    await running
