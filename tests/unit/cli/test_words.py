"""Times, counts and texts as people read them."""

from datetime import UTC, datetime, timedelta
from unicodedata import east_asian_width

import pytest

from headwater.cli.words import (
    due,
    go_length_of,
    inert,
    length_of,
    pad,
    quantity,
    relative,
    shorten,
)
from headwater.shapes.spans import with_seconds

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0s"),
        (-5, "0s"),
        (0.4, "0s"),
        (59.6, "1m"),
        (900, "15m"),
        (3_599, "59m 59s"),
        (3_600, "1h"),
        (3_639, "1h"),
        (5_700, "1h 35m"),
        (100_800, "1d 4h"),
        (86_460, "1d"),
        (864_000, "10d"),
    ],
)
def test_a_length_is_told_in_its_two_largest_units(seconds: float, told: str) -> None:
    assert length_of(timedelta(seconds=seconds)) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(3_600, "1h0m0s"), (900, "15m0s"), (45, "45s"), (0, "0s"), (93_784, "26h3m4s"), (59.9, "1m0s")],
)
def test_an_interval_is_written_as_r72_writes_it(seconds: float, told: str) -> None:
    assert go_length_of(timedelta(seconds=seconds)) == told


@pytest.mark.parametrize(
    ("seconds", "past", "planned"),
    [(720, "in 12m", "in 12m"), (0, "in 0s", "now"), (-0.4, "0s ago", "now"), (-240, "4m ago", "overdue 4m")],
)
def test_what_is_planned_is_overdue_where_what_happened_is_ago(seconds: float, past: str, planned: str) -> None:
    moment = NOW + timedelta(seconds=seconds)
    assert (relative(moment, NOW), due(moment, NOW)) == (past, planned)


def test_what_never_happened_is_never() -> None:
    assert relative(None, NOW) == "never"


def test_one_is_singular_and_thousands_are_grouped() -> None:
    assert [quantity(count, "source") for count in (0, 1, 2, 12_345)] == [
        "0 sources",
        "1 source",
        "2 sources",
        "12,345 sources",
    ]


def test_programs_get_whole_seconds_under_a_name_that_says_so() -> None:
    told = {"every": timedelta(minutes=15), "never": None, "zero": timedelta(), "name": "a"}
    assert with_seconds(told, "every", "never", "zero") == {
        "name": "a",
        "every_seconds": 900,
        "never_seconds": None,
        "zero_seconds": 0,
    }


@pytest.mark.parametrize(
    "text",
    ["a\x1b[31mb", "a\x07b", "a\x9b1mb", "a\nb\r\n", "a\x00b", "a\u202eb", "a\u2028b", "a\udc9bb", "a\tb"],
)
def test_nothing_that_a_terminal_obeys_gets_through(text: str) -> None:
    assert inert(text).isprintable()
    assert inert(text).startswith("a ")


def test_what_people_write_stays_as_it_is() -> None:
    assert inert("Zürich – 新聞 العربية 🙂 e\u0301") == "Zürich – 新聞 العربية 🙂 e\u0301"


@pytest.mark.parametrize("text", ["", "short", "exactly ten", "a" * 40, "新聞新聞新聞新聞", "e\u0301" * 20, "🙂" * 9])
def test_a_padded_text_is_always_as_wide_as_its_column(text: str) -> None:
    shown = pad(text, 10)
    wide = sum(east_asian_width(letter) in "WF" for letter in shown)
    assert len(shown.replace("\u0301", "")) + wide == 10


def test_what_is_cut_says_so() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
    assert shorten("新聞新聞", 6) == "新聞…"
