"""Statements that follow a committed transaction: hints to others, which nothing depends on."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from headwater.clock import Clock
from headwater.errors import DatabaseDown, QueryFailed

# Each NOTIFY is written in turn with those of all other sessions: ten a second of one process are enough.
SHORTEST_PAUSE_SECONDS = 0.1


@dataclass(slots=True)
class Afterwards:
    """Of one process: each statement at once, and within the pause that follows once more at its end."""

    execute: Callable[[str], Awaitable[object]]
    clock: Clock
    _last: dict[str, float] = field(default_factory=dict, init=False)
    _waiting: dict[str, asyncio.Task[None]] = field(default_factory=dict, init=False)

    async def run(self, statement: str) -> None:
        if statement in self._waiting:
            return
        pause = self._last.get(statement, float("-inf")) + SHORTEST_PAUSE_SECONDS - self.clock.monotonic()
        if pause <= 0:
            await self._send(statement)
        else:
            self._waiting[statement] = asyncio.create_task(self._send_later(statement, pause))

    async def close(self) -> None:
        """Notices that still wait are sent at once."""
        waiting = dict(self._waiting)
        for task in waiting.values():
            task.cancel()
        for statement in waiting:
            await self._send(statement)

    async def _send_later(self, statement: str, pause: float) -> None:
        try:
            await self.clock.sleep(pause)
        finally:
            del self._waiting[statement]
        await self._send(statement)

    async def _send(self, statement: str) -> None:
        self._last[statement] = self.clock.monotonic()
        with suppress(DatabaseDown, QueryFailed):
            await self.execute(statement)
