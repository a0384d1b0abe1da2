"""1, 2, 4, 8 seconds, ten per cent more or less, the same again with the same seed."""

from datetime import timedelta
from random import Random

import pytest

from headwater.chance import random_from
from headwater.fetch.fetcher import wait_before_trying_again


class Always(Random):
    """Draws the same number again and again."""

    def __init__(self, draw: float) -> None:
        super().__init__(0)
        self.draw = draw

    def random(self) -> float:
        return self.draw


ATTEMPTS = [(1, 1), (2, 2), (3, 4), (4, 8)]


@pytest.mark.parametrize(("attempt", "seconds"), ATTEMPTS)
def test_each_wait_is_twice_the_one_before(attempt: int, seconds: int) -> None:
    assert wait_before_trying_again(attempt, Always(0.5)) == timedelta(seconds=seconds)


@pytest.mark.parametrize(("attempt", "seconds"), ATTEMPTS)
def test_the_jitter_is_ten_per_cent_to_either_side(attempt: int, seconds: int) -> None:
    assert wait_before_trying_again(attempt, Always(0)) == timedelta(seconds=0.9 * seconds)
    assert wait_before_trying_again(attempt, Always(1)) == timedelta(seconds=1.1 * seconds)


@pytest.mark.parametrize(("attempt", "seconds"), ATTEMPTS)
def test_the_jitter_uses_its_whole_range(attempt: int, seconds: int) -> None:
    random = random_from(60)
    drawn = [wait_before_trying_again(attempt, random) / timedelta(seconds=seconds) for _ in range(2000)]
    assert 0.9 <= min(drawn) < 0.905
    assert 1.095 < max(drawn) <= 1.1
    assert abs(sum(drawn) / len(drawn) - 1) < 0.01


def test_equal_seeds_wait_equally_long() -> None:
    def waits(seed: int) -> list[timedelta]:
        random = random_from(seed)
        return [wait_before_trying_again(attempt, random) for attempt, _ in ATTEMPTS]

    assert waits(7) == waits(7)
    assert waits(7) != waits(8)


@pytest.mark.parametrize(("attempt", "seconds"), [(0, 1), (-3, 1), (5, 8), (10**9, 8)])
def test_no_attempt_waits_less_than_the_first_or_longer_than_the_fourth(attempt: int, seconds: int) -> None:
    assert wait_before_trying_again(attempt, Always(0.5)) == timedelta(seconds=seconds)
