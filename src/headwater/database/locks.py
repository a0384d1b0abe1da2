"""File locks that the kernel drops with their process, however it ended."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from weakref import WeakSet

POLL_SECONDS = 0.05


class FileLock:
    """One open file of its own, so two locks on one path exclude each other even inside one process."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        _open_locks.add(self)

    def try_shared(self) -> bool:
        return self._try(fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Ask for it all; a shared lock held before is lost when the answer is no."""
        return self._try(fcntl.LOCK_EX)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@asynccontextmanager
async def exclusively(path: Path) -> AsyncIterator[None]:
    """Wait for the lock on `path`. Asked for again and again, because a blocked flock cannot be cancelled."""
    lock = FileLock(path)
    try:
        while not lock.try_exclusive():  # noqa: ASYNC110 -- another process holds it: no event will tell
            await asyncio.sleep(POLL_SECONDS)
        yield
    finally:
        lock.close()


_open_locks: WeakSet[FileLock] = WeakSet()


def _close_inherited() -> None:
    for lock in list(_open_locks):
        lock.close()


# A forked child shares the open file, and would keep the lock of a parent that is long dead.
os.register_at_fork(after_in_child=_close_inherited)
