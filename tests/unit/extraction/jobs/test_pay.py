from decimal import Decimal

import pytest

from headwater.extraction.jobs.pay import pay_in, pay_in_prose
from headwater.extraction.jobs.vacancy import Pay


def pay(low: str | None, high: str | None, currency: str, period: str) -> Pay:
    return Pay(Decimal(low) if low else None, Decimal(high) if high else None, currency, period)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("USD 45,000 - 54,000 per year", pay("45000", "54000", "USD", "year")),
        ("US$45k–60k annually", pay("45000", "60000", "USD", "year")),
        ("45–60k EUR per annum", pay("45000", "60000", "EUR", "year")),
        ("€3.200,50 monthly", pay("3200.50", "3200.50", "EUR", "month")),
        ("£32,000 pa", pay("32000", "32000", "GBP", "year")),
        ("CHF 90'000", pay("90000", "90000", "CHF", "")),
        ("bis zu 4 000 € pro Monat", pay(None, "4000", "EUR", "month")),
        ("from KSh 120,000 per month", pay("120000", None, "KES", "month")),
    ],
)
def test_pay_is_read_however_it_is_written(said: str, meant: Pay) -> None:
    assert pay_in(said) == meant


@pytest.mark.parametrize("said", ["", "competitive", "according to the UN scale"])
def test_pay_without_a_figure_is_unknown(said: str) -> None:
    assert pay_in(said) is None


def test_a_bare_dollar_is_the_one_of_the_country_or_of_none() -> None:
    assert pay_in("$20 per hour") == pay("20", "20", "", "hour")
    assert pay_in("$20 per hour", "CA") == pay("20", "20", "CAD", "hour")


def test_figures_in_prose_are_pay_only_after_a_word_for_pay() -> None:
    assert pay_in_prose("You manage a budget of USD 2,000,000 per year.") is None
    assert pay_in_prose("Salary: EUR 3,000 to 3,500 per month.") == pay("3000", "3500", "EUR", "month")
