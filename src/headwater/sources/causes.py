"""Causes as they are stored: why a source was stopped, where a channel's errors come from, why it is not polled sooner.

Sentences for people stand beside them, and nothing is recognised by those.
"""

from collections.abc import Mapping
from enum import StrEnum


class StopReason(StrEnum):
    """Reasons for which we stop a source by ourselves; a person gives others."""

    ROBOTS_DISALLOW = "robots disallow"
    AUTO_PAUSED = "auto-paused after failures"
    UNREADABLE_ROW = "its row cannot be read"  # followed by the flaw


def stop_reason_in(text: str | None) -> StopReason | None:
    """Ours, whatever follows its colon; None for a person's own."""
    said = (text or "").partition(": ")[0]
    return StopReason(said) if said in set(StopReason) else None


class ErrorCause(StrEnum):
    """Of a channel's errors, where more is known than their class."""

    PRIVATE_ADDRESS = "private_address"
    DEAD_DOMAIN = "dead_domain"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    ROBOTS_FORBID = "robots_forbid"
    SECRET = "secret"  # noqa: S105 - a word; it is missing, or may not be sent there


class HeldBy(StrEnum):
    """The hindrance to an earlier poll of a channel, whatever interval a person sets."""

    CACHE_LIFETIME = "cache_lifetime"  # max-age or Expires
    PUBLISHER = "publisher"  # Retry-After, ttl, skipHours, skipDays
    TIME_WINDOW = "time_window"


# Errors of a class in a row after which a channel rests; a limit on requests is waited out, however often it is met.
BORNE: Mapping[str, int] = {
    "forbidden": 5,
    "not_found": 3,
    "gone": 2,
    "upstream": 10,
    "network": 10,
    "unreadable": 5,
}
