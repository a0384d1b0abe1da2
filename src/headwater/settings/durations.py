"""Durations as people write them: `30s`, `1h30m`, `250ms`, `7d`, or bare seconds."""

import re
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DAYS = {"w": 7, "mo": 30, "y": 365}
_SPAN = re.compile(r"(\d{1,4})(w|mo|y)")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> timedelta:
    """Raises ValueError with a sentence fit for a person."""
    compact = text.strip().replace(" ", "").lower()
    try:
        seconds = float(compact)
    except ValueError:
        if not _WHOLE.fullmatch(compact):
            raise ValueError("should be a duration such as 30s, 5m, 1h30m, 7d or a number of seconds") from None
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(compact))
    if not 0 <= seconds <= 10 * 365 * 86400:
        raise ValueError("should be a duration between 0 and ten years")
    return timedelta(seconds=seconds)


def parse_durations(text: str) -> tuple[timedelta, ...]:
    """One or several, as in `24h,7d`. Raises ValueError as `parse_duration` does."""
    try:
        return tuple(parse_duration(part) for part in re.split("[,;|]", text) if part.strip())
    except ValueError:
        raise ValueError("should be a duration such as 7d, or several such as 24h,7d") from None


def parse_span(text: str) -> timedelta:
    """How far back: as a duration, and in weeks, months and years. Raises ValueError as `parse_duration` does."""
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        try:
            return parse_duration(text)
        except ValueError:
            raise ValueError("should be a length of time such as 1y, 6mo, 8w or 90d") from None
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


def format_duration(wait: timedelta) -> str:
    """The shortest exact spelling; `parse_duration` reads it back."""
    milliseconds = round(wait.total_seconds() * 1000)
    parts = []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _from_input(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a duration such as 30s, not true or false")  # noqa: TRY004 (pydantic wants ValueError)
    if isinstance(value, int | float | str):
        return parse_duration(str(value))
    return value


Duration = Annotated[timedelta, BeforeValidator(_from_input), PlainSerializer(format_duration)]

FOREVER: Literal["forever"] = "forever"
_MOST_DAYS = 3_650


def _days_from_input(value: Any) -> Any:
    """A bare number is of days; anything else says its unit."""
    text = str(value).strip().lower()
    if text == FOREVER:
        return FOREVER
    try:
        days = int(text) if text.isdecimal() else parse_span(text) / timedelta(days=1)
    except ValueError:
        days = 0
    if isinstance(value, bool) or days != int(days) or not 1 <= days <= _MOST_DAYS:
        raise ValueError("should be a number of days such as 400, 400d, 8w or 2y, from 1 to 3650, or forever")
    return int(days)


DaysOrForever = Annotated[int | Literal["forever"], BeforeValidator(_days_from_input)]


def bound_of(days: int | Literal["forever"]) -> int | None:
    """As a number, or none where nothing is ever too old."""
    return None if days == FOREVER else days
