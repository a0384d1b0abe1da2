"""Durations and counts as a person says them. Pure."""

from datetime import timedelta
from math import exp

_SURE = 1.5  # items; below it a likelihood says more
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def in_words(wait: timedelta) -> str:
    """Two figures at most: `36 h`, `2.5 h`, `14 min`."""
    seconds = max(wait.total_seconds(), 0.0)
    for unit, size in _UNITS:
        if seconds >= 2 * size or (seconds >= size and unit != "d"):
            return f"{seconds / size:.2g} {unit}" if seconds / size < 10 else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s"


def quantity(count: int, noun: str) -> str:
    """`1 item`, `2,000 items`, `3 addresses`, `4 vacancies`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("cy"):
        return f"{count:,} {noun.removesuffix('y')}ies"
    return f"{count:,} {noun}{'es' if noun.endswith('s') else 's'}"


def likely(expected: float) -> str:
    """The expected number of items, in words for a person who waits for one."""
    if expected >= _SURE:
        return f"by its rhythm: about {quantity(round(expected), 'new item')} by then"
    percent = 100 * (1 - exp(-max(expected, 0.0)))
    likelihood = f"{percent:.0f} % likely" if percent >= 1 else "less than 1 % likely"
    return f"by its rhythm: a new item is {likelihood} by then"
