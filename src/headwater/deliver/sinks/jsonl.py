"""`jsonl`: every change as a line of JSON, in files by day and size."""

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, Literal

import zstandard
from pydantic import Field

from headwater.deliver.lines import line_of
from headwater.deliver.sink import Delivery, Fence, SinkContext, SinkKind, SinkOptions
from headwater.deliver.sinks.folder import (
    DayFile,
    DayFilesSink,
    copy_into,
    try_folder,
)

# By kind of compression: the end of the name, and how a piece is packed. Pieces behind each other are a valid file.
_PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "none": (".jsonl", bytes),
    "gzip": (".jsonl.gz", partial(gzip.compress, compresslevel=6, mtime=0)),
    "zstd": (".jsonl.zst", partial(zstandard.compress, level=3)),
}


class JsonlOptions(SinkOptions):
    folder: str = Field("", description="Where the files go; in the data folder's `sinks/NAME` if nothing is said.")
    compression: Literal["none", "gzip", "zstd"] = Field("none", description="none, gzip or zstd.")
    max_bytes: int = Field(
        64 << 20, ge=1 << 10, description="A file ends with the first change of position beyond so many bytes."
    )


@dataclass(frozen=True, slots=True)
class _PackedLines:
    """Lines of one file, packed."""

    first: int
    last: int
    body: bytes


class JsonlSink(DayFilesSink):
    """A file for each batch, or one that grows while it is small: `2026-11-18/000000001234-000000001733.jsonl`."""

    def __init__(self, options: JsonlOptions, context: SinkContext) -> None:
        suffix, self._pack = _PACKED[options.compression]
        super().__init__(options.folder, context)
        self._files = self.files_in("", suffix, options.max_bytes)
        self._max_bytes = options.max_bytes

    def write(self, batch: Sequence[Delivery], fence: Fence) -> None:
        for piece in self._pieces(batch):
            now = self.clock.now()
            if batch[0].is_from_archive:
                self._files.put_from_archive(now, piece.last, partial(_write_both, None, piece.body), fence)
                continue
            before = self._files.file_to_extend(now, piece.first, len(piece.body))
            write = partial(_write_both, before, piece.body)
            self._files.put(now, (piece.first, piece.last), write, fence, before)

    def _pieces(self, batch: Sequence[Delivery]) -> Iterator[_PackedLines]:
        """Cut between positions only: a name is then always the same piece. Records from the archive are not cut."""
        lines: list[bytes] = []
        size = first = last = 0
        for one in sorted(batch, key=lambda delivery: delivery.position):
            if lines and size >= self._max_bytes and one.position != last:
                yield _PackedLines(first, last, self._pack(b"".join(lines)))
                lines, size = [], 0
            first, last = first if lines else one.position, one.position
            lines.append(line_of(one))
            size += len(lines[-1])
        if lines:
            yield _PackedLines(first, last, self._pack(b"".join(lines)))


def _write_both(before: DayFile | None, body: bytes, file: BinaryIO) -> None:
    if before:
        copy_into(file, before.path)
    file.write(body)


KIND = SinkKind(
    name="jsonl",
    summary="Changes as JSON Lines, in files by day and size.",
    options=JsonlOptions,
    make=JsonlSink,
    batch=1_000,
    is_events=True,
    forgets_not="Lines stay in files that were written; a removal is a line of its own.",
    test=try_folder,
)
