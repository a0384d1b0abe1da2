"""Days, times of day and zones in text, as people write them in many languages. Pure."""

import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import NamedTuple

from headwater.languages import month_of

_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})[-/.](?:\s(?=\d))?(\d{1,2})[-/.](?:\s(?=\d))?(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<![\d./-])(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d/-])")
_EASTERN = re.compile(r"(?<!\d)(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]?")
_DAY_NAMED_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|o|º|\.)?[\s-]*(?:of\s|de\s|del\s)?([^\W\d_]{3,12})[.,]*[\s-]*(?:de\s|del\s)?(\d{4})(?!\d)"
)
_NAMED_MONTH_DAY = re.compile(r"([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)")
_TIME = re.compile(
    r"(?<![\d.:+-])([01]?\d|2[0-3])\s?(?:[:.h時]|시|点)\s?([0-5]\d)(?!\d)(?:[:.]([0-5]\d))?(?:\s?분)?\s?([ap])?\.?(?:m\b)?",
)
_OFFSET = re.compile(r"(?:utc|gmt)?\s?([+-])(\d{1,2}):?(\d\d)?")
_CENTURY = 2000
# Abbreviations that mean one thing almost everywhere they are used.
_ZONES = (
    *((-10, "HST"), (-9, "AKST"), (-8, "PST AKDT"), (-7, "MST PDT"), (-6, "CST MDT"), (-5, "EST CDT"), (-4, "EDT AST")),
    *((-3, "ADT"), (0, "UTC GMT Z"), (1, "CET MEZ BST WEST"), (2, "CEST MESZ EET SAST"), (3, "EEST MSK TRT")),
    *((5.5, "IST"), (7, "WIB"), (8, "SGT HKT AWST"), (9, "JST KST"), (10, "AEST"), (11, "AEDT")),
    *((12, "NZST"), (13, "NZDT")),
)
_HOURS_OF_ZONE = {name: hours for hours, names in _ZONES for name in names.split()}
_ZONE = re.compile(r"\b(" + "|".join(_HOURS_OF_ZONE) + r")\b")


class WrittenDay(NamedTuple):
    """Where it stands in the text as `fold` writes it."""

    begins: int
    ends: int
    day: date


def days_in(folded: str, *, month_first: bool = False) -> Iterator[WrittenDay]:
    """Of a text that `fold` wrote; pattern by pattern, not in the order of the text. None without its year."""
    for found in _YEAR_FIRST.finditer(folded):
        yield from _day(found, found[1], found[2], found[3])
    for found in _EASTERN.finditer(folded):
        yield from _day(found, found[1], found[2], found[3])
    for found in _YEAR_LAST.finditer(folded):
        first, second = (found[3], found[1]) if month_first else (found[1], found[3])
        yield from _day(found, found[4], second, first)
    for found in _DAY_NAMED_MONTH.finditer(folded):
        yield from _day(found, found[3], month_of(found[2]), found[1])
    for found in _NAMED_MONTH_DAY.finditer(folded):
        yield from _day(found, found[3], month_of(found[1]), found[2])


def numbers_of_days(folded: str) -> Iterator[tuple[int, int]]:
    """The first and the second number of days that end with their year: which of them is the month is open."""
    return ((int(found[1]), int(found[3])) for found in _YEAR_LAST.finditer(folded))


def time_in(text: str) -> time | None:
    """`20:59 Uhr`, `9.45 pm`, `18h30`, `15時30分`: the first one."""
    found = _TIME.search(text.casefold())
    if not found:
        return None
    hour, half = int(found[1]), found[4]
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, int(found[2]), int(found[3] or 0))


def offset_in(text: str) -> timedelta | None:
    """`+02:00`, `GMT+2`, `CEST`; None where no zone stands, or an unknown one."""
    if found := _OFFSET.search(text.casefold()):
        sign, hours, minutes = found.groups()
        ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return None if ahead > timedelta(hours=14) else -ahead if sign == "-" else ahead
    named = _ZONE.search(text.upper())
    return timedelta(hours=_HOURS_OF_ZONE[named[1]]) if named else None


def hours_of_zone(name: str) -> float | None:
    return _HOURS_OF_ZONE.get(name.upper())


def first_day(folded: str, *, month_first: bool = False) -> WrittenDay | None:
    return min(days_in(folded, month_first=month_first), default=None)


def _day(found: re.Match[str], year: str, month: str | int, day: str) -> Iterator[WrittenDay]:
    whole_year = int(year) + (_CENTURY if len(year) == 2 else 0)
    try:
        yield WrittenDay(found.start(), found.end(), date(whole_year, int(month), int(day)))
    except ValueError:
        return
