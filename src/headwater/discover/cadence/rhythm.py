"""When a channel publishes, as far as it was learned; a value that every successful poll replaces. Pure.

The week has 168 hours of 12 cells, Monday 00:00 UTC first.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from math import exp, inf, log, log1p
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

HOURS = 168
CELLS = 12  # of five minutes, in an hour
CELL = 1 / CELLS  # in hours
FLAT: Floats = np.full(HOURS, 1 / HOURS)
# 1970 began on a Thursday.
_EPOCH = 72

HALF_LIFE = 14 * 24.0  # hours, like every duration and instant inside a rhythm
_MEMORY = HALF_LIFE / log(2)
# A first answer tells of the past as far back as its oldest item, but old items thin out in many feeds.
LONGEST_HINDSIGHT = 28 * 24.0
# Of something undated we only know between which polls it came; if they were far apart that says nothing of the hour.
_SHARP_ENOUGH = 3.0
_LARGEST_SKEW = 24.0
# What was watched before that has faded.
_LONGEST_WATCH = 16.0 * HOURS
_WEEK_LEFT = exp(-HOURS / _MEMORY)
_FADED_SINCE: Floats = np.exp(-np.arange(-1.0, HOURS + 1) / _MEMORY)  # so many hours ago
# Items' worth of belief that all channels together publish evenly: enough for hours that none was watched in.
_TRUST_IN_EVEN_HOURS = 0.1

# Until more is known: half an item in a day. Beside a longer time every channel looks slower than it is, for weeks.
PRIOR_ITEMS = 0.5
PRIOR_EXPOSURE = 24.0

_NO_HOURS = bytes(4 * HOURS)
_NO_CELLS = bytes(4 * CELLS)
_NO_DATES: Floats = np.empty(0)
_PACKED = ("by_hour", "by_cell")


@dataclass(frozen=True, slots=True)
class Observation:
    """One successful poll: `published` has one entry for each new item, None where it bears no date.

    `since` is the successful poll before it, None for the first one, whose items all count as new. `has_overflowed`
    says that the answer no longer reached back to it.
    """

    polled_at: datetime
    since: datetime | None
    published: Sequence[datetime | None] = ()
    has_overflowed: bool = False


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Counts fade with a half-life of 14 days and hold for the moment `as_of`. Instants are hours since 1970."""

    as_of: float = 0.0
    items: float = 0.0  # dated
    exposure: float = 0.0  # hours watched
    polls: float = 0.0  # of the usual length: one in between counts for the part of it that it watched
    changes: float = 0.0  # polls that found something undated
    newest: float | None = None
    longest_gap: float = 0.0
    pace: float = 0.0  # items an hour when the newest one came: silence must not erode what it is measured by
    by_hour: bytes = _NO_HOURS  # float32, and so equal after a journey through the database
    by_cell: bytes = _NO_CELLS

    def hours(self) -> Floats:
        return np.frombuffer(self.by_hour, np.float32).astype(np.float64)

    def cells(self) -> Floats:
        return np.frombuffer(self.by_cell, np.float32).astype(np.float64)

    def watched(self) -> Floats:
        """Each hour's share in the time watched, which has no gaps but those of overflows."""
        if self.exposure <= 0:
            return FLAT
        # The other way round than `observe` counts it: exposure = memory · (1 − e^(−length / memory)).
        length = min(-_MEMORY * log1p(-min(self.exposure / _MEMORY, 0.999)), _LONGEST_WATCH)
        weeks, rest = divmod(length, HOURS)
        left = _FADED_SINCE * exp(-(self.as_of % 1) / _MEMORY)
        left[0], left[-1] = 1.0, _WEEK_LEFT
        # Whole weeks are alike but for their fading, so one stands for all; then comes the part of the oldest.
        before = _WEEK_LEFT**weeks
        left = (1 - before) / (1 - _WEEK_LEFT) * left + before * np.maximum(left, exp(-rest / _MEMORY))
        faded = left[:-1] - left[1:]
        faded[0] += faded[HOURS]  # two parts of the same hour, a week apart
        shares = faded[HOURS - 1 :: -1] / (1 - exp(-length / _MEMORY))
        first = HOURS - 1 - int(hour_of_week(np.array(self.as_of)))
        return np.concatenate((shares[first:], shares[:first]))

    def to_dict(self) -> dict[str, Any]:
        """Fit for JSON, below 1.5 kB."""
        return asdict(self) | {name: b64encode(getattr(self, name)).decode() for name in _PACKED}


