from datetime import UTC, datetime

import pytest

from headwater.discover.polls.lease import HALF_LIFE, Spending

NOW = datetime(2026, 3, 10, tzinfo=UTC)


def test_polls_are_counted_with_what_they_brought() -> None:
    spent = Spending().after_poll(3, None, NOW).after_poll(0, NOW, NOW)
    assert spent == Spending(polls=2, in_vain=1, new_items=3)


def test_what_was_spent_fades_by_half_in_two_weeks() -> None:
    spent = Spending(polls=8, in_vain=4, new_items=2).after_poll(0, NOW - HALF_LIFE, NOW)
    assert (spent.polls, spent.in_vain, spent.new_items) == pytest.approx((5, 3, 1))


def test_a_clock_that_was_set_back_adds_nothing() -> None:
    assert Spending(polls=8).after_poll(0, NOW + HALF_LIFE, NOW).polls == 9
