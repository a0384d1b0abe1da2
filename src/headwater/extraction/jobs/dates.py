"""Days as people write them, in many languages. A day that does not say its year is not a day."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta, timezone

from headwater.languages import fold
from headwater.written_days import first_day, numbers_of_days

# A deadline is over when its day has ended everywhere on Earth.
_LAST_ZONE = timezone(-timedelta(hours=12))


def first_day_in(text: str, *, month_first: bool = False) -> date | None:
    found = first_day(fold(text), month_first=month_first)
    return found.day if found else None


def is_month_first(texts: Iterable[str]) -> bool:
    """Whether the days of one page are written month first; a page that leaves it open is taken for day first."""
    numbers = [pair for text in texts for pair in numbers_of_days(fold(text))]
    return any(second > 12 for _, second in numbers) and not any(first > 12 for first, _ in numbers)


def is_over(deadline: date, now: datetime) -> bool:
    return now.astimezone(_LAST_ZONE).date() > deadline
