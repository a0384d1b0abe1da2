"""One data directory and the server process on it: create, launch, ask, shut down. Locks are the caller's."""

import asyncio
import errno
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import asyncpg

from headwater.database.postmaster import cluster_version, forget_mistaken_pids, running_pid
from headwater.database.programs import ProgramResult, programs_for, run_program
from headwater.database.server_user import (
    make_folder,
    make_private,
    require_reachable,
    user_for,
)
from headwater.database.socket_folder import PORT, socket_folder
from headwater.errors import MAKE_ROOM, NO_SPACE, EmbeddedServerFailed

NAME = "headwater"
# Enough to recover several gigabytes of write-ahead log.
START_LIMIT_SECONDS = 600
# What is left of a killed server may stand in the way of the next one for some seconds.
LAUNCH_ATTEMPTS = 100
RETRY_SECONDS = 0.2
LINGERING = ("lock file", "pre-existing shared memory block")

# Sorting by bytes does not change with the operating system and lets plain indexes answer prefix searches; the
# character type makes lower() and full-text search right beyond ASCII. PostgreSQL 16 and 18 both take it, while
# the builtin provider is unknown to 16.
CHARACTER_TYPE = "C.UTF-8" if sys.platform.startswith("linux") else "en_US.UTF-8"

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "port": str(PORT),
    "shared_buffers": "256MB",
    "max_connections": "100",
    # Fewer checkpoints: after each, every page that changes is written to the log whole.
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "on",
    "log_directory": "../log",
    "log_filename": "postgresql-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
}

DISK_FULL = "No space left on device"
FIXES = {
    DISK_FULL: MAKE_ROOM,
    "Permission denied": "Choose a data directory that you may write to.",
    "could not look up effective user ID": "Run under a user id that has an entry in /etc/passwd.",
    "invalid locale": f"Install the locale {CHARACTER_TYPE}.",
}


