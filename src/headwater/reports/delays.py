"""Times that are counted in classes, told again as times: of each step of a chart the middle one and a slow one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headwater.figures import MORE
from headwater.reports.rollups import Series

MS = 1_000


@dataclass(frozen=True, slots=True)
class DelayLines:
    """Seconds, each the upper bound of the class that it is in; 0 where nothing happened."""

    p50: tuple[float, ...]
    p95: tuple[float, ...]


def delays_in(series: Series) -> DelayLines:
    """`series` has a label for each class: the milliseconds that it ends at, or `more`. Pure."""
    bounds = sorted((int(label), label) for label in series.points if label.isdigit())
    # What is beyond the last bound is at least as long.
    classes = [(bound / MS, series.points[label]) for bound, label in bounds]
    if MORE in series.points:
        classes.append((bounds[-1][0] / MS if bounds else 0.0, series.points[MORE]))
    steps = range(max((len(points) for _, points in classes), default=0))
    return DelayLines(*(tuple(_at(classes, place, share) for place in steps) for share in (0.5, 0.95)))


def _at(classes: Sequence[tuple[float, Sequence[int]]], place: int, share: float) -> float:
    whole = sum(points[place] for _, points in classes)
    reached = 0
    for bound, points in classes:
        reached += points[place]
        if whole and reached >= share * whole:
            return bound
    return 0.0


def summed(series: Series, groups: Mapping[str, frozenset[str]]) -> dict[str, tuple[int, ...]]:
    """Points by group; a label belongs to that whose words have its beginning, up to a dot. Pure."""
    found = {}
    for name, words in groups.items():
        mine = [points for label, points in series.points.items() if label.partition(".")[0] in words]
        found[name] = tuple(map(sum, zip(*mine, strict=True)))
    return found
