"""Files that a sink writes: beside their place, under its token, and put there by one rename while its lease holds."""

import asyncio
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from headwater.deliver.records import Record
from headwater.deliver.sink import Accepted, Delivery, DeliveryOutcome, Fence, LeaseEnded, Sink, SinkContext, SinkDown
from headwater.errors import NO_SPACE, UsageError
from headwater.phrases import size_in_words

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PART = ".part"
# A file below this grows with the next batch, whatever that costs; a larger one only if the batch is worth the copy.
SMALL_BYTES = 1 << 20
_WORTH_THE_COPY = 8
COPIED_AT_ONCE = 1 << 20


def folder_of(given: str, name: str, data_folder: Path) -> Path:
    """Where a sink writes: as given, a relative one in the data folder."""
    if "\0" in given:
        raise UsageError("The name of a folder cannot hold a NUL.")
    return data_folder / given if given else data_folder / "sinks" / name


@contextmanager
def telling_disk_trouble(folder: Path) -> Iterator[None]:
    """Whatever a disk refuses holds the sink as a whole: it goes on when somebody made room."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE:
            raise SinkDown(
                f"The disk of {folder} is full.", fix="Make room there, or give the sink another folder."
            ) from error
        raise SinkDown(
            f"{folder} cannot be written: {error.strerror or error}.",
            fix="See that the folder exists and belongs to the user that runs Headwater.",
        ) from error


def put_file(place: Path, part: Path, write: Callable[[BinaryIO], None], fence: Fence) -> None:
    """Whole or not at all; nothing of it where the lease has ended meanwhile. Raises OSError."""
    with suppress(FileNotFoundError):
        part.unlink()
    try:
        with os.fdopen(os.open(part, _FRESH, 0o666), "wb") as file:
            write(file)
            file.flush()
            # A full disk may only now be told.
            os.fsync(file.fileno())
        fence.require(0)
        try:
            part.rename(place)
        except FileNotFoundError:
            raise LeaseEnded("Another process tidied up the file that was being written.") from None
        sync_folder(place.parent)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """A rename is on the disk only with its folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def part_of(folder: Path, name: str, token: str) -> Path:
    return folder / f"{name}.{token}{_PART}"


def remove_parts(folder: Path) -> None:
    """Removes files that earlier holders left half-written: none of them is ever taken for whole."""
    for entry in list(os.scandir(folder)):
        if entry.name.endswith(_PART):
            with suppress(FileNotFoundError):
                Path(entry.path).unlink()


@dataclass(frozen=True, slots=True, order=True)
class DayFile:
    """A whole file: the first and the last position in it."""

    first: int
    last: int
    path: Path
    size_bytes: int