def rhythm_from(stored: object) -> Rhythm:
    """Nothing stored, or stored in a form that is no longer ours, is nothing learned."""
    if not isinstance(stored, dict):
        return Rhythm()
    try:
        packed: dict[str, Any] = {
            name: b64decode(value) if name in _PACKED else value for name, value in stored.items()
        }
        rhythm = Rhythm(**packed)
        return rhythm if _is_sound(rhythm) else Rhythm()
    except (TypeError, ValueError):
        return Rhythm()


def _is_sound(rhythm: Rhythm) -> bool:
    numbers = (
        rhythm.as_of,
        rhythm.items,
        rhythm.exposure,
        rhythm.polls,
        rhythm.changes,
        rhythm.longest_gap,
        rhythm.pace,
    )
    sizes = len(rhythm.by_hour), len(rhythm.by_cell)
    return (
        sizes == (len(_NO_HOURS), len(_NO_CELLS))
        and rhythm.changes <= rhythm.polls
        and all(0 <= one < inf for one in (*numbers, 0.0 if rhythm.newest is None else rhythm.newest))
        and all(bool(np.isfinite(counts).all()) and counts.min() >= 0 for counts in (rhythm.hours(), rhythm.cells()))
    )


def rate(rhythm: Rhythm) -> float:
    """Items an hour, on average over the week."""
    dated = (rhythm.items + PRIOR_ITEMS) / (rhythm.exposure + PRIOR_EXPOSURE)
    if rhythm.changes == 0:
        return dated
    # Several undated items between two polls look like one change, so the share of polls with a change is inverted.
    changed = rhythm.changes / (rhythm.polls + 0.5)
    return dated - log1p(-changed) * rhythm.polls / max(rhythm.exposure, CELL)


def observe(rhythm: Rhythm, poll: Observation) -> Rhythm:
    """Errors are no observations: what was learned survives them."""
    if rhythm.as_of > in_hours(poll.polled_at) + _LARGEST_SKEW:
        # Learned by a clock that was put back since: until that time comes, everything would count and nothing fade.
        return observe(Rhythm(), replace(poll, since=None))
    # Two pollers' clocks may differ a little; time never runs backwards here.
    now = max(in_hours(poll.polled_at), rhythm.as_of)
    dated: Floats = _NO_DATES
    if poll.published:
        dated = np.minimum(np.sort([in_hours(one) for one in poll.published if one is not None]), now)
    # What was watched before is counted already, however the caller came to name an earlier poll.
    start = max(_watched_from(poll, dated, now), rhythm.as_of)
    undated = 0 if poll.since is None else len(poll.published) - len(dated)
    watched = _watched(rhythm, start, now, undated, is_first=poll.since is None)
    if not poll.published:
        return watched
    return _with_dated(_with_undated(watched, start, undated), dated, start, is_whole=_reaches_back(poll))


def _watched(rhythm: Rhythm, start: float, now: float, undated: int, *, is_first: bool) -> Rhythm:
    """Faded until `now`, with the time watched since `start` added."""
    left = exp((rhythm.as_of - now) / _MEMORY) if rhythm.as_of else 1.0
    hours = _MEMORY * (1 - exp(-(now - start) / _MEMORY))
    seen = 0.0 if is_first else 1.0 if undated else _polls_in(rhythm, hours)
    return _scaled(rhythm, left, as_of=now, hours=hours, polls=seen, changes=undated > 0)


def _polls_in(rhythm: Rhythm, hours: float) -> float:
    """How many polls of the usual length so many hours without anything new are worth.

    Each counted as one, polls by hand and close together would say that nothing comes.
    """
    usual = rhythm.exposure / rhythm.polls if rhythm.polls else hours
    return hours / max(usual, CELL)


def _reaches_back(poll: Observation) -> bool:
    return poll.since is not None and not poll.has_overflowed


def _watched_from(poll: Observation, dated: Floats, now: float) -> float:
    """From when on nothing can have escaped us."""
    since = now if poll.since is None else min(in_hours(poll.since), now)
    if _reaches_back(poll) or len(dated) == 0:
        return since
    oldest = max(float(dated[0]), now - LONGEST_HINDSIGHT)
    return oldest if poll.since is None else max(oldest, since)


def _with_undated(rhythm: Rhythm, start: float, count: int) -> Rhythm:
    if count == 0:
        return rhythm
    middle = (start + rhythm.as_of) / 2
    is_sharp = rhythm.as_of - start <= _SHARP_ENOUGH
    counted = _counted(rhythm.hours(), hour_of_week(np.full(count, middle))) if is_sharp else rhythm.by_hour
    return _renewed(replace(rhythm, by_hour=counted), np.array([rhythm.as_of]))


