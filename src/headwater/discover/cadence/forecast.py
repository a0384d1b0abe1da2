"""Items to expect by a rhythm, on a grid of five minutes, and the price of a poll that they have to be worth. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, sqrt
from typing import Any

import numpy as np

from headwater.discover.cadence.rhythm import CELL, CELLS, FLAT, HOURS, Floats, Rhythm, hour_of_week, rate

# Which of the 48 kinds of hour (24 of a weekday, 24 of a weekend day) each hour of the week is.
_KIND = np.array([hour % 24 + (24 if hour >= 120 else 0) for hour in range(HOURS)])

# Items' worth of belief in the wider habit before a channel's own counts outweigh it. Half or twice as much made
# little difference on real traces; no profile at all made a large one.
TRUST_IN_ALL = 10.0
TRUST_IN_KIND = 60.0
TRUST_IN_EVEN_MINUTES = 10.0
# Items of an even week that so much belief is worth.
_EVEN_HOURS: Floats = TRUST_IN_KIND * FLAT
_EVEN_KINDS: Floats = TRUST_IN_ALL * np.bincount(_KIND, weights=FLAT).astype(np.float64)

_GRID = HOURS * CELLS
_HOURS_AHEAD = np.arange(HOURS + 1)
_ENDS: Floats = np.arange(1, _GRID + 2, dtype=np.float64) * CELL
# Hours that a forecast reaches at first, where the square-root rule expects the next poll in so many.
_DAY_HOURS, _SOON = 24, 6.0
# Slow channels would starve if every item weighed the same: an item weighs its channel's rate to this power.
SLOWNESS = -0.25


@dataclass(frozen=True, slots=True)
class Forecast:
    """The time after `start`: at the end of each cell, the items expected since `start` and their waiting summed up."""

    start: float
    mean_rate: float
    ends: Floats  # hours after start
    rates: Floats
    items: Floats
    waiting: Floats  # item-hours

    def hours_until(self, waiting: float) -> float | None:
        """How long until the items expected since `start` have waited so many hours in all; None if over its end."""
        cell = int(np.searchsorted(self.waiting, waiting))
        if cell == len(self.waiting):
            return None
        began, items, waited = self._before(cell)
        # In one cell the rate is constant: waited + items·x + rate·x²/2 = waiting.
        density, missing = float(self.rates[cell]), waiting - waited
        return began + 2 * missing / (items + sqrt(items * items + 2 * density * missing))

    def items_within(self, hours: float) -> float:
        weeks, rest = divmod(max(hours, 0.0), float(HOURS))
        cell = min(int(np.searchsorted(self.ends, rest)), len(self.ends) - 1)
        began, items, _ = self._before(cell)
        return weeks * self.mean_rate * HOURS + items + float(self.rates[cell]) * (rest - began)

    def _before(self, cell: int) -> tuple[float, float, float]:
        if cell == 0:
            return 0.0, 0.0, 0.0
        return float(self.ends[cell - 1]), float(self.items[cell - 1]), float(self.waiting[cell - 1])


def forecast_to(price: float, rhythm: Rhythm, start: float, common: Floats = FLAT) -> tuple[Forecast, float | None]:
    """As far as it is needed, and the hours until the waiting is worth the price.

    Most channels are polled again within a day, which is a fraction of the work of a week.
    """
    mean = rate(rhythm)
    worth = price / weight(mean)
    if 2 * worth < mean * _SOON * _SOON:
        ahead = forecast(rhythm, start, common, hours=_DAY_HOURS)
        if (hours := ahead.hours_until(worth)) is not None:
            return ahead, hours
    ahead = forecast(rhythm, start, common)
    return ahead, ahead.hours_until(worth)


def forecast(rhythm: Rhythm, start: float, common: Floats = FLAT, *, hours: int = HOURS) -> Forecast:
    mean = rate(rhythm)
    first_hour, first_cell = int(hour_of_week(np.array(start))), int(start % 1 * CELLS)
    # One hour more than asked for: the first and the last are parts.
    profile = hour_profile(rhythm, common)[(first_hour + _HOURS_AHEAD[: hours + 1]) % HOURS]
    cells = (profile[:, None] * (mean * minute_profile(rhythm.cells()))).ravel()
    rates = cells[first_cell : first_cell + hours * CELLS + 1]
    last = start % CELL
    first = CELL - last
    came = rates * CELL
    came[0], came[-1] = rates[0] * first, rates[-1] * last
    items = came.cumsum()
    # The waiting of all items is the integral of how many there are.
    waited = items - came / 2
    waited[1:-1] *= CELL
    waited[0] *= first
    waited[-1] *= last
    ends = _ENDS[: len(rates)] - last
    ends[-1] = hours
    return Forecast(start, mean, ends, rates, items, waited.cumsum())


def weight(mean_rate: float) -> float:
    """The weight of an hour that an item of a channel with this rate waits."""
    return float(mean_rate**SLOWNESS)


def hour_profile(rhythm: Rhythm, common: Floats) -> Floats:
    """Each hour's rate over the mean: own hours shrunk to the same hour of like days, those to what all channels do.

    Items that came are held against those that an even week would have brought in the time watched: an hour that was
    never watched is no empty one, and says nothing.
    """
    counts, watched = rhythm.hours(), rhythm.watched()
    even = counts.sum() * watched
    kind = (_by_kind(counts) + TRUST_IN_ALL * _by_kind(common)) / (_by_kind(even) + _EVEN_KINDS)
    own = (counts + _EVEN_HOURS * kind[_KIND]) / (even + _EVEN_HOURS)
    profile: Floats = own * (HOURS / own.sum())
    return profile


def minute_profile(counts: Floats) -> Floats:
    """The rate of each five minutes of the hour over the mean."""
    profile: Floats = (counts * CELLS + TRUST_IN_EVEN_MINUTES) / (counts.sum() + TRUST_IN_EVEN_MINUTES)
    return profile


def _by_kind(counts: Floats) -> Floats:
    return np.bincount(_KIND, weights=counts).astype(np.float64, copy=False)


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
