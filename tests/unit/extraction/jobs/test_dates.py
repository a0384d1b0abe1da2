from datetime import UTC, date, datetime

import pytest

from headwater.extraction.jobs.dates import first_day_in, is_month_first, is_over

DAY = date(2026, 9, 14)


@pytest.mark.parametrize(
    "said",
    [
        "2026-09-14",
        "2026-09-14T23:59:59+02:00",
        "2026/9/14",
        "14/09/2026",
        "14.09.26",
        "14-Sep-2026",
        "14 September 2026",
        "14th of September, 2026",
        "September 14, 2026",
        "Sept. 14th 2026",
        "14. September 2026",
        "14 septembre 2026",
        "14 de septiembre de 2026",
        "14 de setembro de 2026",
        "14 сентября 2026 г.",
        "١٤ سبتمبر ٢٠٢٦",
        "Apply until Monday 14 September 2026, 17:00 CET",
    ],
)
def test_a_day_is_read_however_it_is_written(said: str) -> None:
    assert first_day_in(said) == DAY


@pytest.mark.parametrize("said", ["", "as soon as possible", "14 September", "31/02/2026", "20260914", "1.2.3.2026"])
def test_what_is_no_day_stays_none(said: str) -> None:
    assert first_day_in(said) is None


def test_the_first_of_several_days_is_meant() -> None:
    assert first_day_in("closes 14 September 2026, interviews from 2026-10-01") == DAY


def test_one_clear_day_tells_how_the_page_writes_all_of_them() -> None:
    assert is_month_first(["03/04/2026", "03/25/2026"])
    assert not is_month_first(["03/04/2026", "25/03/2026"])
    assert not is_month_first(["03/04/2026"])
    assert first_day_in("09/14/2026", month_first=True) == DAY


def test_a_deadline_counts_until_its_day_has_ended_everywhere() -> None:
    assert not is_over(DAY, datetime(2026, 9, 15, 11, 59, tzinfo=UTC))
    assert is_over(DAY, datetime(2026, 9, 15, 12, 0, tzinfo=UTC))
