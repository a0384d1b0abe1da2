"""Hours in which a channel may be polled: a source's time window, and what a feed asks to be spared. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_FORM = re.compile(r"\s*([01]?\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]?\d|2[0-3]):([0-5]\d)\s*", re.ASCII)
# Ten days of hours: whatever is open at all opens by then.
_MOST_STEPS = 240


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Local hours, across midnight where `closes` is the earlier one. Equal ends mean the whole day."""

    opens: time
    closes: time
    zone: str | None = None

    def __str__(self) -> str:
        return f"{self.opens:%H:%M}–{self.closes:%H:%M}"


def window_from(text: str, zone: str | None) -> TimeWindow | None:
    """`22:00-05:00`; what cannot be read is no window."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    opens, closes = time(int(found[1]), int(found[2])), time(int(found[3]), int(found[4]))
    return TimeWindow(opens, closes, zone)


def zone_named(name: str | None) -> ZoneInfo | None:
    """None for a zone nobody knows, so that a typing error never stops a channel."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class OpenHours:
    """The window as far as its zone is known, and what the feed asks to skip (in UTC, Monday is 0)."""

    window: TimeWindow | None = None
    zone: ZoneInfo | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()

    def first_open(self, moment: datetime) -> datetime | None:
        """`moment` itself if it is open; None if there is never an open hour."""
        at = moment
        for _ in range(_MOST_STEPS):
            later = self._past_skips(self._into_window(at))
            if later == at:
                return at
            at = later
        return None

    def _past_skips(self, moment: datetime) -> datetime:
        utc = moment.astimezone(UTC)
        if utc.weekday() in self.skip_days:
            return utc.replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
        if utc.hour in self.skip_hours:
            return utc.replace(minute=0, second=0, microsecond=0) + _HOUR
        return moment

    def _into_window(self, moment: datetime) -> datetime:
        if self.window is None or self.zone is None or _is_inside(self.window, moment.astimezone(self.zone).time()):
            return moment
        return _next_opening(self.window, self.zone, moment)


def _is_inside(window: TimeWindow, local: time) -> bool:
    """By what a wall clock shows, so an hour that comes twice is open both times."""
    if window.opens == window.closes:
        return True
    if window.opens < window.closes:
        return window.opens <= local < window.closes
    return local >= window.opens or local < window.closes


def _next_opening(window: TimeWindow, zone: ZoneInfo, moment: datetime) -> datetime:
    today = moment.astimezone(zone).date()
    openings = (opening for days in range(-1, 4) for opening in _openings_on(today + days * _DAY, window, zone))
    return min(opening for opening in openings if opening > moment)


def _openings_on(day: date, window: TimeWindow, zone: ZoneInfo) -> Iterator[datetime]:
    """One, as a rule; two where the clock is set back over it, and where it is set forward the moment it jumps past."""
    local = datetime.combine(day, window.opens, zone)
    first, second = local.astimezone(UTC), local.replace(fold=1).astimezone(UTC)
    if first <= second:
        yield from (first, second)
        return
    minutes = (second + n * _MINUTE for n in range((first - second) // _MINUTE + 1))
    yield from (minute for minute in minutes if _is_inside(window, minute.astimezone(zone).time()))
