from datetime import UTC, datetime, timedelta

import pytest

from headwater.clock import ManualClock
from headwater.fetch.crowds import LONGEST_WAIT_S, MOST_MACHINES, Crowds
from headwater.fetch.held_slot import SlotMissed
from headwater.politeness.addresses import MOST_NAMES, SHARED_FROM

HERE = "192.0.2.7"


def crowds(answering: int = 0, pace: float = 1.0) -> Crowds:
    async def count(_address: str) -> int:
        return answering

    return Crowds(ManualClock(datetime(2026, 3, 2, tzinfo=UTC)), timedelta(seconds=pace), count)


async def dial(crowd: Crowds, count: int, address: str = HERE) -> float:
    """Seconds that so many new names took."""
    began = crowd.clock.monotonic()
    for number in range(count):
        await crowd(f"n{number}.test", address)
    return crowd.clock.monotonic() - began


async def test_a_few_names_wait_for_nobody() -> None:
    assert await dial(crowds(), MOST_NAMES) == 0


async def test_the_names_of_a_crowd_come_a_pace_apart() -> None:
    assert await dial(crowds(), MOST_NAMES + 31) == 30


async def test_a_shared_host_has_no_pace() -> None:
    assert await dial(crowds(SHARED_FROM), 500) == 0


async def test_switched_off_there_is_no_pace() -> None:
    assert await dial(crowds(pace=0), 500) == 0


async def test_addresses_do_not_wait_for_each_other() -> None:
    crowd = crowds()
    await dial(crowd, MOST_NAMES + 5)
    assert await dial(crowd, MOST_NAMES, "192.0.2.8") == 0


async def test_a_turn_far_away_is_refused_with_its_time() -> None:
    crowd = crowds(pace=60)
    await dial(crowd, MOST_NAMES + 1)
    with pytest.raises(SlotMissed) as refused:
        await crowd("late.test", HERE)
    assert (refused.value.answer.wait, refused.value.answer.why) == (timedelta(seconds=60), "address")
    assert refused.value.answer.wait.total_seconds() > LONGEST_WAIT_S


async def test_what_is_remembered_is_bounded() -> None:
    crowd = crowds()
    for number in range(2 * MOST_MACHINES):
        await crowd("a.test", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(crowd._machines) <= MOST_MACHINES
