"""Sizes, durations and counts as people read them."""

from datetime import timedelta

import pytest

from headwater.phrases import in_words, likely, quantity, size_in_words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1_023, "1,023 bytes"),
        (300_000, "293 kB"),
        (40 << 20, "40.0 MB"),
        (3 << 29, "1.5 GB"),
        (2_048 << 40, "2,048.0 TB"),
    ],
)
def test_a_small_size_is_never_nothing_of_a_large_unit(count: int, words: str) -> None:
    assert size_in_words(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (-5, "0.0 s"),
        (0.25, "0.2 s"),
        (30, "30 s"),
        (60, "1 min"),
        (150, "2.5 min"),
        (840, "14 min"),
        (5_400, "1.5 h"),
        (129_600, "36 h"),
        (172_800, "2 d"),
        (30 * 86_400, "30 d"),
    ],
)
def test_durations_are_said_in_the_unit_that_fits(seconds: float, words: str) -> None:
    assert in_words(timedelta(seconds=seconds)) == words


def test_one_is_no_plural() -> None:
    assert [quantity(count, "item") for count in (0, 1, 2, 2_000)] == ["0 items", "1 item", "2 items", "2,000 items"]
    assert [quantity(count, "address") for count in (1, 3)] == ["1 address", "3 addresses"]


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (0.0, "by its rhythm: a new item is less than 1 % likely by then"),
        (-1.0, "by its rhythm: a new item is less than 1 % likely by then"),
        (0.05, "by its rhythm: a new item is 5 % likely by then"),
        (1.0, "by its rhythm: a new item is 63 % likely by then"),
        (2.2, "by its rhythm: about 2 new items by then"),
        (1_500.0, "by its rhythm: about 1,500 new items by then"),
    ],
)
def test_what_is_expected_is_said_as_people_would(expected: float, words: str) -> None:
    assert likely(expected) == words
