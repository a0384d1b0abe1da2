"""Instants from what publishers write. Always aware, never far in the future, or nothing."""

import re
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from headwater.languages import days_ago, fold, seconds_ago
from headwater.written_days import first_day, offset_in, time_in

_LONGEST = 100
_EARLIEST_YEAR, _LATEST_YEAR = 1900, 9000
_LEEWAY = timedelta(days=1)
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNIX = re.compile(r"(\d{10})(?:\d{3})?")
_SPACED_ZONE = re.compile(r"\s+(?=[+-]\d\d:?\d\d$)")
_NAMED_UTC = re.compile(r"\s*(?:UTC|GMT|Z)$", re.IGNORECASE)
# A year, or a day and month before one: nothing else is worth looking for a day in.
_LIKE_A_DAY = re.compile(r"\d{4}|\d[./-]\d{1,2}[./-]\d\d")
_AROUND_THE_TIME = 40


class ToldTime(NamedTuple):
    """What a publisher wrote, as he wrote it: without a zone where he names none. `has_time`: more than a day."""

    at: datetime
    has_time: bool

    @property
    def wall(self) -> datetime:
        """What a clock on the wall showed there."""
        return self.at.replace(tzinfo=None)


def moment_from(written: str, zone: tzinfo = UTC) -> datetime | None:
    """The instant in UTC; a time without a zone is read in `zone`."""
    told = told_in(written)
    return instant_of(told.at, zone) if told else None


def told_in(written: str) -> ToldTime | None:
    text = " ".join(written[: _LONGEST * 2].split())[:_LONGEST]
    found = _iso(text) or _unix(text) or _mail(text) or _spelt_out(text) if text else None
    # Another zone's end of the year 1 is before the first.
    if found is None or not _EARLIEST_YEAR <= found.year <= _LATEST_YEAR:
        return None
    return ToldTime(found, (found.hour, found.minute, found.second) != (0, 0, 0))


def told_ago(written: str, now: datetime, zone: tzinfo) -> ToldTime | None:
    """`3 hours ago`, `Gestern, 14:30`: by the clock of who read the page."""
    seconds = seconds_ago(written)
    if seconds is not None:
        return ToldTime((now - timedelta(seconds=seconds)).replace(second=0, microsecond=0), has_time=True)
    days, at = days_ago(written), time_in(written[:_LONGEST])
    if days is None or at is None:
        return None
    return ToldTime(datetime.combine(now.astimezone(zone).date() - timedelta(days=days), at), has_time=True)


def instant_of(at: datetime, zone: tzinfo) -> datetime | None:
    """Without the dates that stand for "unknown": year 1, the Unix epoch."""
    aware = (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    return None if aware.date() == _UNIX_EPOCH.date() else aware


def not_in_the_future(moment: datetime | None, now: datetime) -> datetime | None:
    """Some clocks run a little ahead; what claims to be days ahead says nothing of when it was published."""
    return None if moment and moment > now + _LEEWAY else moment


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
    """Day before month, as most of the world writes: with dots always, with slashes far more often than not."""
    folded = fold(text) if _LIKE_A_DAY.search(text) else ""
    found = first_day(folded)
    if found is None:
        return None
    rest = folded[found.ends : found.ends + _AROUND_THE_TIME]
    at = time_in(rest) or time_in(folded[: found.begins])
    offset = offset_in(rest) if at else None
    return datetime.combine(found.day, at or time(), timezone(offset) if offset is not None else None)
