"""The week as the rhythm sees it: 168 hours of 12 cells, Monday 00:00 UTC first. Pure."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

HOURS = 168
CELLS = 12  # of five minutes, in an hour
CELL = 1 / CELLS  # in hours
# 1970 began on a Thursday.
_EPOCH = 72

# Which of the 48 kinds of hour (24 of a weekday, 24 of a weekend day) each hour of the week is, and how often it comes.
_KIND = np.array([hour % 24 + (24 if hour >= 120 else 0) for hour in range(HOURS)])
_TIMES_A_WEEK = np.where(_KIND >= 24, 2.0, 5.0)

# Items' worth of belief in the wider habit before a channel's own counts outweigh it. Half or twice as much made
# little difference on real traces; no profile at all made a large one.
TRUST_IN_ALL = 10.0
TRUST_IN_KIND = 60.0
TRUST_IN_EVEN_MINUTES = 10.0

FLAT: Floats = np.full(HOURS, 1 / HOURS)


def hour_of_week(hours: Floats) -> NDArray[np.int64]:
    return (np.floor(hours).astype(np.int64) + _EPOCH) % HOURS


def cell_of_hour(hours: Floats) -> NDArray[np.int64]:
    return np.floor((hours % 1) * CELLS).astype(np.int64) % CELLS


def hour_profile(counts: Floats, common: Floats) -> Floats:
    """Each hour's rate over the mean: own hours shrunk to the same hour of like days, those to what all channels do."""
    total = counts.sum()
    kind = (_by_kind(counts) + TRUST_IN_ALL * _by_kind(common)) / (total + TRUST_IN_ALL)
    expected = kind[_KIND] / _TIMES_A_WEEK
    own: Floats = (counts + TRUST_IN_KIND * expected) / (total + TRUST_IN_KIND)
    return own * HOURS


def minute_profile(counts: Floats) -> Floats:
    """The rate of each five minutes of the hour over the mean."""
    profile: Floats = (counts * CELLS + TRUST_IN_EVEN_MINUTES) / (counts.sum() + TRUST_IN_EVEN_MINUTES)
    return profile


def common_profile(counts: Iterable[Floats]) -> Floats:
    """Each hour's share in what all channels publish; one weighs the root of its items, or a few would rule."""
    total = np.full(HOURS, 1e-6)
    for one in counts:
        total += one / np.sqrt(max(one.sum(), 1.0))
    share: Floats = total / total.sum()
    return share


def common_from(stored: Sequence[float] | None) -> Floats:
    """What was stored as a list of numbers, or a flat week."""
    shares = np.array(stored or (), dtype=np.float64)
    return shares if len(shares) == HOURS and shares.min() >= 0 and shares.sum() > 0 else FLAT


def _by_kind(counts: Floats) -> Floats:
    return np.bincount(_KIND, weights=counts, minlength=48).astype(np.float64)
