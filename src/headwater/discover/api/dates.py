"""Instants as APIs write them: in words, or counted from 1970."""

from contextlib import suppress
from datetime import UTC, datetime

from headwater.discover.feeds.dates import EARLIEST, moment

# The year 5138 in seconds, 1973 in milliseconds: nobody means both.
_MILLISECONDS_FROM = 100_000_000_000
_DIGITS_OF_EPOCHS = range(9, 14)


def instant_from(value: object, now: datetime) -> datetime | None:
    """None for what is no instant or cannot be meant; what lies ahead counts as now."""
    match value:
        case bool():
            return None
        case str() if value.isascii() and value.isdigit() and len(value) in _DIGITS_OF_EPOCHS:
            return _counted(int(value), now)
        case str():
            return moment(value, now)
        case int() | float():
            return _counted(value, now)
        case _:
            return None


def _counted(number: float, now: datetime) -> datetime | None:
    with suppress(ValueError, OverflowError, OSError):
        found = datetime.fromtimestamp(number / 1000 if number >= _MILLISECONDS_FROM else number, UTC)
        return min(found, now) if found >= EARLIEST else None
    return None
