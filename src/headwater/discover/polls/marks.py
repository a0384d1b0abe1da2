"""What a poller remembers from claim to claim: where it need not look again, and whose turn it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headwater.clock import Clock

# How long a claim trusts where the last one found its first due channel. Then it looks everywhere again, so that a
# channel that was made due in the past, or by a transaction that ended late, is found.
MARKS_HOLD = timedelta(seconds=10)
# Of channels that are polled for the first time, while others are due: one in so many.
FIRST_EVERY = 4


@dataclass(slots=True)
class Marks:
    """Without them a claim walks over all that was due since the oldest snapshot of the database began."""

    clock: Clock
    _marks: Sequence[datetime] | None = field(default=None, init=False)
    _looked_at: float = field(default=float("-inf"), init=False)

    def standing(self) -> Sequence[datetime] | None:
        """None: look everywhere."""
        moment = self.clock.monotonic()
        if self._marks is None or moment - self._looked_at > MARKS_HOLD.total_seconds():
            self._marks, self._looked_at = None, moment
        return self._marks

    def note(self, marks: Sequence[datetime]) -> None:
        self._marks = marks

    def forget(self) -> None:
        """Something was made due or given back, and may lie before them."""
        self._marks = None

    def before_they_end(self, wait: timedelta | None) -> timedelta:
        """Something may wait before the marks: nobody sleeps longer than they are trusted."""
        left = MARKS_HOLD - timedelta(seconds=self.clock.monotonic() - self._looked_at)
        return left if wait is None else min(wait, left)


@dataclass(slots=True)
class FirstPolls:
    """How many of a claim are first polls although others are due; what a small claim lacks is carried on."""

    _owed: int = field(default=0, init=False)

    def among(self, most: int) -> int:
        share, self._owed = divmod(self._owed + most, FIRST_EVERY)
        return share
