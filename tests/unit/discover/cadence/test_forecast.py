from datetime import UTC, datetime, timedelta
from math import sqrt

import numpy as np
import pytest

from headwater.discover.cadence.forecast import Forecast, forecast, weight
from headwater.discover.cadence.rhythm import Observation, Rhythm, in_hours, observe, rate
from headwater.discover.cadence.week import FLAT, HOURS, common_from, common_profile, hour_profile, minute_profile

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
START = in_hours(MONDAY) + 7.31
STEADY = Rhythm(as_of=START, items=999.5, exposure=832.0)
HOUR = timedelta(hours=1)


def morning_paper() -> Rhythm:
    dates = [
        MONDAY - timedelta(days=day) + 6 * HOUR + timedelta(minutes=2 * n) for day in range(1, 28) for n in range(5)
    ]
    return observe(Rhythm(), Observation(MONDAY, None, dates))


def waiting_by_hand(ahead: Forecast, hours: float, steps: int = 3_000) -> float:
    moments = np.linspace(0, hours, steps)
    return float(np.trapezoid([ahead.items_within(one) for one in moments], moments))


def test_with_a_constant_rate_the_wait_is_the_square_root_rule() -> None:
    ahead = forecast(STEADY, START)
    assert rate(STEADY) == pytest.approx(1.0)
    assert [ahead.hours_until(price) for price in (0.001, 0.5, 8.0)] == pytest.approx([sqrt(0.002), 1.0, 4.0])


def test_the_waiting_is_the_area_under_the_expected_items() -> None:
    ahead = forecast(morning_paper(), START)
    for price in (0.01, 1.0, 30.0):
        hours = ahead.hours_until(price)
        assert hours is not None
        assert waiting_by_hand(ahead, hours) == pytest.approx(price, rel=0.01)


def test_more_than_a_week_of_waiting_has_no_answer() -> None:
    assert forecast(Rhythm(), START).hours_until(1e9) is None


def test_a_week_holds_a_week_of_items_wherever_it_starts() -> None:
    rhythm = morning_paper()
    for start in (START, START + 0.5, START + 163.999):
        ahead = forecast(rhythm, start)
        assert ahead.items_within(HOURS) == pytest.approx(rate(rhythm) * HOURS, rel=1e-6)
        assert ahead.items_within(3 * HOURS + 5) == pytest.approx(3 * rate(rhythm) * HOURS + ahead.items_within(5))


def test_a_paper_that_comes_in_the_morning_is_polled_after_it_came_and_then_left_alone() -> None:
    before = forecast(morning_paper(), in_hours(MONDAY + 5 * HOUR)).hours_until(0.5)
    after = forecast(morning_paper(), in_hours(MONDAY + 7 * HOUR)).hours_until(0.5)
    assert before is not None
    assert after is not None
    assert 1.0 < before < 1.5
    assert after > 3 * before


def test_a_slow_channels_item_weighs_more() -> None:
    assert weight(0.01) / weight(1.0) == pytest.approx(100**0.25)


def test_own_hours_outweigh_the_common_ones_in_the_end() -> None:
    night = np.zeros(HOURS)
    night[2::24] = 1 / 7
    common = common_profile([night])
    own = np.zeros(HOURS)
    own[14::24] = 1.0
    few, many = hour_profile(own, common), hour_profile(own * 100, common)
    assert few[2] > few[14]
    assert many[14] > 10 * many[2]


def test_a_weekday_learns_from_other_weekdays_and_not_from_the_weekend() -> None:
    counts = np.zeros(HOURS)
    counts[9:96:24] = 5.0
    profile = hour_profile(counts, FLAT)
    friday, saturday = profile[96 + 9], profile[120 + 9]
    assert friday > 3 * saturday


def test_profiles_keep_the_mean() -> None:
    counts = np.arange(HOURS, dtype=np.float64)
    assert hour_profile(counts, FLAT).mean() == pytest.approx(1)
    assert minute_profile(counts[:12]).mean() == pytest.approx(1)


def test_one_busy_channel_does_not_rule_the_common_hours() -> None:
    busy, modest = np.zeros(HOURS), np.zeros(HOURS)
    busy[3], modest[15] = 10_000, 100
    common = common_profile([busy, *[modest] * 10])
    assert common.sum() == pytest.approx(1)
    assert common[3] == pytest.approx(common[15], rel=0.01)


def test_stored_common_hours_come_back_or_are_flat() -> None:
    common = common_profile([np.arange(HOURS, dtype=np.float64)])
    assert common_from(common.tolist()).tolist() == common.tolist()
    assert all(common_from(bad) is FLAT for bad in (None, [], [1.0] * 5, [0.0] * HOURS, [-1.0] * HOURS))
