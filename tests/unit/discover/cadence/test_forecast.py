from datetime import UTC, datetime, timedelta
from math import sqrt

import numpy as np
import pytest

from headwater.discover.cadence.forecast import Forecast, forecast, forecast_to, hour_profile, minute_profile, weight
from headwater.discover.cadence.rhythm import (
    FLAT,
    HOURS,
    Floats,
    Observation,
    Rhythm,
    common_from,
    common_profile,
    in_hours,
    observe,
    rate,
)

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
START = in_hours(MONDAY) + 7.31
STEADY = Rhythm(as_of=START, items=999.5, exposure=976.0)
HOUR = timedelta(hours=1)


def morning_paper() -> Rhythm:
    dates = [
        MONDAY - timedelta(days=day) + 6 * HOUR + timedelta(minutes=2 * n) for day in range(1, 28) for n in range(5)
    ]
    return observe(Rhythm(), Observation(MONDAY, None, dates))


def hourly_paper(items: int, until: datetime = MONDAY) -> Rhythm:
    """As its first list tells it."""
    dates = [until + timedelta(minutes=10) - n * HOUR for n in range(items)]
    return observe(Rhythm(), Observation(until + timedelta(minutes=37), None, dates))


def with_hours(counts: Floats) -> Rhythm:
    """Of a channel whose hours were all watched alike."""
    return Rhythm(by_hour=counts.astype(np.float32).tobytes())


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


def test_each_hour_of_the_week_has_its_share_in_the_time_watched() -> None:
    watched = hourly_paper(50).watched()
    assert watched.sum() == pytest.approx(1)
    # Up to Monday 00:37, from two days before.
    assert np.flatnonzero(watched).tolist() == [0, *range(HOURS - 49, HOURS)]
    assert watched[0] == pytest.approx(watched[HOURS - 1] * 37 / 60, rel=0.01)
    # Counts fade, and so does the time in which they came.
    assert watched[HOURS - 48] / watched[HOURS - 1] == pytest.approx(0.5 ** (47 / 336))
    assert Rhythm().watched() is FLAT


def test_hours_that_were_never_watched_are_not_empty() -> None:
    rhythm = hourly_paper(50)
    never = rhythm.watched() == 0
    assert np.median(hour_profile(rhythm, FLAT)[never]) == pytest.approx(1, abs=0.05)
    assert forecast(rhythm, in_hours(MONDAY) + 1).items_within(2) == pytest.approx(2 * rate(rhythm), rel=0.1)


def test_what_comes_every_hour_is_likely_within_two() -> None:
    """After 50 items as after 500: who waits for the next one is told so."""
    expected = [forecast(hourly_paper(items), in_hours(MONDAY) + 1).items_within(2) for items in (50, 500)]
    assert 1.2 < expected[0] < expected[1] < 2


def test_hours_that_were_never_watched_are_those_of_all_channels() -> None:
    night = np.zeros(HOURS)
    night[2::24] = 100.0
    profile = hour_profile(hourly_paper(6), common_profile([with_hours(night)]))
    assert profile[24 + 2] > 5 * profile[24 + 14]


def test_hours_that_nobody_watched_are_not_empty_in_common() -> None:
    common = common_profile([hourly_paper(20), hourly_paper(50)])
    never = hourly_paper(50).watched() == 0
    assert common[never] == pytest.approx(FLAT[never], rel=0.1)


def test_hours_watched_in_vain_are_empty() -> None:
    profile = hour_profile(morning_paper(), FLAT)
    assert profile[6] > 10 * profile[18]


def test_own_hours_outweigh_the_common_ones_in_the_end() -> None:
    night = np.zeros(HOURS)
    night[2::24] = 1 / 7
    common = common_profile([with_hours(night)])
    own = np.zeros(HOURS)
    own[14::24] = 1.0
    few, many = hour_profile(with_hours(own), common), hour_profile(with_hours(own * 100), common)
    assert few[2] > few[14]
    assert many[14] > 10 * many[2]


def test_a_weekday_learns_from_other_weekdays_and_not_from_the_weekend() -> None:
    counts = np.zeros(HOURS)
    counts[9:96:24] = 5.0
    profile = hour_profile(with_hours(counts), FLAT)
    friday, saturday = profile[96 + 9], profile[120 + 9]
    assert friday > 3 * saturday


def test_profiles_keep_the_mean() -> None:
    counts = np.arange(HOURS, dtype=np.float64)
    assert hour_profile(with_hours(counts), FLAT).mean() == pytest.approx(1)
    assert minute_profile(counts[:12]).mean() == pytest.approx(1)


def test_one_busy_channel_does_not_rule_the_common_hours() -> None:
    busy, modest = np.zeros(HOURS), np.zeros(HOURS)
    busy[3], modest[15] = 10_000, 100
    common = common_profile([with_hours(busy), *[with_hours(modest)] * 10])
    assert common.sum() == pytest.approx(1)
    assert common[3] == pytest.approx(common[15], rel=0.01)


def test_stored_common_hours_come_back_or_are_flat() -> None:
    common = common_profile([with_hours(np.arange(HOURS, dtype=np.float64))])
    assert common_from(common.tolist()).tolist() == common.tolist()
    assert all(common_from(bad) is FLAT for bad in (None, [], [1.0] * 5, [0.0] * HOURS, [-1.0] * HOURS))


@pytest.mark.parametrize("price", [0.001, 0.05, 1.0, 3.0, 40.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 0.31, 5.99, 50.5])
def test_a_short_forecast_says_the_same_as_that_of_a_week(price: float, offset: float) -> None:
    for rhythm in (STEADY, morning_paper(), hourly_paper(40)):
        whole = forecast(rhythm, START + offset)
        ahead, hours = forecast_to(price, rhythm, START + offset)
        by_week = whole.hours_until(price / weight(whole.mean_rate))
        assert hours == (None if by_week is None else pytest.approx(by_week))
        wait = hours or 1.0
        assert ahead.items_within(wait) == pytest.approx(whole.items_within(wait))
    assert len(forecast_to(0.001, STEADY, START)[0].ends) < len(forecast(STEADY, START).ends), "a day is enough"
