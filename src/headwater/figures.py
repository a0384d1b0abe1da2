"""Figures that a process counts about itself, for its operators."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

# Milliseconds, up to which times to settle are counted together; what is slower has a figure of its own.
SETTLE_BOUNDS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
SLOWER = "settled_slower"

WORK_LOST, LEASES_LOST, WORK_BROKE = "work_lost", "leases_lost", "work_broke"
LEASES_RESCUED = "leases_rescued"  # that ran out, mostly since their process was killed: counted by who took them back
NOT_GIVEN_BACK = "not_given_back"  # at the end of a worker: its leases have to run out
SETTLED, SETTLING_MS = "settled", "settling_ms"
WAITS, WAITING_MS = "connection_waits", "connection_waiting_ms"
FAILED, DIED = "failed.", "died."  # each followed by the name of a task
BODIES_NOT_PUT = "bodies_not_put"  # kept in the database, since their store did not take them
NETWORK = "network"  # fails while our own network is away

# Each followed by a dot and its label.
CONNECTIONS, CONDITIONAL = "connections", "conditional"
POLITENESS_WAIT, SINK_DELAY = "politeness_wait", "sink_delay"
# Milliseconds, as above.
WAIT_BOUNDS = (0, 100, 300, 1_000, 3_000, 10_000, 30_000)
SINK_BOUNDS = (100, 300, 1_000, 3_000, 10_000, 60_000, 600_000, 3_600_000)
MORE = "more"  # than the last bound


def settled_within(bound: int) -> str:
    return f"settled_within_{bound}_ms"


def sum_of(figure: str) -> str:
    """The figure that has the milliseconds of all that another one counts in classes."""
    return f"{figure}_ms"


@dataclass(slots=True)
class Figures:
    """Since the process began; `failing` are tasks that fail at present, each with the sentence of its last error."""

    counts: Counter[str] = field(default_factory=Counter)
    said: dict[str, str] = field(default_factory=dict)
    failing: dict[str, str] = field(default_factory=dict)

    def add(self, figure: str, said: str = "", times: int = 1) -> None:
        self.counts[figure] += times
        if said:
            self.said[figure] = said

    def note_settled(self, seconds: float) -> None:
        milliseconds = round(seconds * 1000)
        bound = next((bound for bound in SETTLE_BOUNDS if milliseconds <= bound), None)
        self.counts[SETTLED] += 1
        self.counts[SETTLING_MS] += milliseconds
        self.counts[settled_within(bound) if bound else SLOWER] += 1

    def note_time(self, figure: str, seconds: float, bounds: Sequence[int], of: str = "") -> None:
        """In classes that end at these bounds; `of` tells apart what is counted by the same figure."""
        milliseconds = max(0, round(seconds * 1000))
        bound = next((str(bound) for bound in bounds if milliseconds <= bound), MORE)
        place = f".{of}" if of else ""
        self.counts[f"{figure}{place}.{bound}"] += 1
        self.counts[f"{sum_of(figure)}{place}"] += milliseconds
