"""When a granted request may start, by the monotonic clock of the process that asked. Pure."""

from datetime import timedelta
from typing import NamedTuple

# Slots are granted this much further apart than the delay: the way from a grant to an actual start is not instant.
SLACK = timedelta(milliseconds=30)
# A lease is not begun in its last moments: whoever takes it back must not meet our request.
LEASE_MARGIN = timedelta(seconds=5)


class Window(NamedTuple):
    earliest: float
    latest: float
    slot_at: float  # the earliest that the granted moment itself can have been

    def allows(self, moment: float) -> bool:
        return self.earliest <= moment <= self.latest

    def lateness(self, started: float) -> timedelta:
        """How long after the granted moment a request began, at the most."""
        return timedelta(0, max(0.0, started - self.slot_at))


def window_for(asked_at: float, answered_at: float, wait: timedelta, lease: timedelta, *, is_alone: bool) -> Window:
    """The grant happened between question and answer: not before the latest it can have been, not after the earliest.

    Alone on its host a request may start late, since nobody else can start before it is settled, and then the next
    slot counts from its real start. Beside others it has only the slack. Nobody starts in the last moments of a lease.
    """
    earliest = answered_at + wait.total_seconds()
    limit = lease - LEASE_MARGIN if is_alone else min(wait + SLACK, lease - LEASE_MARGIN)
    return Window(earliest, asked_at + limit.total_seconds(), asked_at + wait.total_seconds())
