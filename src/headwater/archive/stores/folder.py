"""Raw bodies in a folder: each written beside, brought to disk and renamed. No link is followed below the folder."""

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from headwater.archive.stores.store import Listed, StoreKind, id_in, path_of
from headwater.errors import NO_SPACE, StoreDown

# Unfinished files lie here, so that finding those nobody finishes takes one look.
UNFINISHED = "unfinished"
CLOCK = "clock"
AT_ONCE = 16
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_INNER = _DIRECTORY | os.O_NOFOLLOW
# A pipe in the place of a body is not waited for.
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

T = TypeVar("T")


@dataclass(slots=True)
class FolderStore:
    """`folder` may be a link, since a person named it; `installation` keeps two of them apart that share it.

    `is_in_use`: bodies lie there. If it is not there then, its disk is away, and nothing new is made in its place.
    """

    folder: Path
    installation: UUID
    is_in_use: bool = False
    kind: StoreKind = StoreKind.FOLDER
    # Of its own: a disk of another machine that hangs takes no thread from anybody else.
    threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(AT_ONCE, "raw bodies"), repr=False, compare=False
    )

    @property
    def place(self) -> str:
        return str(self.folder)

    async def put(self, body_id: UUID, body: bytes) -> None:
        await self._do(lambda: self._put(body_id, body))

    async def get(self, body_id: UUID) -> bytes | None:
        return await self._do(lambda: self._get(body_id))

    async def delete(self, ids: Collection[UUID]) -> None:
        await self._do(lambda: self._delete(ids))

    async def listed(self, after: UUID | None, most: int) -> Sequence[Listed]:
        return await self._do(lambda: self._listed(after, most))

    async def forget_unfinished(self, age: timedelta) -> int:
        return await self._do(lambda: self._forget_unfinished(age))

    async def _do(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, work)
        except OSError as error:
            raise store_down(self.folder, error) from error

    def _put(self, body_id: UUID, body: bytes) -> None:
        first, second, name = path_of(body_id)
        if not self.is_in_use:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._opened(makes=not self.is_in_use) as root, _made(root, UNFINISHED) as beside:
            written = _write_new(beside, name, body)
            try:
                with _made(root, first) as outer, _made(outer, second) as inner:
                    os.rename(written, name, src_dir_fd=beside, dst_dir_fd=inner)
                    os.fsync(inner)
            except BaseException:
                with suppress(OSError):
                    os.unlink(written, dir_fd=beside)
                raise
        self.is_in_use = True

    def _get(self, body_id: UUID) -> bytes | None:
        first, second, name = path_of(body_id)
        with (
            self._opened() as root,
            suppress(FileNotFoundError),
            _inside(root, first) as outer,
            _inside(outer, second) as inner,
            open(os.open(name, _OLD, dir_fd=inner), "rb") as file,
        ):
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "Something else than a file is in its place")
            return file.read()
        return None

    def _delete(self, ids: Collection[UUID]) -> None:
        with self._opened() as root:
            for body_id in ids:
                first, second, name = path_of(body_id)
                with suppress(FileNotFoundError), _inside(root, first) as outer, _inside(outer, second) as inner:
                    os.unlink(name, dir_fd=inner)

    def _listed(self, after: UUID | None, most: int) -> list[Listed]:
        found: list[Listed] = []
        with self._opened() as root:
            now = _clock_of(root)
            for body_id, written_at in _bodies_behind(root, after):
                found.append(Listed(body_id, timedelta(seconds=now - written_at)))
                if len(found) == most:
                    break
        return found

    def _forget_unfinished(self, age: timedelta) -> int:
        forgotten = 0
        with self._opened() as root, _made(root, UNFINISHED) as beside:
            now = _clock_of(root)
            for name in os.listdir(beside):
                with suppress(FileNotFoundError):
                    if now - os.stat(name, dir_fd=beside, follow_symlinks=False).st_mtime >= age.total_seconds():
                        os.unlink(name, dir_fd=beside)
                        forgotten += 1
        return forgotten

    @contextmanager
    def _opened(self, *, makes: bool = False) -> Iterator[int]:
        """Only the first body makes it: one that is not there, such as a disk not mounted, has not lost its bodies."""
        folder = os.open(self.folder, _DIRECTORY)
        try:
            with (_made if makes else _inside)(folder, str(self.installation)) as inside:
                yield inside
        finally:
            os.close(folder)


def store_down(folder: Path, error: OSError) -> StoreDown:
    why = error.strerror or type(error).__name__
    if error.errno in NO_SPACE:
        fix = "Make room on that disk, or name another folder: archive.raw_folder."
    elif error.errno == errno.ENOENT:
        fix = "Bodies lay there before: mount their disk, or name the folder where they are now: archive.raw_folder."
    else:
        fix = "Let this user write there, or name another folder: archive.raw_folder."
    return StoreDown(f"The folder of raw bodies {folder} cannot be used: {why}.", fix=fix)


@contextmanager
def _inside(folder: int, name: str) -> Iterator[int]:
    """One level deeper; a link in its place is refused."""
    opened = os.open(name, _INNER, dir_fd=folder)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _made(folder: int, name: str) -> Iterator[int]:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)
        os.fsync(folder)
    with _inside(folder, name) as opened:
        yield opened


def _write_new(folder: int, name: str, body: bytes) -> str:
    """Under a name that nobody else writes to; answers with it."""
    for number in count():
        written = f"{name}.{number}"
        try:
            file = os.open(written, _NEW, 0o600, dir_fd=folder)
        except FileExistsError:
            continue
        try:
            with open(file, "wb") as opened:
                opened.write(body)
                opened.flush()
                os.fsync(opened.fileno())
        except BaseException:
            with suppress(OSError):
                os.unlink(written, dir_fd=folder)
            raise
        return written
    raise AssertionError


def _bodies_behind(root: int, after: UUID | None) -> Iterator[tuple[UUID, float]]:
    """In order, with the time of their writing; what vanishes meanwhile, and what we did not write, is passed over."""
    least = path_of(after) if after else ("", "", "")
    for first in _folders_from(root, least[0]):
        with _entered(root, first) as outer:
            for second in _folders_from(outer, least[1] if first == least[0] else ""):
                with _entered(outer, second) as inner:
                    yield from _bodies_in(inner, first + second, after)


def _bodies_in(folder: int | None, begins: str, after: UUID | None) -> Iterator[tuple[UUID, float]]:
    for name in sorted(os.listdir(folder)) if folder is not None else ():
        body_id = id_in(name)
        if body_id is None or not body_id.hex.startswith(begins) or (after is not None and body_id <= after):
            continue
        with suppress(FileNotFoundError):
            yield body_id, os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime


def _folders_from(folder: int | None, least: str) -> list[str]:
    names = os.listdir(folder) if folder is not None else []
    return sorted(name for name in names if len(name) == 2 and name >= least)


@contextmanager
def _entered(folder: int | None, name: str) -> Iterator[int | None]:
    """None where it is no folder, or a link."""
    try:
        opened = os.open(name, _INNER, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise
        yield None
        return
    try:
        yield opened
    finally:
        os.close(opened)


def _clock_of(root: int) -> float:
    """The time it is where the files lie: the folder may be another machine's."""
    file = os.open(CLOCK, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=root)
    try:
        os.utime(file)
        return os.fstat(file).st_mtime
    finally:
        os.close(file)