class DayFiles:
    """A folder for each day; in it files named by their first and last positions.

    Records from the archive have all the position at which the log ended, so their files are named by it and by their
    batch, behind those of the log that begin there: `000000001733-archive-1790000000000000.jsonl`. They do not grow.
    """

    def __init__(self, folder: Path, suffix: str, max_bytes: int) -> None:
        self.folder = folder
        self._suffix = suffix
        self._max_bytes = max_bytes
        self._name = re.compile(rf"(\d{{12,19}})-(\d{{12,19}}){re.escape(suffix)}")

    def tidy(self) -> None:
        """After a holder that was killed: no half-written file, and none that a longer one has replaced.

        Only the last two days are looked at: nobody writes into older ones.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_parts(self.folder)
        days = sorted(entry.name for entry in os.scandir(self.folder) if _DAY.fullmatch(entry.name))
        for day in days[-2:]:
            longest = {one.first: one for one in self._files(day)}
            for one in self._files(day):
                if one.last < longest[one.first].last:
                    one.path.unlink(missing_ok=True)

    def file_to_extend(self, now: datetime, first: int, new_bytes: int) -> DayFile | None:
        """Today's last file, where a batch that begins at `first` continues it and both make no large file."""
        last = max(self._files(_day(now)), default=None, key=lambda one: (one.last, one.first))
        if last is None or last.last >= first or last.size_bytes + new_bytes > self._max_bytes:
            return None
        is_worth_it = last.size_bytes <= max(SMALL_BYTES, _WORTH_THE_COPY * new_bytes)
        return last if is_worth_it else None

    def put(
        self,
        now: datetime,
        positions: tuple[int, int],
        write: Callable[[BinaryIO], None],
        fence: Fence,
        extended: DayFile | None = None,
    ) -> None:
        """`write` writes what `extended` holds, too, which then goes: a name never stands for less than before."""
        first, last = positions
        place = self._put(now, f"{extended.first if extended else first:012}-{last:012}", write, fence)
        if extended and extended.path != place:
            extended.path.unlink(missing_ok=True)

    def put_from_archive(self, now: datetime, position: int, write: Callable[[BinaryIO], None], fence: Fence) -> None:
        self._put(now, f"{position:012}-archive-{fence.batch_number:016}", write, fence)

    def _put(self, now: datetime, stem: str, write: Callable[[BinaryIO], None], fence: Fence) -> Path:
        name, day = f"{stem}{self._suffix}", self.folder / _day(now)
        day.mkdir(exist_ok=True)
        put_file(day / name, part_of(self.folder, name, fence.token), write, fence)
        return day / name

    def _files(self, day: str) -> list[DayFile]:
        found = []
        try:
            entries = list(os.scandir(self.folder / day))
        except FileNotFoundError:
            return []
        for entry in entries:
            if name := self._name.fullmatch(entry.name):
                with suppress(FileNotFoundError):
                    size = entry.stat(follow_symlinks=False).st_size
                    found.append(DayFile(int(name[1]), int(name[2]), Path(entry.path), size))
        return sorted(found)


class DayFilesSink(ABC):
    """Changes in files by day. They are written in a thread: a disk may be slow, and other sinks wait for nobody."""

    def __init__(self, folder: str, context: SinkContext) -> None:
        self.folder = folder_of(folder, context.name, context.data_folder)
        self.clock = context.clock
        self._folders: list[DayFiles] = []

    def files_in(self, name: str, suffix: str, max_bytes: int) -> DayFiles:
        files = DayFiles(self.folder / name, suffix, max_bytes)
        self._folders.append(files)
        return files

    @abstractmethod
    def write(self, batch: Sequence[Delivery], fence: Fence) -> None:
        """All of it. Raises OSError."""

    def place_of(self, record: Record) -> str:
        return ""

    async def prepare(self, fence: Fence) -> None:
        await asyncio.to_thread(self._tidy)

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        await asyncio.to_thread(self._write, batch, fence)
        return [Accepted()] * len(batch)

    async def close(self) -> None:  # noqa: B027 - nothing is left to do
        """Every file was closed as it was written."""

    def _tidy(self) -> None:
        with telling_disk_trouble(self.folder):
            for files in self._folders:
                files.tidy()

    def _write(self, batch: Sequence[Delivery], fence: Fence) -> None:
        with telling_disk_trouble(self.folder):
            self.write(batch, fence)


def copy_into(file: BinaryIO, source: Path) -> None:
    with source.open("rb") as before:
        while piece := before.read(COPIED_AT_ONCE):
            file.write(piece)


async def try_folder(sink: Sink, fence: Fence) -> str:
    """Of a sink that says its `folder`."""
    return await asyncio.to_thread(_try_folder, sink.folder, fence)  # type: ignore[attr-defined]


def _try_folder(folder: Path, fence: Fence) -> str:
    with telling_disk_trouble(folder):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"test-{fence.token}"
        put_file(probe, part_of(folder, "test", fence.token), _write_little, fence)
        probe.unlink()
        space = os.statvfs(folder)
    return f"{folder} can be written; {size_in_words(space.f_bavail * space.f_frsize)} are free there."


def _write_little(file: BinaryIO) -> None:
    file.write(b"This file may be removed.\n")


def _day(now: datetime) -> str:
    return f"{now:%Y-%m-%d}"
