"""What systemd wants to hear of a service of `Type=notify`: that it is ready, that it still turns, that it stops."""

import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Self

from headwater.settings.environment import surroundings

SOCKET, WATCHDOG, WATCHDOG_PID = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
READY, ALIVE, STOPPING = "READY=1", "WATCHDOG=1", "STOPPING=1"
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class ServiceManager:
    """`alive_every` is in seconds, None where nobody waits for it. Nothing fails where nobody listens."""

    address: str = ""
    alive_every: float | None = None

    @classmethod
    def of_this_process(cls) -> Self:
        return cls.named_by(surroundings(), os.getpid())

    @classmethod
    def named_by(cls, environment: Mapping[str, str], pid: int) -> Self:
        """By the variables of sd_notify(3). A watchdog for another process is not ours."""
        address = environment.get(SOCKET, "")
        patience = environment.get(WATCHDOG, "")
        is_ours = environment.get(WATCHDOG_PID, str(pid)) == str(pid)
        if not address.startswith(("/", "@")):
            return cls()
        if not (is_ours and patience.isdecimal() and int(patience)):
            return cls(address)
        return cls(address, int(patience) / MICROSECONDS / 2)

    def tell(self, state: str) -> bool:
        """Whether it was heard. Never waits: a manager that is slow to read misses a word."""
        if not self.address:
            return False
        # A name that begins with @ stands for one in the abstract namespace.
        address = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
            made.setblocking(False)
            try:
                made.sendto(state.encode(), address)
            except OSError:
                return False
        return True

    async def keep_telling(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """By the loop that does the work: where it hangs, the manager hears nothing and starts the service again."""
        while self.alive_every is not None:
            self.tell(ALIVE)
            await sleep(self.alive_every)


def without_manager(environment: Mapping[str, str]) -> dict[str, str]:
    """For children, for which their parent speaks."""
    return {name: value for name, value in environment.items() if name not in (SOCKET, WATCHDOG, WATCHDOG_PID)}
