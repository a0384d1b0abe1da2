"""Years that a path or a query speaks of, told apart by what they date: one article, or a page that lists a period."""

import re
from collections.abc import Iterable, Iterator

# What follows decides: `/2019/05/storm-hits-coast` dates an article, `/2019/05/12` lists a day.
_PATH_DATE = re.compile(
    r"/(\d{4})(?:/(?:0?[1-9]|1[0-2])|-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)(?:(?:/\d{1,2})?/?$|(?=/))"
)
_CALENDAR_SEGMENT = re.compile(r"/(?:calendars?|events?|schedule|agenda|kalender|day|week|month)(?=/)")
_DATE_NAME = re.compile(r"(?:.*[._-]|start|end|from|to)?(?:date|day|week|month|year)")
_MONTH_NAME = re.compile(r"(?:.*[._-])?month[._-]?(?:offset)?")
_ISO_DATE = re.compile(r"(\d{4})-(?:0[1-9]|1[0-2])(?:-\d{2})?(?:t.*)?")
_COMPACT_DATE = re.compile(r"(\d{4})(?:(?:0[1-9]|1[0-2])(?:\d{2})?)?")
_DAY_FIRST = re.compile(r"\d{1,2}(?:[./-]|%2f)\d{1,2}(?:[./-]|%2f)(\d{4})")
_MONTHS_FROM_NOW = re.compile(r"-?\d{1,3}")
# Outside of these a number of four digits is a number, unless the URL says that it is a date.
_LIKELY_YEARS = range(1800, 2200)


def years_of_articles(path: str) -> Iterator[int]:
    return (int(found[1]) for found in _dates(path) if not _ends(found))


def years_of_listings(path: str, pairs: Iterable[tuple[str, str]], this_year: int) -> Iterator[int]:
    """Path and pairs in lower case."""
    yield from (int(found[1]) for found in _dates(path) if _ends(found))
    for name, value in pairs:
        years = (_year_written(name, value), _year_counted(name, value, this_year))
        yield from (year for year in years if year is not None)


def _dates(path: str) -> list[re.Match[str]]:
    is_calendar = _CALENDAR_SEGMENT.search(path) is not None
    return [found for found in _PATH_DATE.finditer(path) if is_calendar or int(found[1]) in _LIKELY_YEARS]


def _ends(found: re.Match[str]) -> bool:
    return found.end() == len(found.string)


def _year_written(name: str, value: str) -> int | None:
    found = _ISO_DATE.fullmatch(value)
    if found and int(found[1]) in _LIKELY_YEARS:
        return int(found[1])
    if not _DATE_NAME.fullmatch(name):
        return None
    found = found or _COMPACT_DATE.fullmatch(value) or _DAY_FIRST.fullmatch(value)
    return int(found[1]) if found else None


def _year_counted(name: str, value: str, this_year: int) -> int | None:
    """The year reached by `month=400`: a month beyond the twelfth is counted from now."""
    if _MONTH_NAME.fullmatch(name) and _MONTHS_FROM_NOW.fullmatch(value):
        return this_year + int(value) // 12
    return None
