import json
from datetime import UTC, datetime, timedelta
from math import exp

import pytest

from headwater.chance import random_from
from headwater.discover.cadence.rhythm import Observation, Rhythm, in_hours, observe, rate, rhythm_from

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def daily(days: int, *, at: int = 9, start: datetime = MONDAY) -> Rhythm:
    """One item a day at the same hour, polled every six hours."""
    rhythm, since = Rhythm(), None
    for step in range(days * 4):
        now = start + step * 6 * HOUR
        fresh = [when for day in range(days) if since and since < (when := start + day * DAY + at * HOUR) <= now]
        rhythm, since = observe(rhythm, Observation(now, since, fresh)), now
    return rhythm


def test_nothing_learned_means_half_an_item_a_day() -> None:
    assert rate(Rhythm()) == pytest.approx(0.5 / 24)


def test_one_item_a_day_is_learned_as_such() -> None:
    assert rate(daily(60)) * 24 == pytest.approx(1.0, rel=0.25)


def test_the_hour_of_the_items_is_learned_in_utc() -> None:
    hours = daily(28).hours()
    assert {int(hour) % 24 for hour in hours.nonzero()[0]} == {9}
    assert len(hours.nonzero()[0]) == 7


def test_monday_morning_is_the_first_day_of_the_week() -> None:
    seen = observe(Rhythm(), Observation(MONDAY + HOUR, MONDAY, [MONDAY + timedelta(minutes=31)]))
    assert seen.hours().nonzero()[0].tolist() == [0]
    assert seen.cells().nonzero()[0].tolist() == [6]


def test_counts_halve_in_fourteen_days() -> None:
    before = observe(Rhythm(), Observation(MONDAY + HOUR, MONDAY, [MONDAY + HOUR]))
    after = observe(before, Observation(MONDAY + HOUR + 14 * DAY, MONDAY + HOUR))
    assert after.items == pytest.approx(before.items / 2)
    assert after.hours().sum() == pytest.approx(before.hours().sum() / 2)


def test_a_first_answer_tells_of_the_past_back_to_its_oldest_item() -> None:
    dates = [MONDAY - day * DAY for day in range(11)]
    seen = observe(Rhythm(), Observation(MONDAY, None, dates))
    assert seen.exposure == pytest.approx(240, rel=0.25)
    assert 7 < seen.items < 10
    assert rate(seen) * 24 == pytest.approx(1.0, rel=0.45)


def test_the_oldest_item_of_a_first_answer_opens_the_count_and_is_not_counted() -> None:
    seen = observe(Rhythm(), Observation(MONDAY, None, [MONDAY - DAY]))
    assert seen.items == 0
    assert seen.exposure == pytest.approx(24, rel=0.05)


def test_a_pinned_item_of_last_year_counts_as_four_weeks_old() -> None:
    recent = [MONDAY - n * HOUR for n in range(48)]
    pinned = observe(Rhythm(), Observation(MONDAY, None, [MONDAY - 400 * DAY, *recent]))
    assert pinned == observe(Rhythm(), Observation(MONDAY, None, [MONDAY - 28 * DAY, *recent]))


def test_the_gap_of_a_weekend_is_remembered_during_the_week() -> None:
    dates = [MONDAY + day * DAY + n * HOUR for day in (0, 1, 2, 3, 4, 7, 8, 9) for n in range(8, 18)]
    rhythm = observe(Rhythm(), Observation(MONDAY + 5 * DAY, None, dates[:50]))
    for now, new in ((8 * DAY, dates[50:60]), (9 * DAY, dates[60:70]), (10 * DAY, dates[70:])):
        rhythm = observe(rhythm, Observation(MONDAY + now, MONDAY + now - DAY, new))
    assert 50 < rhythm.longest_gap <= 63


def test_a_first_answer_without_dates_teaches_nothing() -> None:
    seen = observe(Rhythm(), Observation(MONDAY, None, [None] * 20))
    assert (seen.items, seen.exposure, seen.polls, seen.changes) == (0, 0, 0, 0)


def test_an_answer_that_overflowed_counts_only_the_time_it_spans() -> None:
    first = observe(Rhythm(), Observation(MONDAY, None, []))
    dates = [MONDAY + 47 * HOUR + timedelta(minutes=6 * n) for n in range(10)]
    plain = observe(first, Observation(MONDAY + 48 * HOUR, MONDAY, dates))
    overflowed = observe(first, Observation(MONDAY + 48 * HOUR, MONDAY, dates, has_overflowed=True))
    assert overflowed.exposure == pytest.approx(1, rel=0.01)
    assert plain.exposure > 40
    assert rate(overflowed) > rate(plain)


def test_a_date_in_the_future_counts_as_now() -> None:
    seen = observe(Rhythm(), Observation(MONDAY + HOUR, MONDAY, [MONDAY + 9 * DAY]))
    assert seen.newest == in_hours(MONDAY + HOUR)
    assert seen.items == 1


def test_a_backdated_item_counts_but_its_hour_does_not() -> None:
    first = observe(Rhythm(), Observation(MONDAY, None, []))
    seen = observe(first, Observation(MONDAY + HOUR, MONDAY, [MONDAY - 30 * DAY]))
    assert seen.items == 1
    assert seen.hours().sum() == 0
    assert seen.newest == in_hours(MONDAY + HOUR)


