"""A PostgreSQL of our own: set up on first use, shared by every process, stopped by the last one out.

directory/
  data/        the cluster; it appears complete or not at all
  log/         startup.log, and one file for each day of the week
  socket/      the only way in, closed to other users
  programs/    a copy of PostgreSQL, only where the server's user cannot reach the installed one
  gate.lock    held while the server is being started or stopped; its date is when a killed one was last started again
  users.lock   shared by all who use the server: the process that gets it alone is the last one out
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

from headwater.database.cluster import START_LIMIT_SECONDS, Cluster
from headwater.database.locks import FileLock, exclusively
from headwater.database.postmaster import cluster_version, running_pid, was_killed, was_shut_down
from headwater.database.programs import bundled_programs, program_version
from headwater.errors import EmbeddedServerFailed

RETRY_SECONDS = 0.1


@dataclass(frozen=True)
class ServerStatus:
    """`program_version` is what would be started, `cluster_version` what made the data."""

    running_pid: int | None
    cluster_version: int | None
    program_version: str
    data: Path
    socket: Path
    log: Path


class EmbeddedServer:
    """`async with EmbeddedServer(directory) as dsn`, or `start` and `stop`; bound to no event loop."""

    def __init__(self, directory: Path, *, version: int = 18, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory.resolve()
        self.version = version
        self._cluster = Cluster(self.directory, version, settings or {})
        self._user_lock: FileLock | None = None

    async def __aenter__(self) -> str:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def dsn(self) -> str:
        return self._cluster.dsn()

    def binary(self, name: str) -> Path:
        """Path of a program such as psql or pg_dump."""
        return bundled_programs(self.version) / name

    async def status(self) -> ServerStatus:
        cluster = self._cluster
        return ServerStatus(
            running_pid(cluster.data),
            cluster_version(cluster.data),
            await program_version(self.binary("postgres")),
            cluster.data,
            cluster.socket,
            cluster.log,
        )

    async def start(self) -> str:
        """Make sure the server answers, and keep it up until `stop` or the end of this process.

        Called again, it brings back a server that was killed.
        """
        self._cluster.make_directory()
        async with exclusively(self.directory / "gate.lock"):
            self._user_lock = self._user_lock or self._take_user_lock()
            try:
                self._cluster.prepare()
                await self._ensure_serving()
            except BaseException:
                await self._leave()
                raise
        return self.dsn

    async def stop(self) -> None:
        """Give up our use of the server, and stop it if nobody else uses it."""
        if not (self.directory / "users.lock").exists():
            return
        async with exclusively(self.directory / "gate.lock"):
            self._user_lock = self._user_lock or self._take_user_lock()
            await self._leave()

    @property
    def was_killed(self) -> bool:
        return was_killed(self._cluster.data)

    @property
    def was_shut_down(self) -> bool:
        return was_shut_down(self._cluster.data)

    async def revive(self, now: datetime, pause: timedelta) -> bool:
        """Start a server that was killed under its users; true if it was this process that did.

        The first process tries it, and for a `pause` after that none does.
        """
        gate = self.directory / "gate.lock"
        async with exclusively(gate):
            tried_at = datetime.fromtimestamp(gate.stat().st_mtime, UTC)
            is_early = timedelta() <= now - tried_at < pause
            if self._user_lock is None or is_early or not self.was_killed:
                return False
            os.utime(gate)
            # Our lock stays taken, whatever becomes of this: the next one to leave must not stop it under us.
            self._cluster.prepare()
            await self._ensure_serving()
        return True

    def _take_user_lock(self) -> FileLock:
        user_lock = FileLock(self.directory / "users.lock")
        # Always free: it is held alone only by the process inside the gate, and that is us.
        user_lock.try_shared()
        return user_lock

    async def _leave(self) -> None:
        user_lock, self._user_lock = self._user_lock, None
        if user_lock is None:
            return
        try:
            if user_lock.try_exclusive():
                await self._cluster.shut_down()
        finally:
            user_lock.close()

    async def _ensure_serving(self) -> None:
        await self._cluster.ensure_created()
        try:
            async with asyncio.timeout(START_LIMIT_SECONDS):
                while not await self._cluster.answers():
                    if running_pid(self._cluster.data):
                        await asyncio.sleep(RETRY_SECONDS)
                    else:
                        await self._cluster.launch()
        except TimeoutError:
            raise EmbeddedServerFailed(
                f"The embedded PostgreSQL did not answer within {START_LIMIT_SECONDS} s.",
                fix=f"Its reasons are in {self._cluster.log}.",
            ) from None
