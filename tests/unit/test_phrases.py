"""Sizes as people read them."""

import pytest

from headwater.phrases import size_in_words


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
