"""Pushes on their way into the database: a hub is answered at once, however slowly the database writes."""

import asyncio
import zlib
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import DatabaseDown, QueryFailed, as_fields
from headwater.log import Logger

queries = load_queries("headwater.discover.push")

# Held in memory until they are written; a hub that brings more has to come again.
MOST_HELD_BYTES = 32 * 1024 * 1024
MOST_HELD = 2_000
# Of one channel, waiting for the poll role.
MOST_WAITING = 20
# While the database takes nothing, doubled.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
MOST_TRIES = 8
LONGEST_CONTENT_TYPE = 200


@dataclass(frozen=True, slots=True)
class Push:
    """`body` None: the hub only says that there is something."""

    channel_id: UUID
    content_type: str
    body: bytes | None
    heard_at: float  # by our own monotonic clock

    @property
    def size(self) -> int:
        return len(self.body or b"")


@dataclass(slots=True)
class PushInbox:
    """Of one process of the web role. What it holds when the process is killed is found by a poll."""

    database: Database
    clock: Clock
    log: Logger
    _held: deque[Push] = field(default_factory=deque, init=False)
    _bytes: int = field(default=0, init=False)
    _wake: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def put(self, channel_id: UUID, content_type: str, body: bytes | None) -> bool:
        """False where there is no room."""
        push = Push(channel_id, content_type[:LONGEST_CONTENT_TYPE], body, self.clock.monotonic())
        if len(self._held) >= MOST_HELD or self._bytes + push.size > MOST_HELD_BYTES:
            return False
        self._held.append(push)
        self._bytes += push.size
        self._wake.set()
        return True

    async def keep_writing(self) -> None:
        """Until cancelled."""
        while True:
            await self._wake.wait()
            await self.write()

    async def write(self) -> None:
        """Everything that is held."""
        self._wake.clear()
        while self._held:
            push = self._held[0]
            await self._write(push)
            self._held.popleft()
            self._bytes -= push.size
        await self._wake_readers()

    async def _write(self, push: Push) -> None:
        packed = None if push.body is None else await asyncio.to_thread(zlib.compress, push.body, 1)
        pause = FIRST_PAUSE
        for tried in range(1, MOST_TRIES + 1):
            since = timedelta(seconds=self.clock.monotonic() - push.heard_at)
            kept = (push.channel_id, push.content_type, packed, since, MOST_WAITING)
            try:
                await self.database.execute(queries.keep_push, *kept)
            except (DatabaseDown, QueryFailed) as error:
                self.log.warning("push_not_kept", channel=str(push.channel_id), tries=tried, **as_fields(error))
                await self.clock.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                return

    async def _wake_readers(self) -> None:
        try:
            await self.database.execute(queries.wake_readers)
        except (DatabaseDown, QueryFailed) as error:
            # They look now and then anyway.
            self.log.debug("readers_not_woken", **as_fields(error))
