"""How far the log of changes reaches, for all requests that wait for more: one look and one LISTEN a process."""

import asyncio
from contextlib import suppress

from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.database.queries import load_queries
from headwater.deliver.log import READERS, log_state
from headwater.deliver.pulling import LOOK_DEAF_EVERY, LOOK_EVERY
from headwater.errors import DatabaseDown, QueryFailed, as_fields
from headwater.services import Services

queries = load_queries("headwater.deliver")

# After the last request the connection that listens is kept for so long: the next one comes soon.
LINGER_SECONDS = 30.0


class LogWatch:
    """Nothing is read while nobody waits."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._name = f"web {services.random.getrandbits(64):016x}"
        self._position = -1
        self._waiting = 0
        self._news, self._wanted = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_over = False

    async def beyond(self, position: int, seconds: float) -> None:
        """Until the log reaches beyond a position, the time is up, or the role ends."""
        self._waiting += 1
        self._wanted.set()
        if (self._task is None or self._task.done()) and not self._is_over:
            self._task = asyncio.create_task(self._watch())
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while self._position <= position and not self._is_over:
                        await self._news.wait()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._wanted.clear()

    def end(self) -> None:
        """Nobody waits any longer."""
        self._is_over = True
        self._news.set()

    async def close(self) -> None:
        self.end()
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _watch(self) -> None:
        async with self._services.listeners.on(READERS) as listener:
            while await self._is_wanted():
                await self._look(listener)

    async def _is_wanted(self) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                await self._wanted.wait()
        return self._wanted.is_set()

    async def _look(self, listener: Listener) -> None:
        database = self._services.database
        try:
            # Before looking: a mover that comes right after it knows that somebody is to be woken.
            await database.execute(queries.sleep_at_log, self._name, LOOK_EVERY)
            self._tell((await log_state(database)).position)
        except (DatabaseDown, QueryFailed) as error:
            self._services.log.debug("log_not_watched", **as_fields(error))
            await SystemClock().sleep(LOOK_DEAF_EVERY.total_seconds())
        await listener.wait((LOOK_EVERY if listener.can_hear else LOOK_DEAF_EVERY).total_seconds())

    def _tell(self, position: int) -> None:
        if position == self._position:
            return
        self._position = position
        self._news.set()
        # Those that waited have been woken; others wait for what comes next.
        self._news = asyncio.Event()
