"""Wake-ups from PostgreSQL. A hint, never the truth: a woken process looks, and looks now and then anyway."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import asyncpg

from headwater.chance import Random
from headwater.database.pool import short_name
from headwater.database.translate import connecting, mask_dsn, translate_errors
from headwater.errors import DatabaseDown
from headwater.log import Logger

FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 30.0
CONNECT_LIMIT_SECONDS = 10
# A connection cut silently looks like one with nothing to say.
CHECK_EVERY_SECONDS = 30

NOTHING_HEARD = "LISTEN needs a session of its own; new work is looked for every second or so instead of waited for"
GIVE_DIRECT_URL = "Set database.direct_url to the address of the server itself."


def wait_before_reconnect(failures: int, random: Random) -> float:
    """Seconds after `failures` failures in a row; spread, so that a fleet does not come back at once."""
    longest = min(FIRST_WAIT_SECONDS * 2.0 ** min(failures, 16), LONGEST_WAIT_SECONDS)
    return longest * random.uniform(0.5, 1.0)


class Listener:
    """LISTEN on a connection of its own, for one reader; it outlives any loss of that connection.

    Without an address it hears nothing, and its reader looks when the time is up.
    """

    def __init__(
        self,
        dsn: str,
        channels: Sequence[str],
        random: Random,
        log: Logger | None = None,
        application_name: str = "headwater listener",
    ) -> None:
        self.log = log
        self._dsn = dsn
        self._application_name = application_name
        self._address = mask_dsn(dsn)
        self._channels = frozenset(channels)
        self._random = random
        self._woken: set[str] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._dsn:
            self._task = asyncio.create_task(self._listen_for_ever())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    @property
    def can_hear(self) -> bool:
        return bool(self._dsn)

    async def wait(self, timeout: float) -> frozenset[str]:
        """The channels that spoke since the last call, none after `timeout` seconds.

        All of them after each new connection: nobody knows what was said while there was none.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._wake.wait()
        woken = frozenset(self._woken)
        self._woken.clear()
        self._wake.clear()
        return woken

    async def _listen_for_ever(self) -> None:
        failures = 0
        while True:
            try:
                connection = await self._connect()
                failures = 0
                await self._listen_until_lost(connection)
            except DatabaseDown:
                pass
            except Exception:
                # Without a listener its role would sleep longer than it must, and nobody would know why.
                if self.log is not None:
                    self.log.exception("listener_broke", channels=sorted(self._channels))
            await asyncio.sleep(wait_before_reconnect(failures, self._random))
            failures += 1

    async def _connect(self) -> Any:
        with connecting(self._address):
            return await asyncpg.connect(
                self._dsn,
                timeout=CONNECT_LIMIT_SECONDS,
                command_timeout=CONNECT_LIMIT_SECONDS,
                server_settings={"application_name": self._application_name},
            )

    async def _listen_until_lost(self, connection: Any) -> None:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            with translate_errors(self._address):
                for channel in self._channels:
                    await connection.add_listener(channel, self._heard)
                self._wake_up(*self._channels)
                while not await _happened(lost, CHECK_EVERY_SECONDS):
                    await connection.execute("select 1")
        finally:
            connection.terminate()

    def _heard(self, connection: object, pid: int, channel: str, payload: str) -> None:
        self._wake_up(channel)

    def _wake_up(self, *channels: str) -> None:
        self._woken.update(channels)
        self._wake.set()


class Listeners:
    """Makes them for a role. Without an address where LISTEN works they only wait, which is said once."""

    def __init__(self, dsn: str, application_name: str, random: Random, log: Logger) -> None:
        self._dsn = dsn
        self._name = short_name(f"{application_name} listener")
        self._random = random
        self._log = log
        self._has_told = False

    def on(self, channel: str) -> Listener:
        if not self._dsn and not self._has_told:
            self._has_told = True
            self._log.warning("nothing_is_heard_behind_a_pooler", why=NOTHING_HEARD, fix=GIVE_DIRECT_URL)
        return Listener(self._dsn, [channel], self._random, self._log, self._name)


async def _happened(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
