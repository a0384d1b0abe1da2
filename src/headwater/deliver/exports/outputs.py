"""Where an export goes: a pipe, a file, a folder of pages, or pieces of a table that become one file.

What is written stands in the work folder until it is whole. `reached` travels with the records: an output keeps it when
all up to there is on the disk, and begins there after a stop.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from headwater.deliver.columns import row_of
from headwater.deliver.exports.encoders import RecordEncoder, encoder_of, require_warcio
from headwater.deliver.exports.markdown import name_of_page, page_of
from headwater.deliver.exports.request import (
    Checkpoint,
    ExportCursor,
    ExportedRecord,
    ExportFormat,
    ExportRequest,
    cursor_after,
)
from headwater.deliver.exports.work_folder import WorkFolder
from headwater.deliver.parquet import COMPRESSION, require_pyarrow, schema_of, table_of
from headwater.errors import NO_SPACE, DependencyDown, UsageError

# Records between two checkpoints of a file: each waits for the disk.
SAVED_EVERY = 2_000
# Rows, or characters of text, in a row group of a table.
PIECE_ROWS, PIECE_CHARACTERS = 5_000, 32 << 20
# In a folder of pages: it was made by an export, and may be replaced by one.
MARK = ".headwater-export"


class ExportOutput(Protocol):
    """`start` is where it goes on."""

    start: Checkpoint

    def put(self, records: Sequence[ExportedRecord], reached: Checkpoint) -> None: ...

    def finish(self, reached: Checkpoint) -> int:
        """In its place; the size in bytes."""

    def close(self) -> None:
        """Whatever is unfinished can be continued."""


def open_output(request: ExportRequest, place: Path, now: datetime, *, is_forced: bool) -> ExportOutput:
    require_place(place, request.format, is_forced=is_forced)
    _require_extra(request.format)
    work, fresh = WorkFolder(place, request), Checkpoint(now, request.since)
    with telling_full_disk(place):
        try:
            start = work.open(fresh)
            match request.format:
                case ExportFormat.MARKDOWN:
                    return PagesOutput(place, work, start)
                case ExportFormat.PARQUET:
                    return TableOutput(place, work, start, request)
            return FileOutput(place, work, start, request)
        except BaseException:
            work.close()
            raise


def _require_extra(form: ExportFormat) -> None:
    """Before anything is made on the disk."""
    match form:
        case ExportFormat.PARQUET:
            require_pyarrow()
        case ExportFormat.WARC:
            require_warcio()


def require_place(place: Path, kind: ExportFormat, *, is_forced: bool) -> None:
    if not place.parent.is_dir():
        raise UsageError(f"There is no folder {place.parent}.", fix="Make it first.")
    if not os.path.lexists(place):
        return
    is_folder = place.is_dir() and not place.is_symlink()
    if is_folder != (kind is ExportFormat.MARKDOWN):
        what = "a folder" if is_folder else "no folder"
        raise UsageError(f"{place} is {what}, which this format cannot replace.", fix="Choose another output.")
    if is_folder and not any(place.iterdir()):
        return
    if is_folder and not (place / MARK).exists():
        raise UsageError(f"{place} holds files that no export wrote.", fix="Choose a new folder.")
    if not is_forced:
        raise UsageError(f"{place} exists.", fix="Add --force to replace it, or choose another output.")


@contextmanager
def telling_full_disk(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE:
            raise DependencyDown(
                f"The disk of {place} is full.", fix="Make room there; the same command goes on where it stopped."
            ) from error
        raise UsageError(
            f"{place} cannot be written: {error.strerror or error}.", fix="Choose another output."
        ) from error


class StreamOutput:
    """A pipe or a terminal: `write` says it at once, and there is no way back."""

    def __init__(self, request: ExportRequest, now: datetime, write: Callable[[bytes], None]) -> None:
        self.start = Checkpoint(now, request.since)
        self._encoder, self._write, self._size = encoder_of(request, now), write, 0
        self._say(self._encoder.head())

    def put(self, records: Sequence[ExportedRecord], reached: Checkpoint) -> None:
        self._say(b"".join(map(self._encoder.encode, records)))

    def finish(self, reached: Checkpoint) -> int:
        self._say(self._encoder.tail())
        return self._size

    def close(self) -> None:
        pass

    def _say(self, body: bytes) -> None:
        if body:
            self._write(body)
            self._size += len(body)


class FileOutput:
    """One file from beginning to end; after a stop it is cut where the last checkpoint was."""

    def __init__(self, place: Path, work: WorkFolder, start: Checkpoint, request: ExportRequest) -> None:
        self._place, self._work = place, work
        self._part = work.path / "data"
        size = self._part.stat().st_size if self._part.exists() else 0
        if size < start.size_bytes:
            # Somebody took it away.
            start = Checkpoint(start.began_at, start.since)
        self.start, self._reached, self._saved = start, start, start.records
        self._encoder: RecordEncoder = encoder_of(request, start.began_at)
        self._file = self._part.open("r+b" if size else "wb")
        self._file.seek(start.size_bytes)
        self._file.truncate()
        if not start.size_bytes:
            self._file.write(self._encoder.head())
        self._is_whole = False

    def put(self, records: Sequence[ExportedRecord], reached: Checkpoint) -> None:
        with telling_full_disk(self._place):
            self._file.write(b"".join(map(self._encoder.encode, records)))
            self._reached = replace(reached, size_bytes=self._file.tell())
            if reached.records - self._saved >= SAVED_EVERY:
                self._save()

    def finish(self, reached: Checkpoint) -> int:
        with telling_full_disk(self._place):
            self._file.write(self._encoder.tail())
            size = self._file.tell()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._part.replace(self._place)
            self._is_whole = True
            self._work.remove()
        return size

    def close(self) -> None:
        if not self._is_whole:
            self._save_at_end()
        with suppress(OSError):
            self._file.close()
        self._work.close()

    def _save_at_end(self) -> None:
        """Records since the last checkpoint need not be written again."""
        with suppress(OSError):
            self._save()

    def _save(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._work.save(self._reached)
        self._saved = self._reached.records


class PagesOutput:
    """A folder of pages. Pages of records that were under way at a stop are written again: their titles, and so their
    names, may have changed meanwhile.
    """

    def __init__(self, place: Path, work: WorkFolder, start: Checkpoint) -> None:
        self._place, self._work = place, work
        self._pages = work.path / "pages"
        if not self._pages.exists():
            start = Checkpoint(start.began_at, start.since)
            self._pages.mkdir()
            (self._pages / MARK).write_bytes(b"")
        for name in start.unsure:
            (self._pages / name).unlink(missing_ok=True)
        self.start = self._reached = replace(start, unsure=())

    def put(self, records: Sequence[ExportedRecord], reached: Checkpoint) -> None:
        pages = {name_of_page(one.record): page_of(one.record) for one in records}
        size = self._reached.size_bytes + sum(map(len, pages.values()))
        with telling_full_disk(self._place):
            self._work.save(replace(self._reached, unsure=tuple(pages)), is_certain=False)
            for name, page in pages.items():
                (self._pages / name).parent.mkdir(exist_ok=True)
                (self._pages / name).write_bytes(page)
            self._reached = replace(reached, size_bytes=size)
            self._work.save(self._reached, is_certain=False)

    def finish(self, reached: Checkpoint) -> int:
        with telling_full_disk(self._place):
            if self._place.exists():
                self._place.rename(self._work.path / "replaced")
            self._pages.rename(self._place)
            self._work.remove()
        return self._reached.size_bytes

    def close(self) -> None:
        self._work.close()


class TableOutput:
    """A table whose pieces are files until it is whole: a Parquet file cannot be continued."""

    def __init__(self, place: Path, work: WorkFolder, start: Checkpoint, request: ExportRequest) -> None:
        self._place, self._work, self._request = place, work, request
        if not all(self._piece(number).exists() for number in range(start.pieces)):
            start = Checkpoint(start.began_at, start.since)
        self.start = self._reached = start
        self._rows: list[dict[str, Any]] = []
        self._characters = 0

    def put(self, records: Sequence[ExportedRecord], reached: Checkpoint) -> None:
        """Cut by records, not by how they are handed over, so that pieces are the same after a stop."""
        by_time = self._request.source_id is not None
        for one in records:
            self._rows.append(row_of(one.record))
            self._characters += len(one.record.fields.get("text") or "")
            if len(self._rows) >= PIECE_ROWS or self._characters >= PIECE_CHARACTERS:
                self._write_piece(cursor_after(one.record, by_time=by_time))

    def finish(self, reached: Checkpoint) -> int:
        import pyarrow.parquet as pq

        if self._rows:
            self._write_piece(reached.cursor)
        whole = self._work.path / "whole"
        with telling_full_disk(self._place):
            with pq.ParquetWriter(whole, schema_of(self._request.kind), compression=COMPRESSION) as writer:
                for number in range(self._reached.pieces):
                    table = pq.ParquetFile(self._piece(number)).read()
                    writer.write_table(table, row_group_size=PIECE_ROWS)
            _sync(whole)
            size = whole.stat().st_size
            whole.replace(self._place)
            self._work.remove()
        return size

    def close(self) -> None:
        self._work.close()

    def _write_piece(self, cursor: ExportCursor) -> None:
        import pyarrow.parquet as pq

        number = self._reached.pieces
        with telling_full_disk(self._place):
            pq.write_table(table_of(self._request.kind, self._rows), self._piece(number), compression=COMPRESSION)
            _sync(self._piece(number))
            records = self._reached.records + len(self._rows)
            self._reached = replace(self._reached, cursor=cursor, records=records, pieces=number + 1)
            self._work.save(self._reached)
        self._rows, self._characters = [], 0

    def _piece(self, number: int) -> Path:
        return self._work.path / f"{number:06}.parquet"


def _sync(file: Path) -> None:
    with file.open("rb") as written:
        os.fsync(written.fileno())
