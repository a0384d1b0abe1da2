"""The end of vacancies that the answers of their list no longer name. Pure.

A vacancy is over when two whole answers left it out. "Not modified" is the last whole answer once more. An answer that
leaves out most of those that stood may be a page that was rebuilt, or came broken: it counts once another one, a day or
more later, says the same. Where a further page cannot be read, those that no other page names have two weeks.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from headwater.discover.polls.run_state import RunState
from headwater.phrases import quantity
from headwater.sources.health import UNREAD_DAYS

DOUBTED_FOR = timedelta(days=1)
# A page of a list that cannot be read for so long will not be: what stood there only is taken for gone.
UNREAD_FOR = timedelta(days=UNREAD_DAYS)
# So many that are gone at once, and more than are left, are doubted; all of them are, however few.
MANY = 5
# A feed may list the newest only: what has left it may still be open.
PATIENCE_WITH_FEEDS = timedelta(days=7)


class Wholeness(StrEnum):
    WHOLE = "whole"
    REPEATED = "repeated"  # not modified, in all its parts
    PARTIAL = "partial"  # some of it was not read, or not sent again
    UNREAD = "unread"  # some pages of it could not be had; all others were read


@dataclass(frozen=True, slots=True)
class Naming:
    """When the last whole answer was begun, since when vacancies have to be named to be open, and since when the
    list names none of those that stood."""

    named_at: datetime | None = None
    gone_before: datetime | None = None
    doubted_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """Of the open vacancies that a list had named before this run."""

    still: int = 0
    no_more: int = 0

    @property
    def is_doubtful(self) -> bool:
        return self.no_more > 0 and (not self.still or (self.no_more >= MANY and self.no_more > self.still))


def after_run(
    past: Naming, wholeness: Wholeness, named: Named, began: datetime, unseen_before: datetime | None = None
) -> Naming:
    if wholeness is Wholeness.UNREAD and unseen_before:
        return replace(past, gone_before=unseen_before)
    if wholeness in (Wholeness.PARTIAL, Wholeness.UNREAD):
        return past
    is_doubted = past.doubted_since is not None if wholeness is Wholeness.REPEATED else named.is_doubtful
    if not is_doubted:
        is_new = wholeness is Wholeness.WHOLE
        return Naming(named_at=began if is_new else past.named_at, gone_before=past.named_at)
    doubted_since = past.doubted_since or began
    if began - doubted_since < DOUBTED_FOR:
        return replace(past, doubted_since=doubted_since)
    # What an unchanged answer names was seen when the doubt began.
    return Naming(named_at=began if wholeness is Wholeness.WHOLE else doubted_since, gone_before=doubted_since)


def wholeness_of(run_state: RunState) -> Wholeness:
    """By the answers of a run; pages beside the list say nothing of it."""
    if run_state.is_partial:
        return Wholeness.PARTIAL
    if run_state.unread:
        return Wholeness.UNREAD
    if run_state.is_unchanged:
        return Wholeness.REPEATED
    return Wholeness.PARTIAL if run_state.has_unchanged else Wholeness.WHOLE


def unseen_before(unread_since: datetime, last_run: datetime | None, began: datetime) -> datetime | None:
    """Since when a vacancy has to be named to be open, where pages could not be read since then; None: not yet decided.

    However rarely a list is polled, the run before has left it out, too.
    """
    if last_run is None or began - unread_since < UNREAD_FOR:
        return None
    return min(began - UNREAD_FOR, last_run - DOUBTED_FOR)


def doubt_in_words(named: Named) -> str:
    return f"It no longer names {quantity(named.no_more, 'vacancy')} of {named.still + named.no_more}."
