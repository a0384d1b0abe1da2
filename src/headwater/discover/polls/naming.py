"""What the answers of a list of vacancies mean for those it does not name. Pure.

A vacancy is over when two whole answers left it out. "Not modified" is the last whole answer once more. An answer that
names none of those that stood may be a page that was rebuilt, or came broken: it counts once another one, a day or more
later, says the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from headwater.discover.cadence.wording import counted

DOUBTED_FOR = timedelta(days=1)
# A feed may list the newest only: what has left it may still be open.
PATIENCE_WITH_FEEDS = timedelta(days=7)


class Wholeness(StrEnum):
    WHOLE = "whole"
    REPEATED = "repeated"  # not modified, in all its parts
    PARTIAL = "partial"  # some of it was not read, or not sent again


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
        return self.no_more > 0 and not self.still


def after_run(past: Naming, wholeness: Wholeness, named: Named, began: datetime) -> Naming:
    if wholeness is Wholeness.PARTIAL:
        return past
    is_doubted = past.doubted_since is not None if wholeness is Wholeness.REPEATED else named.is_doubtful
    if not is_doubted:
        is_new = wholeness is Wholeness.WHOLE
        return Naming(named_at=began if is_new else past.named_at, gone_before=past.named_at)
    doubted_since = past.doubted_since or began
    if began - doubted_since < DOUBTED_FOR:
        return replace(past, doubted_since=doubted_since)
    return Naming(named_at=began, gone_before=doubted_since)


def wholeness_of(kept: Mapping[str, Any], errors: int) -> Wholeness:
    """By what a walk has kept of its answers."""
    if kept.get("is_unchanged") and not errors:
        return Wholeness.REPEATED
    has_gaps = errors or kept.get("is_partial") or kept.get("has_unchanged")
    return Wholeness.PARTIAL if has_gaps else Wholeness.WHOLE


def doubt_in_words(named: Named) -> str:
    return (
        f"It names none of the {counted(named.no_more, 'vacancy')} it named before. If that is so for a day, "
        "they are over; if it is wrong, look at the page and at the selectors of its source."
    )
