"""Connections that were given back a moment ago, and those who wait for one."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Any

# What takes longer than to open a connection was waited for.
SHORTEST_WAIT = 0.1


@dataclass(slots=True)
class Waits:
    """For connections, since the start."""

    count: int = 0
    seconds: float = 0.0

    def note(self, seconds: float) -> None:
        if seconds >= SHORTEST_WAIT:
            self.count += 1
            self.seconds += seconds


class Spares:
    """From hand to hand: the driver's pool needs a task and two timers for each loan, more than a short query costs.

    Where the server lets no more of us in, the pool would also rather open another one than give out one that is idle.
    """

    def __init__(self) -> None:
        self._spare: list[Any] = []
        self._waiting: deque[asyncio.Future[Any]] = deque()

    def __len__(self) -> int:
        return len(self._spare)

    @property
    def is_waited_for(self) -> bool:
        return bool(self._waiting)

    def put(self, connection: Any) -> None:
        """To the one who waits longest, else kept. None: one is gone, and another may be opened in its place."""
        if self._waiting:
            self._waiting.popleft().set_result(connection)
        elif connection is not None:
            self._spare.append(connection)

    def take(self) -> Any:
        """The last that was put; None if there is none."""
        return self._spare.pop() if self._spare else None

    async def wait(self, seconds: float) -> Any:
        """The next one that is put; None after that time."""
        turn: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await asyncio.wait([turn], timeout=seconds)
        except asyncio.CancelledError:
            if turn.done():
                self.put(turn.result())
            raise
        finally:
            if not turn.done():
                self._waiting.remove(turn)
        return turn.result() if turn.done() else None
