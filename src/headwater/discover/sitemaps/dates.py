"""Dates as sitemaps write them: a moment, a day, a month or a year."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_DAY_OR_MORE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\S{1,40}", re.ASCII)
_SPANS = {4: timedelta(days=366), 7: timedelta(days=31), 10: timedelta(days=1)}
_FILLINGS = {4: "-01-01", 7: "-01", 10: ""}
# Kept away from the ends of the calendar, where adding a span or changing the zone would overflow.
_FIRST_YEAR, _LAST_YEAR = 2, 9990


class Span(NamedTuple):
    """The time a date stands for; a moment begins and ends at once."""

    begins: datetime
    ends: datetime


def span_of(text: str) -> Span | None:
    """What cannot be read is no date. Without a zone, UTC."""
    text = text.strip()
    is_partial = _DAY_OR_MORE.fullmatch(text) is not None
    if not is_partial and not _MOMENT.fullmatch(text):
        return None
    try:
        begins = datetime.fromisoformat(text + _FILLINGS[len(text)] if is_partial else text)
    except ValueError:
        return None
    if not _FIRST_YEAR <= begins.year <= _LAST_YEAR:
        return None
    begins = begins.astimezone(UTC) if begins.tzinfo else begins.replace(tzinfo=UTC)
    return Span(begins, begins + _SPANS[len(text)] if is_partial else begins)
