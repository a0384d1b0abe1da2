import json
from math import sqrt

import pytest

from headwater.discover.cadence.forecast import HIGHEST, LOWEST, Price, next_price, price_from


def test_on_budget_the_price_stays() -> None:
    assert next_price(Price(0.2), 500, 500) == Price(0.2)


def test_too_many_polls_raise_the_price_and_too_few_lower_it() -> None:
    assert next_price(Price(0.2), 600, 500).hours > 0.2 > next_price(Price(0.2), 400, 500).hours


@pytest.mark.parametrize("first", [0.0005, 0.05, 5.0])
def test_the_price_settles_where_the_polls_equal_the_budget(first: float) -> None:
    price = Price(first)
    for _ in range(24 * 14):
        price = next_price(price, made=100 / sqrt(price.hours), allowed=400)
    assert 100 / sqrt(price.hours) == pytest.approx(400, rel=0.01)


def test_days_and_nights_add_up_to_the_budget() -> None:
    price, made = Price(0.06), 0.0
    for hour in range(24 * 60):
        polls = 100 * (1.9 if 6 <= hour % 24 < 18 else 0.1) / sqrt(price.hours)
        price = next_price(price, polls, allowed=400)
        made += polls if hour >= 24 * 30 else 0
    assert made / (24 * 30) == pytest.approx(400, rel=0.01)


def test_an_hour_of_few_channels_says_little() -> None:
    assert next_price(Price(1), 2, 1).hours - 1 < (next_price(Price(1), 2_000, 1_000).hours - 1) / 2


@pytest.mark.parametrize(("made", "allowed"), [(0, 0), (1e12, 0), (0, 1e12), (-5, -5)])
def test_nothing_drives_the_price_out_of_bounds(made: float, allowed: float) -> None:
    price = Price(1.0)
    for _ in range(1_000):
        price = next_price(price, made, allowed)
    assert LOWEST <= price.hours <= HIGHEST


def test_the_price_survives_a_restart() -> None:
    assert price_from(json.loads(json.dumps(Price(0.123).to_dict()))) == Price(0.123)


@pytest.mark.parametrize("stored", [None, {}, {"hours": "x"}, {"hours": float("nan")}])
def test_a_price_that_cannot_be_read_is_the_first_one(stored: dict[str, object] | None) -> None:
    assert price_from(stored) == Price()
