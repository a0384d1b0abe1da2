"""From publication to discovery: delays counted in classes, and what half of them, or most, did not exceed. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

_MINUTES = (1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1_440, 2_880, 10_080)
DELAY_CLASSES = tuple(timedelta(minutes=one) for one in _MINUTES)
_CLASSES = len(DELAY_CLASSES) + 1  # the last one has no end


def delay_counts(published: Iterable[datetime | None], since: datetime, now: datetime) -> list[int]:
    """Of what was published `since` and found `now`; nothing for undated items, which say nothing of it."""
    counts = [0] * _CLASSES
    for one in published:
        if one is not None and one > since:
            counts[bisect_left(DELAY_CLASSES, now - one)] += 1
    return counts if any(counts) else []


def delay_within(counts: Sequence[int], share: float, ends: Sequence[timedelta] = DELAY_CLASSES) -> timedelta | None:
    """What this share of the delays did not exceed, as if those of a class lay evenly in it; None of no delays."""
    wanted, before, start = share * sum(counts), 0, timedelta()
    if not wanted:
        return None
    for count, end in zip(counts, ends, strict=False):
        if before + count >= wanted:
            return start + (end - start) * ((wanted - before) / count)
        before, start = before + count, end
    # Nobody knows how much longer.
    return start
