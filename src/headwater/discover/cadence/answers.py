"""What an answer of a channel gives away: items missed since the one before, and validators that lie. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from headwater.net.validators import Validators
from headwater.phrases import quantity

_HARDLY_ANY_TIME = timedelta(minutes=1)
_FEWEST_OF_A_PACE = 2
_FEWEST_DATES = 5  # of a first list, to tell a pace by them


@dataclass(frozen=True, slots=True)
class FeedSnapshot:
    """One answer of a channel beside what we had before. `published` has an entry for each item, None if undated.

    Of a very long answer it has only the first ones; `listed` is how many items there are then.
    """

    polled_at: datetime
    since: datetime | None  # the successful poll before
    published: Sequence[datetime | None]
    known: int  # of them, seen before
    usual_size: int  # how many items it listed before
    newest_before: datetime | None = None  # publication of the newest item seen before
    listed: int = 0
    total: int = 0  # with the pages of other sites it lists

    @property
    def size(self) -> int:
        return max(self.listed, len(self.published))


@dataclass(frozen=True, slots=True)
class Overflow:
    missed: int | None  # an estimate; None where the items bear no dates
    covers: timedelta  # the time that its items span

    @property
    def sentence(self) -> str:
        count = "an unknown number of items" if self.missed is None else quantity(self.missed, "item")
        return f"probably missed {count}: the feed is shorter than the polling gap"


def overflow(listing: FeedSnapshot) -> Overflow | None:
    """Only if it had items before, is as full as ever, and shows none that we know."""
    is_shorter = max(listing.size, listing.total) < listing.usual_size
    if listing.since is None or listing.known or listing.size == 0 or is_shorter or listing.usual_size == 0:
        return None
    dates = sorted(min(one, listing.polled_at) for one in listing.published if one is not None)
    if len(dates) < 2:
        return Overflow(None, listing.polled_at - listing.since)
    seen_until = listing.newest_before or listing.since
    # Dates that reach back to what we had: the items have new addresses, they are not new.
    if dates[0] <= seen_until:
        return None
    covers = max(dates[-1] - dates[0], _HARDLY_ANY_TIME)
    missed = (len(dates) - 1) * ((dates[0] - seen_until) / covers) - 1
    return Overflow(max(round(missed), 0), covers)


def turnover(listing: FeedSnapshot) -> timedelta | None:
    """How long until its whole list is replaced, at the pace since the last poll; one new item is no pace."""
    if listing.since is None:
        return _dated_turnover(listing)
    size = listing.size
    new = size - listing.known
    if new < _FEWEST_OF_A_PACE:
        return None
    return max(listing.polled_at - listing.since, _HARDLY_ANY_TIME) * size / new


def _dated_turnover(listing: FeedSnapshot) -> timedelta | None:
    """The same of a first list, by the dates of its items: what it shows was published since the oldest of them.

    Dates may be those of an import: many alike, all at once, or long ago beside the time they span. They are no pace
    then. If an import looks like one all the same, the second poll finds nothing new, and what it says holds.
    """
    dates = sorted((one for one in listing.published if one is not None and one <= listing.polled_at), reverse=True)
    size = listing.size
    if len(dates) < _FEWEST_DATES or 2 * len(set(dates)) <= len(listing.published):
        return None
    # Items that a publisher keeps in its list for long are few: without the oldest tenth, the others tell the pace.
    current = dates[: len(dates) - max(1, len(dates) // 10)]
    newest, oldest = current[0], current[-1]
    if newest - oldest < max(_HARDLY_ANY_TIME, listing.polled_at - newest):
        return None
    return (listing.polled_at - oldest) * size / len(current)


DISTRUSTED_FOR = timedelta(days=30)
NOT_MODIFIED = 304


class WholeBecause(StrEnum):
    """Why a channel is asked without its validators."""

    OVERDUE = "overdue"
    DISTRUSTED = "distrusted"


@dataclass(frozen=True, slots=True)
class ValidatorRecord:
    """`is_silent` and `last_status` are those of the last poll."""

    last_status: int | None = None
    is_silent: bool = False
    newest_at: datetime | None = None
    checked_at: datetime | None = None
    distrusted_until: datetime | None = None


def whole_because(record: ValidatorRecord, now: datetime) -> WholeBecause | None:
    if record.distrusted_until is not None and now < record.distrusted_until:
        return WholeBecause.DISTRUSTED
    if record.is_silent and record.last_status == NOT_MODIFIED and _is_unchecked(record, now):
        return WholeBecause.OVERDUE
    return None


def _is_unchecked(record: ValidatorRecord, now: datetime) -> bool:
    """Once in a silence, and again whenever it has become twice as long."""
    checked, newest = record.checked_at, record.newest_at
    if checked is None or newest is None or checked <= newest:
        return True
    return now - newest >= 2 * (checked - newest)


def is_lie(sent: Validators, said: Validators, news: Sequence[datetime | None], unmodified_at: datetime | None) -> bool:
    """Whether a whole answer with `news` shows that its "not modified" of `unmodified_at` was wrong.

    It was not where all the news is younger and has other validators: these would have shown it too.
    """
    if not news:
        return False
    repeats = (sent.etag is not None and sent.etag == said.etag) or (
        sent.last_modified is not None and sent.last_modified == said.last_modified
    )
    is_older = any(one is None or unmodified_at is None or one <= unmodified_at for one in news)
    return repeats or is_older
