"""How much a worker takes on at once where nobody says a number: more while there is work, less when there is none."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from headwater.machine import MEBIBYTE, memory_limit

FEWEST, MOST = 10, 100
# What one piece of work may hold in memory at its worst, and the share of all memory that such work may have.
WORST_BYTES, MEMORY_SHARE = 10 * MEBIBYTE, 4
# One thread does all of it: with less of a processor left than this, more at once would only make everything late.
BUSY = 0.85
# Seconds that all work together waited for connections to the database, in each second: with one always waiting, more
# at once would only lengthen the line.
WAITING = 1.0
# Between two changes: what was taken on last must have had time to show.
CHANGED_EVERY_S = 1.0
STEP = 1.25


def most_at_once(memory_bytes: int | None) -> int:
    """Where memory is limited, no more than fits into a share of it."""
    if memory_bytes is None:
        return MOST
    return max(FEWEST, min(MOST, memory_bytes // MEMORY_SHARE // WORST_BYTES))


@dataclass(slots=True)
class Load:
    """`size` is how much may run at once now.

    `worked` are seconds of processor time so far, `waited` seconds that work waited for a connection.
    """

    most: int = field(default_factory=lambda: most_at_once(memory_limit()))
    worked: Callable[[], float] = time.process_time
    waited: Callable[[], float] = lambda: 0.0
    size: int = FEWEST
    _since: float | None = None
    _worked: float = 0.0
    _waited: float = 0.0
    _has_lacked: bool = False
    _has_waited: bool = False

    def note_claim(self, asked: int, got: int, moment: float) -> None:
        """After each claim: fewer than asked for means that nothing more was due."""
        self._has_lacked |= got < asked
        self._change(moment)

    def note_full(self, moment: float) -> None:
        """Nothing was claimed because everybody had something to do."""
        self._has_waited = True
        self._change(moment)

    def _change(self, moment: float) -> None:
        if self._since is None:
            self._begin(moment)
            return
        if (passed := moment - self._since) < CHANGED_EVERY_S:
            return
        lacks_processor = (self.worked() - self._worked) / passed > BUSY
        is_busy = lacks_processor or (self.waited() - self._waited) / passed > WAITING
        if is_busy or (self._has_lacked and not self._has_waited):
            self.size = max(FEWEST, int(self.size / STEP))
        elif self._has_waited and not self._has_lacked:
            self.size = min(self.most, int(self.size * STEP) + 1)
        self._begin(moment)

    def _begin(self, moment: float) -> None:
        self._since, self._worked, self._waited = moment, self.worked(), self.waited()
        self._has_lacked = self._has_waited = False