@pytest.mark.parametrize("changed_polls", [0, 12, 24])
def test_undated_items_are_counted_by_how_many_polls_changed(changed_polls: int) -> None:
    rhythm = observe(Rhythm(), Observation(MONDAY, None, [None] * 10))
    for n in range(24):
        now = MONDAY + (n + 1) * HOUR
        rhythm = observe(rhythm, Observation(now, now - HOUR, [None] if n < changed_polls else []))
    per_hour = {0: 0.0, 12: 0.67, 24: 3.9}[changed_polls]
    assert rate(rhythm) == pytest.approx(per_hour, abs=0.1)


def hourly(changed: int, hours: int = 24) -> Rhythm:
    """Undated items, polled every hour; so many polls found some."""
    rhythm = observe(Rhythm(), Observation(MONDAY, None, [None] * 10))
    for n in range(hours):
        now = MONDAY + (n + 1) * HOUR
        rhythm = observe(rhythm, Observation(now, now - HOUR, [None] if n < changed else []))
    return rhythm


@pytest.mark.parametrize("changed", [1, 12, 24])
def test_polls_in_between_that_find_nothing_say_no_more_than_the_time_they_watched(changed: int) -> None:
    before, start = hourly(changed), MONDAY + 24 * HOUR
    once = observe(before, Observation(start + HOUR, start))
    often = before
    for minute in range(60):
        now = start + timedelta(minutes=minute + 1)
        often = observe(often, Observation(now, now - timedelta(minutes=1)))
    assert rate(often) == pytest.approx(rate(once), rel=0.001)
    assert often.exposure == pytest.approx(once.exposure)


def test_polls_by_turns_close_and_far_apart_find_the_true_rate_of_undated_items() -> None:
    rng, now = random_from(5), MONDAY
    rhythm = observe(Rhythm(), Observation(now, None, [None]))
    for n in range(2_000):
        wait = (0.1 if n % 2 else 2.0) * HOUR
        is_changed = rng.random() < 1 - exp(-wait / HOUR)
        rhythm, now = observe(rhythm, Observation(now + wait, now, [None] if is_changed else [])), now + wait
    assert rate(rhythm) == pytest.approx(1.0, rel=0.15)


def test_two_polls_in_the_same_moment_are_no_observation() -> None:
    first = observe(Rhythm(), Observation(MONDAY, None, [None]))
    again = observe(first, Observation(MONDAY, MONDAY, []))
    assert again.polls == 0
    assert rate(observe(again, Observation(MONDAY + HOUR, MONDAY, [None]))) == pytest.approx(1.1, abs=0.1)


def test_undated_items_teach_the_hour_only_if_the_polls_were_close() -> None:
    first = observe(Rhythm(), Observation(MONDAY, None, []))
    near = observe(first, Observation(MONDAY + 2 * HOUR, MONDAY, [None]))
    far = observe(first, Observation(MONDAY + 20 * HOUR, MONDAY, [None]))
    assert near.hours().nonzero()[0].tolist() == [1]
    assert far.hours().sum() == 0


def test_a_stretch_watched_twice_is_counted_once() -> None:
    once = observe(Rhythm(), Observation(MONDAY + 5 * HOUR, MONDAY, []))
    again = observe(once, Observation(MONDAY + 5 * HOUR, MONDAY, []))
    assert again.exposure == once.exposure


def test_a_clock_that_jumped_ahead_and_back_begins_a_rhythm_anew() -> None:
    year_ahead = MONDAY + 365 * DAY
    rhythm, since = observe(daily(20), Observation(year_ahead, MONDAY + 20 * DAY, [year_ahead - HOUR])), year_ahead
    for day in range(20, 80):
        now = MONDAY + day * DAY
        rhythm, since = observe(rhythm, Observation(now, since, [now - HOUR])), now
    assert rhythm.as_of == in_hours(since)
    assert rate(rhythm) * 24 == pytest.approx(1.0, rel=0.25)


def test_clocks_that_differ_a_little_cost_nothing_that_was_learned() -> None:
    learned = daily(20)
    ahead = in_hours(MONDAY + 20 * DAY) - learned.as_of
    behind = observe(learned, Observation(MONDAY + 19 * DAY, MONDAY + 18 * DAY))
    assert ahead < 24
    assert (behind.as_of, behind.items) == (learned.as_of, learned.items)


def test_what_was_learned_survives_the_database_exactly_and_is_small() -> None:
    rhythm = daily(40)
    text = json.dumps(rhythm.to_dict())
    assert rhythm_from(json.loads(text)) == rhythm
    assert len(text) < 2_000


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"old_form": 1},
        {"by_hour": "AAAA"},
        {"by_hour": "?"},
        {"by_hour": 7},
        {"items": "many"},
        {"items": -1.0},
        {"items": float("nan")},
        {"changes": 2.0, "polls": 1.0},
        {"newest": []},
    ],
)
def test_what_cannot_be_read_back_is_nothing_learned(stored: dict[str, object] | None) -> None:
    assert rhythm_from(stored) == Rhythm()
