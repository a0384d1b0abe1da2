from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.feeds.dates import moment

TENTH = datetime(2026, 1, 10, 8, 30, tzinfo=UTC)
FORMS = [
    "Sat, 10 Jan 2026 08:30:00 GMT",
    "Sat, 10 Jan 2026 09:30:00 +0100",
    "Sat, 10 Jan 2026 03:30:00 EST",
    "Sat, 10 Jan 2026 09:30 CET",
    "10 Jan 2026 08:30:00 +0000 (Coordinated Universal Time)",
    "Saturday, 10 January 2026 08:30:00 Z",
    "Sat, 10-Jan-2026 08:30:00 UTC",
    "  Sat,  10  Jan 2026\n08:30:00 GMT ",
    "Jan 10, 2026 08:30:00",
    "10 Jan 26 08:30:00 GMT",
    "10 Jan, 2026 08:30:00.000 GMT",
    "Sat Jan 10 2026 09:30:00 GMT+0100 (Central European Standard Time)",
    "Sat Jan 10 08:30:00 2026",
    "Sam, 10 Jan 2026 08:30:00 GMT",
    "2026-01-10T08:30:00Z",
    "2026-01-10T08:30:00.123456789Z",
    "2026-01-10T10:30:00+02:00",
    "2026-01-10 08:30:00",
    "2026-01-10 09:30:00 +0100",
    "2026/1/10 8:30",
    "2026-01-10T00:30:00-0800",
]


@pytest.mark.parametrize("text", FORMS)
def test_a_moment_is_read_in_any_of_its_usual_forms(text: str, now: datetime) -> None:
    assert moment(text, now) == TENTH


@pytest.mark.parametrize("text", ["2026-01-10", "Sat, 10 Jan 2026", "January 10, 2026", "2026-01-09T24:00:00Z"])
def test_a_day_alone_begins_at_midnight(text: str, now: datetime) -> None:
    assert moment(text, now) == datetime(2026, 1, 10, tzinfo=UTC)


def test_what_is_left_out_is_the_first(now: datetime) -> None:
    assert moment("2026-02", now) == datetime(2026, 2, 1, tzinfo=UTC)
    assert moment("2026", now) == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "yesterday", "Feb 30", "Mon, 30 Feb 2026 10:00:00 GMT", "2026-02-30T10:00:00Z", "2026-13-01"),
        *("9999-12-31T23:59:59Z", "Fri, 31 Dec 9999 23:59:59 GMT", "0001-01-01T00:00:00+14:00", "1970-01-01T00:00:00Z"),
        *(
            "1447/09/01",
            "2026-01-10T25:00:00Z",
            "Sat, 99 Jan 2026 08:30:00 GMT",
            "平成38年1月10日",
            "9" * 5_000,
            "1/" * 49,
        ),
    ],
)
def test_what_cannot_be_meant_is_no_moment(text: str, now: datetime) -> None:
    assert moment(text, now) is None


def test_what_lies_a_little_ahead_counts_as_now_and_further_ahead_as_nothing(now: datetime) -> None:
    assert moment((now + timedelta(hours=20)).isoformat(), now) == now
    assert moment((now + timedelta(days=2)).isoformat(), now) is None
    assert moment((now - timedelta(seconds=1)).isoformat(), now) == now - timedelta(seconds=1)