def _with_dated(rhythm: Rhythm, dated: Floats, start: float, *, is_whole: bool) -> Rhythm:
    # Where the answer does not reach back, its oldest item is where counting starts, not something counted.
    came = dated[dated > start]
    # Backdated ones came between the polls too, but their date says nothing of the hour.
    late = len(dated) - len(came) if is_whole else 0
    weights = np.exp((came - rhythm.as_of) / _MEMORY)
    seen = replace(rhythm, items=rhythm.items + float(weights.sum()) + late)
    if len(came):
        seen = _timed(seen, came, weights)
    return _renewed(seen, np.append(came, rhythm.as_of) if late else np.maximum(dated, start))


def _renewed(rhythm: Rhythm, moments: Floats) -> Rhythm:
    """With what silence is measured by, after items came at these moments."""
    if len(moments) == 0:
        return rhythm
    line = moments if rhythm.newest is None else np.sort(np.append(moments, rhythm.newest))
    newest = float(line[-1])
    # Fades from item to item, not from poll to poll: a silence may not shorten the gap it is held against.
    remembered = rhythm.longest_gap * exp(((rhythm.newest or newest) - newest) / _MEMORY)
    return replace(
        rhythm,
        newest=newest,
        longest_gap=max(remembered, float(np.diff(line).max(initial=0.0))),
        pace=rate(rhythm),
    )


def _timed(rhythm: Rhythm, came: Floats, weights: Floats) -> Rhythm:
    return replace(
        rhythm,
        by_hour=_counted(rhythm.hours(), hour_of_week(came), weights),
        by_cell=_counted(rhythm.cells(), cell_of_hour(came), weights),
    )


def _counted(counts: Floats, places: NDArray[np.int64], weights: Floats | None = None) -> bytes:
    added: Floats = counts + np.bincount(places, weights=weights, minlength=len(counts))
    return added.astype(np.float32).tobytes()


def before_silence(rhythm: Rhythm) -> Rhythm:
    """As it was when the newest item came."""
    if rhythm.newest is None:
        return rhythm
    left = exp((rhythm.newest - rhythm.as_of) / _MEMORY)
    watched = max(rhythm.exposure - _MEMORY * (1 - left), 0.0)
    return _scaled(replace(rhythm, exposure=watched), 1 / left, as_of=rhythm.newest)


def _scaled(
    rhythm: Rhythm, left: float, *, as_of: float, hours: float = 0.0, polls: float = 0.0, changes: float = 0.0
) -> Rhythm:
    """Written out: at every poll of every channel `replace` would cost as much as all the rest."""
    return Rhythm(
        as_of=as_of,
        items=rhythm.items * left,
        exposure=rhythm.exposure * left + hours,
        polls=rhythm.polls * left + polls,
        changes=rhythm.changes * left + changes,
        newest=rhythm.newest,
        longest_gap=rhythm.longest_gap,
        pace=rhythm.pace,
        by_hour=(np.frombuffer(rhythm.by_hour, np.float32) * np.float32(left)).tobytes(),
        by_cell=(np.frombuffer(rhythm.by_cell, np.float32) * np.float32(left)).tobytes(),
    )


def in_hours(moment: datetime) -> float:
    return moment.timestamp() / 3600


def common_profile(rhythms: Iterable[Rhythm]) -> Floats:
    """Each hour's share in what all channels publish; one weighs the root of its items, or a few would rule."""
    came, expected = np.full((2, HOURS), _TRUST_IN_EVEN_HOURS / HOURS)
    for one in rhythms:
        counts = one.hours()
        weight = np.sqrt(max(counts.sum(), 1.0))
        came += counts / weight
        # An even week would have brought as many in the hours that were watched.
        expected += one.watched() * counts.sum() / weight
    share: Floats = came / expected / (came / expected).sum()
    return share


def common_from(stored: Sequence[float] | None) -> Floats:
    """The shares that were stored as a list of numbers, or a flat week."""
    shares = np.array(stored or (), dtype=np.float64)
    return shares if len(shares) == HOURS and shares.min() >= 0 and shares.sum() > 0 else FLAT


def hour_of_week(hours: Floats) -> NDArray[np.int64]:
    return (np.floor(hours).astype(np.int64) + _EPOCH) % HOURS


def cell_of_hour(hours: Floats) -> NDArray[np.int64]:
    return np.floor((hours % 1) * CELLS).astype(np.int64) % CELLS
