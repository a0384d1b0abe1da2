"""The one word for how a source, a host or a sink does: the worst of its last run, freshness and checks. Pure."""

from enum import StrEnum


class HealthStatus(StrEnum):
    """Those that are judged are declared from the best to the worst; the last three were decided, and win."""

    OK = "ok"
    UNKNOWN = "unknown"  # nothing was tried yet: not the same as well
    SILENT = "silent"  # older than its rhythm lets expect
    WARNING = "warning"  # something is wrong, or it failed and is tried again
    STRUGGLING = "struggling"  # it does not work, and will not by itself soon
    PAUSED = "paused"
    BLOCKED = "blocked"
    DELETED = "deleted"


_RANKS = {word: rank for rank, word in enumerate(HealthStatus)}


def worst_of(*signs: HealthStatus | None) -> HealthStatus:
    """None says nothing about it; where all say nothing it is unknown."""
    return max((one for one in signs if one), key=_RANKS.__getitem__, default=HealthStatus.UNKNOWN)


def after_failures(failures: int, borne: int | None, *, is_lasting: bool = False) -> HealthStatus:
    """Of the last tries in a row: while one more is to come soon it is a warning. `borne` None: tried for ever."""
    if not failures:
        return HealthStatus.OK
    is_given_up = is_lasting or (borne is not None and failures >= borne)
    return HealthStatus.STRUGGLING if is_given_up else HealthStatus.WARNING
