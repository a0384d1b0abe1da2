"""The price of a poll: one number for the whole system, steered so that the polls made equal the budget. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, sqrt
from typing import Any

from headwater.discover.cadence.forecast import weight

LOWEST, HIGHEST = 1e-6, 1e6
# With few channels an hour may bring three polls or none by chance alone.
_CALM = 3.0
_LARGEST_STEP = 1.4  # fourfold


@dataclass(frozen=True, slots=True)
class Price:
    """`hours` of weighted waiting that justify one poll."""

    hours: float = 0.05

    def to_dict(self) -> dict[str, Any]:
        return {"hours": self.hours}


def price_from(stored: object) -> Price:
    hours = stored.get("hours") if isinstance(stored, dict) else None
    if not isinstance(hours, int | float) or not isfinite(hours):
        return Price()
    return Price(min(max(float(hours), LOWEST), HIGHEST))


def first_price(rates: Sequence[float], polls_per_hour: float) -> Price:
    """The price by the square-root rule, so that polls keep to the budget from the first day on.

    With a constant rate a channel is polled every sqrt(2 · price / (weight · rate)) hours.
    """
    eager = sum(sqrt(weight(rate) * rate / 2) for rate in rates) / max(len(rates), 1)
    return price_from({"hours": (eager / polls_per_hour) ** 2}) if eager else Price()


def next_price(price: Price, made: float, allowed: float, gain: float = 0.05) -> Price:
    """The price for the next hour after one with `made` polls where `allowed` were wanted.

    The small gain is on purpose: news has days and nights, and polls are worth more by day. A price that follows every
    hour would buy as many at night. The error enters linearly, not as a ratio's logarithm, so that busy and calm hours
    cancel out: over the days the polls made are the polls allowed.
    """
    excess = (max(made, 0.0) - max(allowed, 0.0)) / (max(allowed, 0.0) + _CALM)
    step = exp(min(gain * excess, _LARGEST_STEP))
    return Price(min(max(price.hours * step, LOWEST), HIGHEST))
