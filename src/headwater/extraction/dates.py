"""Instants from what publishers write. Always aware, never far in the future, or nothing."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime

_LONGEST = 64
_EARLIEST_YEAR, _LATEST_YEAR = 1900, 9000
_LEEWAY = timedelta(days=1)
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNIX = re.compile(r"(\d{10})(?:\d{3})?")
_SPACED_ZONE = re.compile(r"\s+(?=[+-]\d\d:?\d\d$)")
_NAMED_UTC = re.compile(r"\s*(?:UTC|GMT|Z)$", re.IGNORECASE)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
# Day before month, as most of the world writes: with dots always, with slashes far more often than not.
_DAYS = (
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%A, %B %d, %Y",
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", ", %H:%M", " - %H:%M")


def moment_from(written: str, zone: tzinfo = UTC) -> datetime | None:
    """The instant in UTC; a time without a zone is read in `zone`."""
    text = " ".join(written[: _LONGEST * 2].split())[:_LONGEST]
    found = _iso(text) or _unix(text) or _mail(text) or _spelt_out(text) if text else None
    return _plausible(found, zone) if found else None


def not_in_the_future(moment: datetime | None, now: datetime) -> datetime | None:
    """Some clocks run a little ahead; what claims to be days ahead was published now, as far as we can know."""
    return now if moment and moment > now + _LEEWAY else moment


def _plausible(moment: datetime, zone: tzinfo) -> datetime | None:
    """Without the dates that stand for "unknown": year 1, the Unix epoch."""
    if not _EARLIEST_YEAR <= moment.year <= _LATEST_YEAR:
        return None
    aware = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    return None if aware.date() == _UNIX_EPOCH.date() else aware


def _iso(text: str) -> datetime | None:
    plain = _SPACED_ZONE.sub("", _NAMED_UTC.sub("+00:00", text)) if text[0].isdigit() else ""
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        return None


def _unix(text: str) -> datetime | None:
    found = _UNIX.fullmatch(text)
    return _UNIX_EPOCH + timedelta(seconds=int(found[1])) if found else None


def _mail(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _spelt_out(text: str) -> datetime | None:
    plain = _ORDINAL.sub("", text)
    for form in (day + time for day in _DAYS for time in _TIMES):
        try:
            return datetime.strptime(plain, form)  # noqa: DTZ007 - the zone is the caller's
        except ValueError:
            continue
    return None
