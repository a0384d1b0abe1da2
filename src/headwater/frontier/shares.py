"""How much of one worker may be busy for one registrable domain, one source, and hosts in doubt. Pure."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from headwater.frontier.entry import Lease

# A busy worker still meets a new publisher: at every so many claims one host in doubt comes first.
DOUBTED_EVERY = 8
Owner = TypeVar("Owner")


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the next claim may take. Owners that have their share are served when nobody else waits."""

    doubted: int
    doubted_first: int
    full_domains: tuple[str, ...] = ()
    full_sources: tuple[UUID, ...] = ()


@dataclass(slots=True)
class Shares:
    """The leases a worker with `size` places holds, by whom they are for.

    Hosts in doubt have at most half of the places: a place given to a silent host is gone for half a minute. A domain
    has a quarter and a source a half while others wait.
    """

    size: int
    _claims: int = field(default=0, init=False)
    _held: dict[UUID, Lease] = field(default_factory=dict, init=False)

    def take(self, lease: Lease) -> None:
        self._held[lease.token] = lease

    def give_back(self, lease: Lease) -> None:
        self._held.pop(lease.token, None)

    def next_allowance(self) -> Allowance:
        self._claims += 1
        held = self._held.values()
        doubted = sum(lease.is_doubted for lease in held)
        room = max(max(1, self.size // 2) - doubted, 0)
        is_their_turn = not doubted and self._claims % DOUBTED_EVERY == 0
        return Allowance(
            room,
            min(room, int(is_their_turn)),
            _full(Counter(lease.domain for lease in held if lease.domain), max(2, self.size // 4)),
            _full(Counter(lease.found_by for lease in held if lease.found_by), max(2, self.size // 2)),
        )


def _full(counts: Counter[Owner], share: int) -> tuple[Owner, ...]:
    return tuple(owner for owner, count in counts.items() if count >= share)