class Cluster:
    def __init__(self, directory: Path, version: int, settings: Mapping[str, str]) -> None:
        self.directory = directory
        self.version = version
        self.data = directory / "data"
        self.log = directory / "log"
        self.socket = socket_folder(directory)
        self._settings = {**SETTINGS, "unix_socket_directories": str(self.socket), **settings}

    def dsn(self, database: str = NAME) -> str:
        return f"postgresql://{NAME}@/{database}?host={quote(str(self.socket), safe='')}&port={PORT}"

    def make_directory(self) -> None:
        """All that may be done before the locks in it are held."""
        with self._usable_directory():
            make_folder(self.directory, user_for(self.data))
            if not os.access(self.directory, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def prepare(self) -> None:
        """Make the folders around the data, and refuse data we could not serve."""
        with self._usable_directory():
            user = user_for(self.data)
            if user:
                require_reachable(self.directory, user)
            for folder in (self.log, self.socket):
                make_private(folder, user)
            self._refuse_foreign_data()

    @contextmanager
    def _usable_directory(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in NO_SPACE:
                raise EmbeddedServerFailed(f"The disk of {self.directory} is full.", fix=MAKE_ROOM) from error
            raise EmbeddedServerFailed(
                f"The folder {self.directory} cannot be used for the database: {error.strerror}.",
                fix="Choose a data directory that you may write to.",
            ) from error

    def _refuse_foreign_data(self) -> None:
        found = cluster_version(self.data)
        if found is not None and found != self.version:
            raise EmbeddedServerFailed(
                f"{self.data} was made by PostgreSQL {found}, and this is PostgreSQL {self.version}.",
                fix=f"Keep using {found}, or dump it with {found} and restore it into a new data directory.",
            )
        if found is None and self.data.exists() and any(self.data.iterdir()):
            raise EmbeddedServerFailed(
                f"{self.data} is not empty, and not a PostgreSQL data directory.",
                fix="Restore it from a backup, or move it away to begin with an empty database.",
            )

    async def ensure_created(self) -> None:
        """Into a draft folder first: a set-up killed half-way must not look like a database later."""
        if cluster_version(self.data) is not None:
            return
        draft = self._new_draft()
        arguments = ["-D", draft.name, "-U", NAME, "-A", "trust", "-E", "UTF8", "--locale=C"]
        speed = ["--no-sync"] if self._settings.get("fsync") == "off" else []
        try:
            outcome = await self._run("initdb", *arguments, f"--lc-ctype={CHARACTER_TYPE}", *speed)
            if not outcome.ok:
                raise self._failed("could not be set up", outcome)
            self._publish(draft)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _new_draft(self) -> Path:
        for leftover in self.directory.glob("incomplete-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        # A new name each time: the initdb of a killed program may still be writing into the old folder.
        draft = Path(tempfile.mkdtemp(prefix="incomplete-", dir=self.directory))
        if user := user_for(self.data):
            user.own(draft)
        return draft

    def _publish(self, draft: Path) -> None:
        draft.rename(self.data)
        folder = os.open(self.directory, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    async def launch(self) -> None:
        """Start the server and wait until it is ready, crash recovery included."""
        for attempt in range(1, LAUNCH_ATTEMPTS + 1):
            outcome = await self._launch_once()
            if outcome.ok:
                return
            is_hopeless = attempt == LAUNCH_ATTEMPTS or not any(sign in outcome.text for sign in LINGERING)
            if is_hopeless:
                raise self._failed("could not be started", outcome)
            await asyncio.sleep(RETRY_SECONDS)

    async def _launch_once(self) -> ProgramResult:
        forget_mistaken_pids(self.data, self.socket)
        (self.log / "startup.log").unlink(missing_ok=True)
        sizes = {file: file.stat().st_size for file in self.log.iterdir()}
        options = shlex.join(f"--{name}={value}" for name, value in self._settings.items())
        wait = ("-w", "-t", str(START_LIMIT_SECONDS))
        outcome = await self._run("pg_ctl", "start", "-D", "data", *wait, "-l", "log/startup.log", "-o", options)
        return outcome if outcome.ok else ProgramResult(False, outcome.text + self._logged_since(sizes))

    def _logged_since(self, sizes: Mapping[Path, int]) -> str:
        added = (file.read_bytes()[sizes.get(file, 0) :] for file in sorted(self.log.iterdir()))
        return b"".join(added).decode(errors="replace")

    async def answers(self) -> bool:
        """Whether the server takes connections; makes our database in it the first time it does."""
        try:
            connection = await asyncpg.connect(self.dsn("postgres"), timeout=10)
        except asyncpg.TooManyConnectionsError:
            return True
        except (OSError, TimeoutError, asyncpg.CannotConnectNowError, asyncpg.ConnectionDoesNotExistError):
            return False
        try:
            if not await connection.fetchval("select true from pg_database where datname = $1", NAME):
                await connection.execute(f"create database {NAME}")
        finally:
            await connection.close()
        return True

    async def shut_down(self) -> None:
        """Stopping a server that is already gone is fine."""
        if running_pid(self.data) is None:
            return
        wait = ("-w", "-t", str(START_LIMIT_SECONDS))
        outcome = await self._run("pg_ctl", "stop", "-D", "data", "-m", "fast", *wait)
        if not outcome.ok and running_pid(self.data) is not None:
            raise self._failed("could not be stopped", outcome)

    async def _run(self, program: str, *arguments: str) -> ProgramResult:
        """With folders named relative to ours: pg_ctl hands them to a shell, where a `$` would be read."""
        user = user_for(self.data)
        folder = programs_for(self.version, user, self.directory / "programs")
        return await run_program(folder / program, *arguments, cwd=self.directory, user=user)

    def _failed(self, how: str, outcome: ProgramResult) -> EmbeddedServerFailed:
        if DISK_FULL in outcome.text:
            how = f"{how}, since the disk of {self.directory} is full"
        fix = next((fix for sign, fix in FIXES.items() if sign in outcome.text), "")
        return EmbeddedServerFailed(
            f"The embedded PostgreSQL {how}: {outcome.last_complaint}",
            fix=f"{fix} Its log is in {self.log}.".strip(),
        )
