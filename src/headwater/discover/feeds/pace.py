"""A publisher's word on polling: how often, and when not."""

import re
from collections.abc import Iterable
from datetime import timedelta

from headwater.languages import weekday_of

SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=7)

_NUMBER = re.compile(r"\d{1,12}", re.ASCII)
_PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(days=7),
    "monthly": timedelta(days=30),
    "yearly": timedelta(days=365),
}


def wait_said(ttl: str = "", period: str = "", frequency: str = "") -> timedelta | None:
    """`<ttl>` in minutes, or else how many times in a period the feed is updated."""
    if minutes := _number(ttl):
        return _credible(timedelta(minutes=minutes))
    times = _number(frequency or "1")
    length = _PERIODS.get(period.strip().lower())
    return _credible(length / times) if length and times else None


def hours_to_skip(texts: Iterable[str]) -> frozenset[int]:
    # Older feeds count the hours from 1 to 24.
    hours = frozenset(hour % 24 for text in texts if (hour := _number(text)) is not None and hour <= 24)
    return _unless_always(hours, 24)


def days_to_skip(texts: Iterable[str]) -> frozenset[int]:
    days = frozenset(day for text in texts if (day := weekday_of(text.strip())) is not None)
    return _unless_always(days, 7)


def _unless_always(skipped: frozenset[int], all_there_are: int) -> frozenset[int]:
    """Who publishes a feed does not mean that it should never be read."""
    return skipped if len(skipped) < all_there_are else frozenset()


def _credible(wait: timedelta) -> timedelta | None:
    return min(wait, LONGEST) if wait >= SHORTEST else None


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text := text.strip()) else None
