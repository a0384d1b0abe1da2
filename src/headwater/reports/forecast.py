"""How large the database will be: from what it holds, how it grew lately and how long each part is kept."""

from collections.abc import Sequence
from dataclasses import dataclass

FARTHEST_DAYS = 365


@dataclass(frozen=True, slots=True)
class Day:
    """One day of a history table; today is no days ago, days to come are less."""

    days_ago: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Part:
    """Tables that grow for the same reason.

    `per_day`: bytes, none while it is too early to tell. `keep_days`: none is for ever. `age_days`: of its oldest row,
    at the most. `days`: of tables that are dropped a day at a time.
    """

    name: str
    bytes: int
    per_day: float | None = None
    keep_days: int | None = None
    age_days: float = 0
    days: tuple[Day, ...] = ()

    def bytes_in(self, days: int) -> float:
        per_day = self.per_day or 0.0
        if self.days:
            return self._bytes_of_days_in(days, per_day)
        # What goes makes room for what comes: files do not become smaller.
        left = days if self.keep_days is None else min(days, max(0.0, self.keep_days - self.age_days))
        return self.bytes + per_day * left

    def _bytes_of_days_in(self, days: int, per_day: float) -> float:
        """Days that are old by then are gone; as many as now are made ahead, and empty."""
        if self.keep_days is None:
            return self.bytes + per_day * days
        standing = sum(day.bytes for day in self.days if day.days_ago < 0 or day.days_ago + days <= self.keep_days)
        return standing + per_day * min(days, self.keep_days + 1)


@dataclass(frozen=True, slots=True)
class SizeForecast:
    """`free_bytes`: of the disk the data lies on; none where that is another machine's."""

    parts: tuple[Part, ...]
    free_bytes: int | None = None

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)

    @property
    def is_early(self) -> bool:
        return any(part.per_day is None for part in self.parts)

    @property
    def per_day(self) -> float | None:
        """Bytes that the next day adds, less those dropped then; none while it is too early to tell."""
        return None if self.is_early else self.bytes_in(1) - self.bytes

    def bytes_in(self, days: int) -> float:
        return sum(part.bytes_in(days) for part in self.parts)

    @property
    def days_of_room(self) -> int | None:
        """Whole days until the disk is full; none where it is not within a year, or cannot be told."""
        if self.free_bytes is None or self.is_early:
            return None
        most = self.bytes + self.free_bytes
        full = (days for days in range(1, FARTHEST_DAYS + 1) if self.bytes_in(days) > most)
        return next((days - 1 for days in full), None)


def daily_growth(days: Sequence[Day], known_days: int) -> float | None:
    """The mean of the whole days of the last week, of those since the installation began."""
    whole = [day.bytes for day in days if 1 <= day.days_ago <= min(7, known_days)]
    return sum(whole) / len(whole) if whole else None
