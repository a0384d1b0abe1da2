"""The folder beside an export's place in which it is made: what is written so far, how far that is, and a lock."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import orjson

from headwater.database.locks import FileLock
from headwater.deliver.exports.request import Checkpoint, ExportRequest
from headwater.errors import Busy, UsageError

_STATE, _LOCK = "state.json", "lock"


class WorkFolder:
    """`NAME.part`. An export that is asked for again in the same words goes on in it; any other begins anew."""

    def __init__(self, place: Path, request: ExportRequest) -> None:
        self.path = place.with_name(f"{place.name}.part")
        self._said = request.as_said
        self._lock: FileLock | None = None

    def open(self, fresh: Checkpoint) -> Checkpoint:
        """How far it is; `fresh` where nothing is there to go on with."""
        self._make()
        self._lock = FileLock(self.path / _LOCK)
        if not self._lock.try_exclusive():
            raise Busy(f"Another export writes to {self.path} now.", fix="Wait for it, or choose another output.")
        found = self._read()
        if found is None:
            self.clear()
            self.save(fresh)
        return found or fresh

    def save(self, reached: Checkpoint, *, is_certain: bool = True) -> None:
        """`is_certain`: also after the machine lost its power."""
        beside = self.path / f"{_STATE}.new"
        with beside.open("wb") as file:
            file.write(orjson.dumps({"said": self._said, "checkpoint": reached.as_dict()}))
            if is_certain:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(self.path / _STATE)

    def clear(self) -> None:
        """All but the lock."""
        for entry in list(os.scandir(self.path)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            elif entry.name != _LOCK:
                Path(entry.path).unlink()

    def close(self) -> None:
        if self._lock:
            self._lock.close()

    def remove(self) -> None:
        shutil.rmtree(self.path)

    def _make(self) -> None:
        with suppress(FileExistsError):
            self.path.mkdir(mode=0o700)
        is_folder = self.path.is_dir() and not self.path.is_symlink()
        names = [one.name for one in self.path.iterdir()] if is_folder else ["not a folder"]
        is_ours = self.path.lstat().st_uid == os.geteuid() and (not names or _LOCK in names)
        if not is_ours:
            raise UsageError(
                f"{self.path} is in the way: it is no export that was interrupted.",
                fix="Remove it, or choose another output.",
            )

    def _read(self) -> Checkpoint | None:
        try:
            said = orjson.loads((self.path / _STATE).read_bytes())
            return Checkpoint.from_dict(said["checkpoint"]) if said["said"] == self._said else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
