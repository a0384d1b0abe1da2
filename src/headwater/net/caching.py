"""The times an answer names: how long it stays fresh, and how long to stay away. Pure."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta

from headwater.languages import SHORT_MONTHS

HeaderPairs = Iterable[tuple[str, str]]

# Beyond a year a number is a way to say "for ever", and arithmetic with it may overflow.
LONGEST_WAIT = timedelta(days=365)
NO_WAIT = timedelta(0)

_SECONDS = re.compile(r"\d+", re.ASCII)
_MOST_DIGITS = 12
_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_DIRECTIVE = re.compile(rf'({_NAME})(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?')
_MONTH = "|".join(SHORT_MONTHS)
_TIME = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
# RFC 9110 5.6.7: the form of today, the one of RFC 850 and that of asctime; day names say nothing new.
_DATE_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"(?:[a-z]+, ?)?(?P<day>\d\d?)[ -](?P<month>{_MONTH})[ -](?P<year>\d{{4}}|\d\d) {_TIME} (?:gmt|utc)",
        rf"[a-z]+ (?P<month>{_MONTH}) (?P<day>[ \d]?\d) {_TIME} (?P<year>\d{{4}})",
    )
)


def freshness(headers: HeaderPairs, now: datetime) -> timedelta:
    """How much longer the answer may be used without asking again, for a private cache; zero when it does not say."""
    said = _by_name(headers)
    lifetime = max_age(said["cache-control"]) if "cache-control" in said else None
    if lifetime is None:
        lifetime = _until_expiry(said, now)
    age = _seconds(said.get("age", "")) or NO_WAIT
    return max(lifetime - age, NO_WAIT)


def max_age(cache_control: str) -> timedelta | None:
    """Zero if it must not be kept or the number is nonsense, None if the header leaves the question open."""
    found: timedelta | None = None
    for name, value in _directives(cache_control):
        # With a value, no-cache speaks of single header fields only (RFC 9111 5.2.2.4).
        if name == "no-store" or (name == "no-cache" and value is None):
            return NO_WAIT
        # The first of several counts (RFC 9111 4.2.1).
        if name == "max-age" and found is None:
            found = _seconds(value or "") or NO_WAIT
    return found


def retry_after(value: str, now: datetime) -> timedelta | None:
    """Seconds or a date; the past is zero, what cannot be read is None."""
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    until = http_date(value, now)
    return None if until is None else _between(now, until)


def http_date(value: str, now: datetime) -> datetime | None:
    """`now` decides the century of a year with two digits."""
    for form in _DATE_FORMS:
        if found := form.fullmatch(value.strip()):
            return _instant(found, now)
    return None


def _by_name(headers: HeaderPairs) -> dict[str, str]:
    """Repeated fields joined by commas, as RFC 9110 5.3 reads them."""
    said: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        said[key] = f"{said[key]}, {value}" if key in said else value
    return said


def _directives(cache_control: str) -> Iterator[tuple[str, str | None]]:
    for found in _DIRECTIVE.finditer(cache_control):
        yield found[1].lower(), found[3] if found[2] is None else found[2]


def _seconds(text: str) -> timedelta | None:
    text = text.strip()
    if not _SECONDS.fullmatch(text):
        return None
    if len(text) > _MOST_DIGITS:
        return LONGEST_WAIT
    return min(timedelta(seconds=int(text)), LONGEST_WAIT)


def _until_expiry(said: dict[str, str], now: datetime) -> timedelta:
    expires = http_date(said.get("expires", ""), now)
    if expires is None:
        return NO_WAIT
    # Both by the server's clock, which may be wrong; without Date ours has to do.
    return _between(http_date(said.get("date", ""), now) or now, expires)


def _between(start: datetime, end: datetime) -> timedelta:
    return min(max(end - start, NO_WAIT), LONGEST_WAIT)


def _instant(found: re.Match[str], now: datetime) -> datetime | None:
    month = SHORT_MONTHS.index(found["month"].lower()) + 1
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"])
    try:
        # A leap second is taken for the one before it: datetime knows none.
        time_of_day = time(hour, minute, 59 if second == 60 else second, tzinfo=UTC)
        return datetime.combine(date(_year(found["year"], now), month, int(found["day"])), time_of_day)
    except ValueError:
        return None


def _year(digits: str, now: datetime) -> int:
    """RFC 9110 5.6.7: two digits more than 50 years ahead mean the last such year in the past."""
    if len(digits) == 4:
        return int(digits)
    year = now.year - now.year % 100 + int(digits)
    return year - 100 if year > now.year + 50 else year
