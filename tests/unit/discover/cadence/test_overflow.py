from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.cadence.answers import FeedSnapshot, overflow, turnover

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
# Twenty items, one every three minutes: the last hour. We had seen everything until four hours ago.
FULL = FeedSnapshot(
    polled_at=NOW,
    since=NOW - 4 * HOUR,
    published=[NOW - 3 * n * MINUTE for n in range(21)],
    known=0,
    usual_size=20,
    newest_before=NOW - 4 * HOUR,
)


def test_a_full_feed_of_unknown_items_has_overflowed() -> None:
    found = overflow(FULL)
    assert found is not None
    assert found.covers == HOUR
    assert found.missed == pytest.approx(3 * 20, abs=1)
    assert found.sentence == "probably missed 59 items: the feed is shorter than the polling gap"


@pytest.mark.parametrize(
    "calm",
    [
        replace(FULL, known=1),
        replace(FULL, since=None),
        replace(FULL, usual_size=0),
        replace(FULL, usual_size=30),
        replace(FULL, published=[]),
        replace(FULL, newest_before=NOW - HOUR),
    ],
    ids=["one is known", "first poll", "had no items", "not full", "empty", "same dates under new addresses"],
)
def test_anything_else_has_not(calm: FeedSnapshot) -> None:
    assert overflow(calm) is None


def test_without_dates_it_overflowed_by_an_unknown_number() -> None:
    found = overflow(replace(FULL, published=[None] * 20))
    assert found is not None
    assert (found.missed, found.covers) == (None, 4 * HOUR)


def test_items_of_one_moment_and_of_the_future_make_no_nonsense() -> None:
    for dates in ([NOW] * 20, [NOW + n * HOUR for n in range(20)]):
        found = overflow(replace(FULL, published=dates))
        assert found is not None
        assert found.covers == MINUTE


@pytest.mark.parametrize(("known", "hours"), [(0, 4), (11, 8.4), (19, 42)])
def test_a_list_is_replaced_in_the_time_that_its_pace_needs(known: int, hours: float) -> None:
    found = turnover(replace(FULL, known=known))
    assert found is not None
    assert found / HOUR == pytest.approx(hours)


@pytest.mark.parametrize(
    "calm",
    [replace(FULL, known=20), replace(FULL, known=21), replace(FULL, published=[])],
    ids=["one is new", "nothing is new", "empty"],
)
def test_one_new_item_is_no_pace(calm: FeedSnapshot) -> None:
    assert turnover(calm) is None


# Twenty items, one every two minutes, as a first poll finds them.
FIRST = FeedSnapshot(NOW, None, [NOW - 2 * (n + 1) * MINUTE for n in range(20)], 0, 0)


def test_a_first_list_tells_its_pace_by_its_dates() -> None:
    found = turnover(FIRST)
    assert found is not None
    assert found / MINUTE == pytest.approx(40)


@pytest.mark.parametrize(
    "dates",
    [
        [*FIRST.published[:19], NOW - timedelta(days=700)],
        [*FIRST.published[:15], *[None] * 5],
        [*FIRST.published[:15], *[NOW + timedelta(days=9)] * 5],
        list(reversed(FIRST.published)),
    ],
    ids=["an old item stays on top", "some undated", "some of the future", "oldest first"],
)
def test_odd_items_do_not_hide_the_pace_of_the_others(dates: list[datetime | None]) -> None:
    found = turnover(replace(FIRST, published=dates))
    assert found is not None
    assert found / MINUTE == pytest.approx(40, rel=0.05)


def test_of_a_long_list_only_the_first_dates_are_known() -> None:
    found = turnover(replace(FIRST, listed=200))
    assert found is not None
    assert found / MINUTE == pytest.approx(400)


@pytest.mark.parametrize(
    "dates",
    [
        [],
        [None] * 20,
        [NOW - 3 * MINUTE] * 20,
        [NOW.replace(hour=0)] * 15 + [NOW - timedelta(days=n) for n in range(5)],
        [NOW - timedelta(seconds=n) for n in range(20)],
        [NOW - 3 * HOUR - n * MINUTE for n in range(20)],
        [NOW + n * MINUTE for n in range(1, 21)],
        [*FIRST.published[:8], *[None] * 12],
        FIRST.published[:4],
    ],
    ids=[
        "empty",
        "undated",
        "of one moment",
        "of a day",
        "imported just now",
        "imported this morning",
        "of the future",
        "mostly undated",
        "very short",
    ],
)
def test_dates_of_an_import_are_no_pace(dates: list[datetime | None]) -> None:
    assert turnover(replace(FIRST, published=dates)) is None


def test_the_second_poll_corrects_the_first() -> None:
    slow_import = replace(FIRST, published=[NOW - 10 * n * MINUTE for n in range(20)])
    assert turnover(slow_import) is not None
    again = replace(slow_import, polled_at=NOW + HOUR, since=NOW, known=20, usual_size=20)
    assert turnover(again) is None
