"""One process's own patience with an address that many names stand at: it holds from their first visit on.

Maintenance gives known names a common pace over all processes; which address a new one has is seen when it is dialled.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from headwater.clock import Clock
from headwater.fetch.held_slot import SlotMissed
from headwater.politeness.addresses import MOST_NAMES, SHARED_FROM
from headwater.politeness.slots import NoSlot, NotBefore

LONGEST_WAIT_S = 5.0
LOOK_AGAIN_S = 60.0
MOST_MACHINES = 10_000


@dataclass(slots=True)
class _Machine:
    names: set[str] = field(default_factory=set)
    next_at: float = 0.0
    looked_at: float = float("-inf")
    is_shared: bool = False


@dataclass(slots=True)
class Crowds:
    """`answering` counts the domains at an address that answer; asked once a minute, and only for a crowd."""

    clock: Clock
    pace: timedelta
    answering: Callable[[str], Awaitable[int]]
    _machines: dict[str, _Machine] = field(default_factory=dict, init=False)

    async def __call__(self, host: str, address: str) -> None:
        """Wait for this name's turn at its address. Raises SlotMissed where that is too far away."""
        machine = self._machine_at(address)
        if len(machine.names) <= MOST_NAMES:
            machine.names.add(host)
        if not self.pace or len(machine.names) <= MOST_NAMES or await self._is_shared(machine, address):
            return
        now = self.clock.monotonic()
        wait = max(machine.next_at - now, 0.0)
        if wait > LONGEST_WAIT_S:
            raise SlotMissed(NotBefore(timedelta(seconds=wait), NoSlot.ADDRESS))
        machine.next_at = now + wait + self.pace.total_seconds()
        await self.clock.sleep(wait)

    def _machine_at(self, address: str) -> _Machine:
        if address not in self._machines and len(self._machines) >= MOST_MACHINES:
            # The oldest half: what is crowded fills up again soon.
            for old in list(self._machines)[: MOST_MACHINES // 2]:
                del self._machines[old]
        return self._machines.setdefault(address, _Machine())

    async def _is_shared(self, machine: _Machine, address: str) -> bool:
        now = self.clock.monotonic()
        if now - machine.looked_at > LOOK_AGAIN_S:
            machine.looked_at = now
            machine.is_shared = await self.answering(address) >= SHARED_FROM
        return machine.is_shared
