"""When a granted request may start, by the monotonic clock of the process that asked."""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

# Slots are granted this much further apart than the delay: the way from a grant to an actual start is not instant.
SLACK = timedelta(milliseconds=30)
# A lease is not begun in its last moments: the process that takes it back must not meet our request.
LEASE_MARGIN = timedelta(seconds=5)
LEASE_MARGIN_S = LEASE_MARGIN.total_seconds()

# A process that is later than this is not helped by waiting any longer: it has to be given less to do.
WIDEST_SLACK = timedelta(seconds=2)
# Answers that are heard sooner leave enough of the slack.
CALM_S = 0.010
NOT_LATE = timedelta()


class StartWindow(NamedTuple):
    earliest: float
    latest: float
    slot_at: float  # the earliest that the granted moment itself can have been

    def allows(self, moment: float) -> bool:
        return self.earliest <= moment <= self.latest

    def lateness(self, started: float) -> timedelta:
        """How long after the granted moment a request began, at the most."""
        late = started - self.slot_at
        return timedelta(0, late) if late > 0 else NOT_LATE


def start_window_for(
    asked_at: float,
    answered_at: float,
    wait: timedelta,
    lease: timedelta,
    *,
    is_alone: bool,
    slack: timedelta = SLACK,
) -> StartWindow:
    """The grant happened between question and answer: not before the latest it can have been, not after the earliest.

    Alone on its host a request may start late, since nobody else can start before it is settled, and then the next
    slot counts from its real start. Beside others it has only the slack that was asked for with its slot. Nobody starts
    in the last moments of a lease.
    """
    earliest = wait.total_seconds()
    latest = lease.total_seconds() - LEASE_MARGIN_S
    if not is_alone:
        latest = min(earliest + slack.total_seconds(), latest)
    return StartWindow(answered_at + earliest, asked_at + latest, asked_at + earliest)


@dataclass(slots=True)
class Lag:
    """How late this process comes to what it waits for, seen from how long answers of the database take to be heard."""

    seconds: float = 0.0

    def heard(self, asked_at: float, answered_at: float) -> None:
        # A bad moment is remembered for a while: the next one would cost a slot again.
        self.seconds = max(answered_at - asked_at, self.seconds * 0.9)

    @property
    def slack(self) -> timedelta:
        """How wide a window must be not to be missed: room to hear of it, and to wake up when it opens."""
        if self.seconds <= CALM_S:
            return SLACK
        return min(SLACK + timedelta(seconds=2 * self.seconds), WIDEST_SLACK)
