from datetime import UTC, datetime, timedelta

import pytest

from headwater.sources.delays import DELAY_CLASSES, delay_counts, delay_within

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
SINCE = NOW - 30 * DAY


def counted(*delays: timedelta) -> list[int]:
    return delay_counts([NOW - one for one in delays], SINCE, NOW)


def test_each_delay_counts_in_the_class_that_it_does_not_exceed() -> None:
    counts = counted(MINUTE, 3 * MINUTE, 5 * MINUTE, 20 * DAY)
    assert (sum(counts), counts[0], counts[2], counts[-1]) == (4, 1, 2, 1)
    assert len(counts) == len(DELAY_CLASSES) + 1


def test_what_bears_no_date_or_was_there_before_says_nothing() -> None:
    assert delay_counts([None, SINCE - DAY, SINCE], SINCE, NOW) == []


def test_a_date_in_the_future_is_no_delay() -> None:
    assert counted(-DAY)[0] == 1


@pytest.mark.parametrize(("share", "minutes"), [(0.5, 5), (0.75, 7.5), (1.0, 10)])
def test_delays_lie_evenly_in_their_class(share: float, minutes: float) -> None:
    assert delay_within(counted(*[4 * MINUTE] * 2, *[9 * MINUTE] * 2), share) == minutes * MINUTE


def test_of_no_delays_nothing_is_said_and_of_endless_ones_the_least() -> None:
    assert delay_within([], 0.5) is None
    assert delay_within([0] * 20, 0.5) is None
    assert delay_within(counted(20 * DAY), 0.5) == DELAY_CLASSES[-1]
