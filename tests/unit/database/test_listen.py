from headwater.chance import random_from
from headwater.database.listen import LONGEST_WAIT_SECONDS, wait_before_reconnect


def test_reconnecting_slows_down_but_not_without_end() -> None:
    random = random_from(1)
    assert wait_before_reconnect(0, random) <= 0.2
    assert LONGEST_WAIT_SECONDS / 2 <= wait_before_reconnect(10_000, random) <= LONGEST_WAIT_SECONDS


def test_two_listeners_do_not_come_back_together() -> None:
    assert wait_before_reconnect(5, random_from(1)) != wait_before_reconnect(5, random_from(2))
