"""When a publisher publishes: an hour-of-week profile, and the moments it yields on one day."""

from bisect import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from headwater.simweb.world.dice import Dice

HOURS_OF_WEEK = 168
HOUR_SECONDS = 3600
# On a burst day something happened: four days' worth of items within two hours.
BURST_SIZE = 4.0
BURST_HOURS = 2


@dataclass(frozen=True, slots=True)
class Rhythm:
    """`weights` average to 1 over the week, Monday 00:00 local time first."""

    name: str
    weights: tuple[float, ...]
    burst_chance: float = 0.0

    def moments(self, per_day: float, weekday: int, dice: Dice) -> list[float]:
        """Seconds after local midnight, in order."""
        calm = 1 - self.burst_chance * BURST_SIZE
        until = list(accumulate(self._hours(weekday)))
        regular = (
            (bisect(until, dice.fraction() * until[-1]) + dice.fraction()) * HOUR_SECONDS
            for _ in range(dice.arrivals(per_day * calm * until[-1] / 24))
        )
        return sorted([*regular, *self._burst(per_day, dice)])

    def _burst(self, per_day: float, dice: Dice) -> list[float]:
        if not self.burst_chance or not dice.happens(self.burst_chance):
            return []
        begins = dice.between(6, 20)
        return [
            (begins + dice.fraction() * BURST_HOURS) * HOUR_SECONDS for _ in range(dice.arrivals(per_day * BURST_SIZE))
        ]

    def _hours(self, weekday: int) -> tuple[float, ...]:
        return self.weights[weekday * 24 : weekday * 24 + 24]


def _profile(name: str, weight: Callable[[int, int], float], burst_chance: float = 0.0) -> Rhythm:
    raw = [weight(hour // 24, hour % 24) for hour in range(HOURS_OF_WEEK)]
    mean = sum(raw) / HOURS_OF_WEEK
    return Rhythm(name, tuple(w / mean for w in raw), burst_chance)


RHYTHMS: Mapping[str, Rhythm] = {
    rhythm.name: rhythm
    for rhythm in (
        _profile("office_hours", lambda day, hour: 1.0 if day < 5 and 8 <= hour < 18 else 0.02),
        _profile("around_the_clock", lambda _, hour: 0.5 if hour < 5 else 1.0),
        _profile("morning_paper", lambda day, hour: 1.0 if day < 6 and 4 <= hour < 7 else 0.01),
        _profile("weekly", lambda day, hour: 1.0 if day == 3 and 9 <= hour < 12 else 0.0),
        _profile("evenings", lambda day, hour: (2.0 if day > 4 else 1.0) * (hour >= 18)),
        _profile("bursts", lambda _, hour: 1.0 if 6 <= hour < 22 else 0.1, burst_chance=0.15),
    )
}
