from datetime import UTC, datetime, time, timedelta

import pytest

from headwater.discover.cadence.windows import OpenHours, TimeWindow, window_from, zone_named

PARIS = "Europe/Paris"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def hours(text: str, zone: str = PARIS) -> OpenHours:
    return OpenHours(window_from(text, zone), zone_named(zone))


@pytest.mark.parametrize(
    ("window", "moment", "opening"),
    [
        ("22:00-05:00", "2026-01-10 12:00", "2026-01-10 21:00"),
        ("22:00-05:00", "2026-01-10 23:30", "2026-01-10 23:30"),
        ("22:00-05:00", "2026-01-11 03:59", "2026-01-11 03:59"),
        ("22:00-05:00", "2026-01-11 04:00", "2026-01-11 21:00"),
        ("22:00-05:00", "2026-07-10 12:00", "2026-07-10 20:00"),
        ("09:00-17:00", "2026-01-10 12:00", "2026-01-10 12:00"),
        ("09:00-17:00", "2026-01-10 16:00", "2026-01-11 08:00"),
        ("00:00-00:00", "2026-01-10 16:00", "2026-01-10 16:00"),
    ],
)
def test_windows_are_local_and_cross_midnight(window: str, moment: str, opening: str) -> None:
    assert hours(window).first_open(at(moment)) == at(opening)


@pytest.mark.parametrize(
    ("window", "moment", "opening"),
    [
        # The clock jumps from 02:00 to 03:00 at 01:00 UTC.
        ("02:30-05:00", "2026-03-29 00:00", "2026-03-29 01:00"),
        ("02:30-03:15", "2026-03-29 00:00", "2026-03-29 01:00"),
        ("02:00-03:00", "2026-03-29 00:00", "2026-03-30 00:00"),
        # The hour from 02:00 to 03:00 comes twice, from 00:00 and from 01:00 UTC.
        ("02:30-02:45", "2026-10-25 00:00", "2026-10-25 00:30"),
        ("02:30-02:45", "2026-10-25 00:50", "2026-10-25 01:30"),
        ("02:30-02:45", "2026-10-25 01:50", "2026-10-26 01:30"),
    ],
)
def test_a_change_of_the_clock_neither_closes_a_window_nor_opens_it_early(
    window: str, moment: str, opening: str
) -> None:
    assert hours(window).first_open(at(moment)) == at(opening)


def test_skipped_hours_and_days_are_passed_over() -> None:
    spared = OpenHours(skip_hours=frozenset({0, 1, 2}), skip_days=frozenset({5, 6}))
    assert spared.first_open(at("2026-01-10 12:00")) == at("2026-01-12 03:00")
    assert spared.first_open(at("2026-01-12 03:00")) == at("2026-01-12 03:00")


def test_a_window_and_skipped_hours_hold_together() -> None:
    both = OpenHours(window_from("01:00-04:00", "UTC"), zone_named("UTC"), frozenset({1, 2}))
    assert both.first_open(at("2026-01-10 12:00")) == at("2026-01-11 03:00")


@pytest.mark.parametrize(
    "never",
    [
        OpenHours(skip_hours=frozenset(range(24))),
        OpenHours(skip_days=frozenset(range(7))),
        OpenHours(window_from("01:00-02:00", "UTC"), zone_named("UTC"), frozenset({1})),
    ],
)
def test_what_is_never_open_says_so(never: OpenHours) -> None:
    assert never.first_open(at("2026-01-10 12:00")) is None


def test_a_window_is_read_as_people_write_it() -> None:
    expected = TimeWindow(time(22), time(5, 30), PARIS)
    assert {window_from(text, PARIS) for text in ("22:00-05:30", " 22:00 – 5:30 ")} == {expected}
    assert [window_from(text, PARIS) for text in ("", "22-05", "24:00-05:00", "22:00-05:60", "a", "22:00")] == [
        None
    ] * 6


@pytest.mark.parametrize("name", [None, "", "Mars/Olympus", "../etc/passwd", "/etc", "Europe/", "\0", "Europe"])
def test_an_unknown_zone_is_no_zone(name: str | None) -> None:
    assert zone_named(name) is None


def test_an_opening_is_within_a_day_or_two_for_every_zone() -> None:
    for zone in ("Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe", "America/New_York"):
        opening = hours("03:00-03:30", zone).first_open(at("2026-04-04 18:00"))
        assert opening is not None
        assert timedelta(0) <= opening - at("2026-04-04 18:00") <= timedelta(days=1)
