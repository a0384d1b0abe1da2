"""Days as people write them, in seven languages. A day that does not say its year is not a day."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta, timezone

from headwater.extraction.jobs.vocabulary import fold
from headwater.months import MONTHS

_MONTH_OF = {fold(name): number for number, names in enumerate(MONTHS, 1) for name in names.split()}

_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<![\d./-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d/-])")
_DAY_NAMED_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|o|º|\.)?[\s-]*(?:of\s|de\s|del\s)?([^\W\d_]{3,12})\.?,?[\s-]*(?:de\s|del\s)?(\d{4})(?!\d)"
)
_NAMED_MONTH_DAY = re.compile(r"([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)")

# A deadline is over when its day has ended everywhere on Earth.
_LAST_ZONE = timezone(-timedelta(hours=12))
_CENTURY = 2000


def first_day_in(text: str, *, month_first: bool = False) -> date | None:
    days = sorted(_days_in(fold(text), month_first), key=lambda found: found[0])
    return days[0][1] if days else None


def is_month_first(texts: Iterable[str]) -> bool:
    """Whether the days of one page are written month first; a page that leaves it open is taken for day first."""
    numbers = [(int(found[1]), int(found[3])) for text in texts for found in _YEAR_LAST.finditer(fold(text))]
    return any(second > 12 for _, second in numbers) and not any(first > 12 for first, _ in numbers)


def is_over(deadline: date, now: datetime) -> bool:
    return now.astimezone(_LAST_ZONE).date() > deadline


def _days_in(text: str, month_first: bool) -> Iterator[tuple[int, date]]:
    for found in _YEAR_FIRST.finditer(text):
        yield from _day(found, found[1], found[2], found[3])
    for found in _YEAR_LAST.finditer(text):
        first, second = (found[3], found[1]) if month_first else (found[1], found[3])
        yield from _day(found, found[4], second, first)
    for found in _DAY_NAMED_MONTH.finditer(text):
        yield from _day(found, found[3], _MONTH_OF.get(found[2], 0), found[1])
    for found in _NAMED_MONTH_DAY.finditer(text):
        yield from _day(found, found[3], _MONTH_OF.get(found[1], 0), found[2])


def _day(found: re.Match[str], year: str, month: str | int, day: str) -> Iterator[tuple[int, date]]:
    whole_year = int(year) + (_CENTURY if len(year) == 2 else 0)
    try:
        yield found.start(), date(whole_year, int(month), int(day))
    except ValueError:
        return
