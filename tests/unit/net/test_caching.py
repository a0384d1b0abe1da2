from datetime import UTC, datetime, timedelta

import pytest

from headwater.net.caching import LONGEST_WAIT, freshness, http_date, max_age, retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
IMF_NOW = "Sun, 01 Mar 2026 12:00:00 GMT"


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("max-age=60", 60),
        ("public, max-age=60", 60),
        ("max-age=60, public", 60),
        ("PUBLIC,Max-Age=60,immutable", 60),
        ('max-age="60"', 60),
        ("max-age = 60", 60),
        ("max-age=60; public", 60),
        ("max-age=60, max-age=5", 60),
        ("s-maxage=600, max-age=60", 60),
        ('private="max-age=5, x", max-age=60', 60),
        ('extension="a\\", max-age=5", max-age=60', 60),
        ('broken="unclosed, max-age=60', 60),
        ('no-cache="Set-Cookie", max-age=60', 60),
        ("max-age=0060", 60),
        ("max-age=0", 0),
        ("max-age=-1", 0),
        ("max-age=1.5", 0),
        ("max-age=abc", 0),
        ("max-age=", 0),
        ("max-age", 0),
        ("max-age=٦٠", 0),
        ("max-age=abc, max-age=60", 0),
        ("max-age=60, no-store", 0),
        ("no-cache, max-age=60", 0),
        ("NO-STORE", 0),
    ],
)
def test_cache_control_says_how_long(header: str, expected: int) -> None:
    assert max_age(header) == seconds(expected)


@pytest.mark.parametrize(
    "header", ["", "public", "s-maxage=600", "x-max-age=60", "maxage=60", 'note="max-age=60"', ",,;="]
)
def test_cache_control_may_leave_it_open(header: str) -> None:
    assert max_age(header) is None
    assert freshness([("Cache-Control", header)], NOW) == seconds(0)


@pytest.mark.parametrize("number", ["99999999999", "9" * 400, "9" * 5000])
def test_a_huge_number_is_a_year(number: str) -> None:
    assert max_age(f"max-age={number}") == LONGEST_WAIT
    assert retry_after(number, NOW) == LONGEST_WAIT


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], 0),
        ([("cache-control", "max-age=600")], 600),
        ([("Cache-Control", "max-age=600"), ("Age", "100")], 500),
        ([("Cache-Control", "max-age=600"), ("Age", "700")], 0),
        ([("Cache-Control", "max-age=600"), ("Age", "nonsense")], 600),
        ([("Cache-Control", "public"), ("CACHE-CONTROL", "max-age=600")], 600),
        ([("Expires", "Sun, 01 Mar 2026 12:10:00 GMT")], 600),
        ([("Expires", "Sun, 01 Mar 2026 12:10:00 GMT"), ("Date", "Sun, 01 Mar 2026 12:05:00 GMT")], 300),
        ([("Expires", "Sun, 01 Mar 2026 12:10:00 GMT"), ("Date", IMF_NOW), ("Age", "60")], 540),
        ([("Expires", "Sun, 01 Mar 2026 12:10:00 GMT"), ("Cache-Control", "max-age=5")], 5),
        ([("Expires", "Sun, 01 Mar 2026 12:10:00 GMT"), ("Cache-Control", "max-age=x")], 0),
        ([("Expires", "Sun, 01 Mar 2026 12:10:00 GMT"), ("Cache-Control", "no-cache")], 0),
        ([("Expires", "Sun, 01 Mar 2026 12:10:00 GMT"), ("Cache-Control", "public")], 600),
        ([("Expires", "0")], 0),
        ([("Expires", "-1")], 0),
        ([("Expires", "Sat, 28 Feb 2026 12:00:00 GMT")], 0),
    ],
)
def test_freshness_takes_the_best_evidence(headers: list[tuple[str, str]], expected: int) -> None:
    assert freshness(headers, NOW) == seconds(expected)


def test_an_expiry_in_the_year_9999_is_a_year_away() -> None:
    assert freshness([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], NOW) == LONGEST_WAIT


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("0", 0),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120),
        ("Sunday, 01-Mar-26 12:02:00 GMT", 120),
        ("Sun Mar  1 12:02:00 2026", 120),
        ("sun, 01 mar 2026 12:02:00 gmt", 120),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ],
)
def test_retry_after_is_seconds_or_any_form_of_date(value: str, expected: int) -> None:
    assert retry_after(value, NOW) == seconds(expected)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            "soon",
            "-5",
            "1.5",
            "1e3",
            "٣",
            "120s",
            "Sun, 32 Mar 2026 12:00:00 GMT",
            "Sun, 29 Feb 2026 12:00:00 GMT",
        ),
        *("Sun, 01 Foo 2026 12:00:00 GMT", "Sun, 01 Mar 2026 25:00:00 GMT", "Sun, 01 Mar 2026 12:00:61 GMT"),
        *("Sun, 01 Mar 0000 12:00:00 GMT", "Sun, 01 Mar 2026 12:00:00 PST", "2026-03-01T12:00:00Z"),
    ],
)
def test_retry_after_that_cannot_be_read_is_none_so_that_backoff_decides(value: str) -> None:
    assert retry_after(value, NOW) is None


@pytest.mark.parametrize(("digits", "year"), [("26", 2026), ("76", 2076), ("77", 1977), ("99", 1999), ("00", 2000)])
def test_two_digits_of_a_year_lie_at_most_fifty_years_ahead(digits: str, year: int) -> None:
    found = http_date(f"Monday, 01-Mar-{digits} 12:00:00 GMT", NOW)
    assert found is not None
    assert found.year == year


def test_a_leap_second_is_a_date() -> None:
    assert http_date("Sat, 31 Dec 2016 23:59:60 GMT", NOW) == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)
