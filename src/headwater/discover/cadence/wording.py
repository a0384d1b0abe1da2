"""Durations as a person says them. Pure."""

from datetime import timedelta

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def in_words(wait: timedelta) -> str:
    """Two figures at most: `36 h`, `2.5 h`, `14 min`."""
    seconds = max(wait.total_seconds(), 0.0)
    for unit, size in _UNITS:
        if seconds >= 2 * size or (seconds >= size and unit != "d"):
            return f"{seconds / size:.2g} {unit}" if seconds / size < 10 else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s"
