"""That a process of a role is there: a row of its own, written every few seconds and removed when it ends in order."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

import orjson

from headwater import __version__
from headwater.clock import SystemClock
from headwater.database.days import FEWEST_DAYS, days_ahead, ensure_days
from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.drain import Drain
from headwater.errors import DatabaseDown, QueryFailed
from headwater.figures import WAITING_MS, WAITS, Figures
from headwater.log import Logger
from headwater.run.service_manager import READY, STOPPING, ServiceManager
from headwater.services import Services
from headwater.storable import storable_json
from headwater.supervisor import Supervisor

POLL, FETCH, MAINTAIN, DELIVER, WEB = "poll", "fetch", "maintain", "deliver", "web"
BEAT_SECONDS = 10.0
# A beat that the database does not take at once is left out: leases are kept by the same connection.
PATIENCE_SECONDS = 3.0
BEATS_BETWEEN_LOOKS = 360
# Of a sentence that an error said.
LONGEST_SAID = 500
# Lines of the log are told so often, and so many are kept of all processes.
LINES_SECONDS = 3.0
MOST_LINES, MOST_FIELDS = 20_000, 20

queries = load_queries("headwater.database")


@dataclass(slots=True)
class Presence:
    """By the machine's clock and stamped by the database's: whatever days are simulated, a process is real."""

    database: Database
    heart: Heartbeat
    figures: Figures
    log: Logger
    id: UUID
    role: str
    does: Sequence[str]
    drain: Drain = field(default_factory=Drain)
    _is_told: bool = field(default=False, init=False)
    _is_first: bool = field(default=True, init=False)

    async def run(self) -> None:
        """Until cancelled. A beat that fails is left out: the work with the database says so."""
        while True:
            for _ in range(BEATS_BETWEEN_LOOKS):
                await self._try(self.beat)
                await SystemClock().sleep(BEAT_SECONDS)
            await self._try(self.keep_days_ahead)

    async def beat(self) -> None:
        waits = self.database.waits
        counts = {**self.figures.counts, WAITS: waits.count, WAITING_MS: round(waits.seconds * 1000)}
        async with asyncio.timeout(PATIENCE_SECONDS):
            is_asked = await self.heart.fetchval(
                *queries.beat(
                    id=self.id,
                    owner=self.heart.owner,
                    role=self.role,
                    does=list(self.does),
                    host=socket.gethostname(),
                    pid=os.getpid(),
                    version=__version__,
                    failing=orjson.dumps({name: _kept(said) for name, said in self.figures.failing.items()}).decode(),
                    is_first=self._is_first,
                    figures=list(counts),
                    counts=list(counts.values()),
                    is_draining=self.drain.is_asked,
                    under_way=self.drain.under_way,
                    said=[_kept(self.figures.said.get(figure, "")) for figure in counts],
                ),
                timeout=PATIENCE_SECONDS,
            )
        self._is_first = False
        await self._follow(is_asked=bool(is_asked))

    async def _follow(self, *, is_asked: bool) -> None:
        """What a person asked is said back at once, and once more when nothing is in hand any more."""
        if self.drain.follow(is_asked=is_asked):
            self._is_told = False
            self.log.info("drain_began" if is_asked else "drain_ended", under_way=self.drain.under_way)
            await self.beat()
        elif is_asked and not self.drain.under_way and not self._is_told:
            self._is_told = True
            self.log.info("drained")

    async def keep_lines(self) -> None:
        """Until cancelled: what the process warned of, where it can be read without its log."""
        while True:
            await SystemClock().sleep(LINES_SECONDS)
            await self.tell_lines()

    async def tell_lines(self) -> None:
        """Those that the database does not take wait for the next time."""
        if not (lines := self.log.warnings.take()):
            return
        told = [_bounded(line) for line in lines]
        if left_out := self.log.warnings.left_out:
            told.insert(0, {**told[0], "event": "log_lines_dropped", "lines": left_out})
        named = (self.id, self.role, socket.gethostname(), os.getpid())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self.database.execute(queries.keep_lines, *named, storable_json(told))
            self.log.warnings.left_out -= left_out
        except (DatabaseDown, QueryFailed, TimeoutError) as error:
            self.log.warnings.give_back(lines)
            self.log.debug("beat_left_out", error=str(error))

    async def keep_days_ahead(self) -> None:
        """Maintenance does it: where it has not for a week, any role does."""
        if min((await days_ahead(self.database)).values()) < FEWEST_DAYS:
            await ensure_days(self.database)

    async def end(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.heart.fetchval(queries.end_beats, self.id, timeout=PATIENCE_SECONDS)

    async def _try(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (DatabaseDown, QueryFailed, TimeoutError) as error:
            self.log.debug("beat_left_out", error=str(error))


def _bounded(line: Mapping[str, Any]) -> dict[str, Any]:
    """Few fields, of which none is long."""
    few = islice(line.items(), MOST_FIELDS)
    return {name: _kept(value) if isinstance(value, str) else value for name, value in few}


def _kept(said: str) -> str:
    return said.replace("\0", "")[:LONGEST_SAID]


@asynccontextmanager
async def present(services: Services, heart: Heartbeat, role: str, does: Sequence[str]) -> AsyncIterator[None]:
    """For the length of the block. One that breaks leaves its row behind, as one that is killed does."""
    name = UUID(int=services.random.getrandbits(128))
    presence = Presence(services.database, heart, services.figures, services.log, name, role, does, services.drain)
    manager = ServiceManager.of_this_process()
    try:
        async with Supervisor(SystemClock(), services.log, services.figures) as tasks:
            tasks.keep("beat", presence.run)
            tasks.keep("keep_lines", presence.keep_lines)
            tasks.keep("tell_service_manager", lambda: manager.keep_telling(SystemClock().sleep))
            manager.tell(READY)
            yield
            manager.tell(STOPPING)
    except asyncio.CancelledError:
        manager.tell(STOPPING)
        await _end(presence)
        raise
    await _end(presence)


async def _end(presence: Presence) -> None:
    with suppress(DatabaseDown, QueryFailed, TimeoutError):
        # A last one, for what was counted and said since.
        await presence.beat()
        await presence.tell_lines()
        await presence.end()


async def forget_lines(database: Database) -> None:
    """Those of a day ago, and of very many the oldest."""
    await database.execute(queries.forget_lines, MOST_LINES)


async def forget_processes(database: Database) -> None:
    """The dead of a day ago, and old figures."""
    await database.execute(queries.forget_processes)
