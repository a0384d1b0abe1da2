from datetime import timedelta

import pytest

from headwater.discover.cadence.wording import in_words


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
