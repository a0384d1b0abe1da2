"""Simulated time: at its pace, and where it ends."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.clocks import ManualClock

from headwater.cli.demo.world import MOST_PAST, world_begins
from headwater.clock import ArrivingClock

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def test_it_runs_at_its_pace_until_it_is_the_present() -> None:
    real = ManualClock(NOW)
    world = ArrivingClock(NOW - timedelta(hours=1), 61, real)
    real.move(timedelta(seconds=10))
    assert world.now() == NOW - timedelta(hours=1) + timedelta(seconds=610)
    real.move(timedelta(seconds=50))
    assert world.now() == real.now()
    real.move(timedelta(hours=3))
    assert world.now() == real.now()


def test_another_process_lives_on_the_same_day() -> None:
    real = ManualClock(NOW)
    one = ArrivingClock(NOW - timedelta(days=1), 600, real)
    real.move(timedelta(seconds=30))
    other = ArrivingClock(NOW - timedelta(days=1), 600, real, one.began)
    assert other.now() == one.now()


@pytest.mark.parametrize(("seconds", "pace", "arrives_after"), [(20, 600, 20), (86_400, 600, 120), (1, 3_600, 1)])
def test_a_demo_arrives_in_the_present_at_its_end(seconds: int, pace: float, arrives_after: int) -> None:
    real = ManualClock(NOW)
    world = ArrivingClock(world_begins(NOW, seconds, pace), pace, real)
    real.move(timedelta(seconds=arrives_after) - timedelta(milliseconds=100))
    assert world.now() < real.now()
    real.move(timedelta(milliseconds=100))
    assert world.now() == real.now()


@pytest.mark.parametrize("pace", [0.001, 1.0])
def test_a_slow_world_begins_now(pace: float) -> None:
    assert world_begins(NOW, 20, pace) == NOW


def test_no_demo_begins_longer_ago_than_there_are_days_for() -> None:
    assert world_begins(NOW, 86_400, 31_536_000) == NOW - MOST_PAST
