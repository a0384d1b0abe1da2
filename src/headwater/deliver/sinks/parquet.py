"""`parquet`: every change as a row, in files by day and size; documents and vacancies in folders of their own."""

import io
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO

from pydantic import Field

from headwater.deliver.columns import row_of
from headwater.deliver.parquet import COMPRESSION, require_pyarrow, table_of
from headwater.deliver.payload import op_of
from headwater.deliver.sink import Delivery, Fence, SinkContext, SinkKind, SinkOptions, Upsert
from headwater.deliver.sinks.folder import DayFile, DayFiles, DayFilesSink, try_folder
from headwater.record_kind import RecordKind

_SUFFIX = ".parquet"
FOLDERS = {RecordKind.DOCUMENT: "documents", RecordKind.JOB: "jobs"}


class ParquetOptions(SinkOptions):
    folder: str = Field("", description="Where the files go; in the data folder's `sinks/NAME` if nothing is said.")
    max_bytes: int = Field(
        32 << 20, ge=1 << 10, le=512 << 20, description="A file grows with new changes up to so many bytes."
    )


class ParquetSink(DayFilesSink):
    """`documents/2026-11-18/000000001234-000000001733.parquet`; a small file is written anew with what comes next."""

    def __init__(self, options: ParquetOptions, context: SinkContext) -> None:
        require_pyarrow()
        super().__init__(options.folder, context)
        self._files = {kind: self.files_in(name, _SUFFIX, options.max_bytes) for kind, name in FOLDERS.items()}

    def write(self, batch: Sequence[Delivery], fence: Fence) -> None:
        for kind, files in self._files.items():
            own = sorted((one for one in batch if one.key.kind is kind), key=lambda one: one.position)
            if own:
                self._write_kind(kind, files, own, fence)

    def _write_kind(self, kind: RecordKind, files: DayFiles, own: Sequence[Delivery], fence: Fence) -> None:
        table = table_of(kind, [_row(one) for one in own], with_change=True)
        now, first, last = self.clock.now(), own[0].position, own[-1].position
        body = _packed(table)
        if own[0].is_from_archive:
            files.put_from_archive(now, last, partial(_write_body, body), fence)
            return
        before = files.file_to_extend(now, first, len(body))
        write = partial(_write_both, before, table) if before else partial(_write_body, body)
        files.put(now, (first, last), write, fence, before)


def _row(delivery: Delivery) -> Mapping[str, Any]:
    change = {"position": delivery.position, "op": op_of(delivery)}
    if isinstance(delivery, Upsert):
        return change | row_of(delivery.record)
    return change | {"id": delivery.key.id, "version": delivery.version}


def _packed(table: Any) -> bytes:
    import pyarrow.parquet as pq

    body = io.BytesIO()
    pq.write_table(table, body, compression=COMPRESSION)
    return body.getvalue()


def _write_body(body: bytes, file: BinaryIO) -> None:
    file.write(body)


def _write_both(before: DayFile, table: Any, file: BinaryIO) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # By hand: a name such as `2026-11-18` in its path is no partition.
    former = pq.ParquetFile(before.path).read()
    pq.write_table(pa.concat_tables([former, table], promote_options="default"), file, compression=COMPRESSION)


KIND = SinkKind(
    name="parquet",
    summary="Changes as Parquet, in files by day and size.",
    options=ParquetOptions,
    make=ParquetSink,
    batch=1_000,
    is_events=True,
    forgets_not="Rows stay in files that were written; a removal is a row of its own.",
    test=try_folder,
)
