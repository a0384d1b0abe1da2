"""Validators that lie: a server says "not modified" although its channel has changed. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from headwater.net.validators import Validators

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
