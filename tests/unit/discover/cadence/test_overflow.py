from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.cadence.overflow import Listing, overflow, turnover

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
# Twenty items, one every three minutes: the last hour. We had seen everything until four hours ago.
FULL = Listing(
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
def test_anything_else_has_not(calm: Listing) -> None:
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
    [replace(FULL, known=20), replace(FULL, known=21), replace(FULL, since=None), replace(FULL, published=[])],
    ids=["one is new", "nothing is new", "first poll", "empty"],
)
def test_one_new_item_is_no_pace(calm: Listing) -> None:
    assert turnover(calm) is None
