"""When something happened, as feeds write it: RFC 822, ISO 8601 and their usual misspellings."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz

from headwater.languages import month_of
from headwater.written_days import hours_of_zone

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
# A clock may be wrong by a time zone; what lies further ahead says nothing of when it was published.
FURTHEST_AHEAD = timedelta(days=1)
_LONGEST = 100

# Year, month, day, hour, minute, second and zone, in three orders; only the year, or day and month with it, must be.
_TIME = r"(?:[T,\s]+(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?\s*(.*)"
_WEEKDAY = r"(?:[^\W\d_]+\.?,?\s+)?"
_ISO_LIKE = re.compile(r"(\d{4})(?!\d)(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?" + _TIME, re.DOTALL)
_DAY_FIRST = re.compile(_WEEKDAY + r"(\d{1,2})\.?[\s-]+([^\W\d_]{3,12})\.?,?[\s-]+(\d{4})" + _TIME, re.DOTALL)
_MONTH_FIRST = re.compile(_WEEKDAY + r"([^\W\d_]{3,12})\.?\s+(\d{1,2}),?\s+(\d{4})" + _TIME, re.DOTALL)
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?")
_UTC = frozenset({"", "Z", "GMT", "UTC", "+0000", "+00:00"})


def moment(text: str, now: datetime) -> datetime | None:
    """In UTC; a date that lies a little ahead counts as now, and one that cannot be meant as none."""
    try:
        said = _written(text.strip())
    except (ValueError, OverflowError, LookupError, TypeError):
        return None
    if said is None or not EARLIEST <= said <= now + FURTHEST_AHEAD:
        return None
    return min(said, now)


def _written(text: str) -> datetime | None:
    if not text or len(text) > _LONGEST:
        return None
    if found := _DAY_FIRST.match(text):
        day, month, year, *time = found.groups()
        return _in_utc(year, _month(month), day, *time)
    if found := _ISO_LIKE.match(text):
        return _in_utc(*found.groups())
    if found := _MONTH_FIRST.match(text):
        month, day, year, *time = found.groups()
        return _in_utc(year, _month(month), day, *time)
    return _by_the_mail_library(text)


def _month(name: str) -> str:
    number = month_of(name) or month_of(name[:3])
    if not number:
        raise ValueError(name)
    return str(number)


def _in_utc(year: str, month: str | None, day: str | None, *time: str | None) -> datetime:
    *clock, zone = time
    hour, minute, second = (int(number or 0) for number in clock)
    # Midnight may be the 24th hour of the day before, and a minute have a leap second.
    if hour > 24 or minute > 59 or second > 60:
        raise ValueError(time)
    midnight = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    return midnight + timedelta(hours=hour, minutes=minute, seconds=second) - _offset(zone or "")


def _offset(zone: str) -> timedelta:
    if zone in _UTC:
        return timedelta()
    if found := _OFFSET.match(zone):
        sign, hours, minutes = found.groups()
        ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return -ahead if sign == "-" else ahead
    name = zone.partition(" ")[0].strip("()")
    return timedelta(hours=hours_of_zone(name) or 0)


def _by_the_mail_library(text: str) -> datetime | None:
    """Two-digit years, the year at the end: it knows more misspellings than are worth a rule here."""
    found = parsedate_tz(text)
    if found is None:
        return None
    return datetime(*found[:5], min(found[5], 59), tzinfo=UTC) - timedelta(seconds=found[9] or 0)
