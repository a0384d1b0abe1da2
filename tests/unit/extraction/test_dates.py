from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from headwater.extraction.dates import moment_from

TEN = datetime(2026, 5, 3, 10, 30, tzinfo=UTC)
MIDNIGHT = datetime(2026, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "2026-05-03T10:30:00Z",
        "2026-05-03T10:30:00.000Z",
        "2026-05-03T12:30:00+0200",
        "2026-05-03 12:30:00 +02:00",
        "2026-05-03 10:30:00 UTC",
        " 2026-05-03T10:30 ",
        "Sun, 03 May 2026 10:30:00 GMT",
        "03 May 2026 12:30 +0200",
        "03.05.2026, 10:30",
        "May 3, 2026 10:30 AM",
        "1777804200",
        "1777804200000",
    ],
)
def test_an_instant_is_read_as_publishers_write_it(written: str) -> None:
    assert moment_from(written) == TEN


@pytest.mark.parametrize(
    "written", ["2026-05-03", "20260503", "2026/05/03", "03.05.2026", "03/05/2026", "3 May 2026", "May 3rd, 2026"]
)
def test_a_day_alone_begins_at_midnight(written: str) -> None:
    assert moment_from(written) == MIDNIGHT


def test_a_time_without_a_zone_is_local() -> None:
    assert moment_from("2026-05-03T12:30", ZoneInfo("Europe/Berlin")) == TEN
    assert moment_from("2026-05-03T12:30+02:00", ZoneInfo("Asia/Tokyo")) == TEN


@pytest.mark.parametrize(
    "written",
    ["", "yesterday", "0001-01-01", "1970-01-01T00:00:00Z", "9999-12-31T23:59-12:00", "2026-13-45", "5" * 400],
)
def test_what_is_no_date_is_none(written: str) -> None:
    assert moment_from(written) is None
