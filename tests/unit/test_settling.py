import asyncio
from datetime import timedelta
from io import StringIO

import pytest

from headwater.clock import SystemClock
from headwater.errors import DatabaseDown, QueryFailed
from headwater.log import make_logger
from headwater.settling import Settling

AWAY = DatabaseDown("The database does not answer.")
BROKEN = QueryFailed("invalid byte sequence", sqlstate="22021")


class Passing(SystemClock):
    """Sleeping makes time pass, and takes none."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        await asyncio.sleep(0)


def settling(clock: Passing, patience: float = 60) -> Settling:
    return Settling(clock, make_logger("error", "json", stream=StringIO()), timedelta(seconds=patience))


class Work:
    """Met with these troubles, one after the other, and then done."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles = list(troubles)
        self.tries = 0

    async def __call__(self) -> str:
        self.tries += 1
        if self.troubles:
            raise self.troubles.pop(0)
        return "done"


async def test_work_is_tried_again_until_the_database_takes_it() -> None:
    clock, work = Passing(), Work(*[AWAY] * 5)
    ours = settling(clock)
    assert await ours.settle(work) == "done"
    assert work.tries == 6
    assert clock.seconds == 0.5 + 1 + 2 + 4 + 4
    assert not ours.fails


async def test_no_longer_than_a_lease_can_hold() -> None:
    clock, work = Passing(), Work(*[AWAY] * 100)
    ours = settling(clock, patience=60)
    with pytest.raises(DatabaseDown):
        await ours.settle(work)
    assert 55 < clock.seconds < 60
    assert ours.fails


async def test_the_last_try_of_any_work_says_whether_settling_fails() -> None:
    clock = Passing()
    ours = settling(clock, patience=0)
    with pytest.raises(DatabaseDown):
        await ours.settle(Work(AWAY))
    assert ours.fails
    await ours.settle(Work())
    assert not ours.fails


async def test_a_statement_that_is_wrong_is_not_tried_again() -> None:
    work = Work(BROKEN)
    ours = settling(Passing())
    with pytest.raises(QueryFailed):
        await ours.settle(work)
    assert work.tries == 1
    assert not ours.fails


async def test_a_database_that_answers_questions_may_still_take_nothing() -> None:
    ours = settling(Passing(), patience=0)
    with pytest.raises(DatabaseDown):
        await ours.settle(Work(AWAY))
    assert await ours.read(Work()) == "done"
    assert ours.fails
