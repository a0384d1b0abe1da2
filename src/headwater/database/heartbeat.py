"""One connection beside the pool, for what must not wait for anybody else: the heartbeat of a role."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from headwater.database.pool import Connection, Database, is_usable
from headwater.database.queries import load_queries
from headwater.errors import DatabaseDown, QueryFailed

queries = load_queries("headwater.database")


class Heartbeat:
    """Opened anew whenever it was lost; while it cannot be had, the pool stands in.

    For as long as it is open, the database knows that its owner lives: leases that run out all the same are given back
    and held against nobody. Where only a pooler is known, a session is anybody's, and nobody is known to live there.
    """

    def __init__(self, database: Database, owner: str, seconds: float) -> None:
        self.owner = owner
        self._database = database
        self._seconds = seconds
        self._raw: Any = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        with suppress(DatabaseDown, QueryFailed):
            async with self._turn:
                await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop()

    async def fetch(self, query: str, *args: object) -> Any:
        return await self._answer(lambda connection: connection.fetch(query, *args, timeout=self._seconds))

    async def fetchval(self, query: str, *args: object, timeout: float | None = None) -> Any:
        seconds = timeout or self._seconds
        return await self._answer(lambda connection: connection.fetchval(query, *args, timeout=seconds))

    async def _answer(self, ask: Callable[[Connection | Database], Awaitable[Any]]) -> Any:
        async with self._turn:
            if not await self._is_open():
                return await ask(self._database)
            try:
                return await ask(Connection(self._raw, self._database.address))
            except DatabaseDown:
                self._drop()
                raise

    async def _is_open(self) -> bool:
        with suppress(DatabaseDown):
            await self._open()
        return self._raw is not None

    async def _open(self) -> None:
        if self._raw is not None and is_usable(self._raw):
            return
        self._drop()
        if (raw := await self._database.opened_beside("heartbeat", self._seconds)) is None:
            return
        try:
            await Connection(raw, self._database.address).fetchval(queries.say_alive, self.owner, timeout=self._seconds)
        except BaseException:
            raw.terminate()
            raise
        self._raw = raw

    def _drop(self) -> None:
        if self._raw is not None:
            self._raw.terminate()
        self._raw = None
