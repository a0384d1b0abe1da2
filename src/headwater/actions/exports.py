"""The archive, or a view of it, written out: documents or vacancies, as far as they are deliverable."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from headwater.archive.raw import newest_body
from headwater.deliver.exports.outputs import ExportOutput, StreamOutput, open_output
from headwater.deliver.exports.request import Checkpoint, ExportedRecord, ExportFormat, ExportRequest, cursor_after
from headwater.deliver.exports.walking import ExportBatch, ExportWalk
from headwater.deliver.records import Membership, Record
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.search.views import question_of, view_named
from headwater.services import Services
from headwater.sources.finding import find_source
from headwater.urls.fingerprint import DocumentKey

# Before so much is walked, the rest cannot be told from it.
LEAST_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class WantedExport:
    """As a person says it. `place` None: `write` takes what is written."""

    kind: RecordKind
    format: ExportFormat
    view: str | None = None
    source: str | None = None
    since: datetime | None = None
    since_as_said: str | None = None
    place: Path | None = None
    write: Callable[[bytes], None] | None = None
    is_forced: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """`resumed_after` counts records of an export that was interrupted; `without_body` have no page that is kept."""

    records: int
    without_body: int
    size_bytes: int
    resumed_after: int


async def export_records(
    services: Services,
    wanted: WantedExport,
    *,
    on_start: Callable[[int], None] = lambda _resumed: None,
    on_progress: Callable[[int, int | None], None] = lambda _done, _total: None,
) -> Exported:
    """`on_start` hears how many records were there before, `on_progress` how many came and how many there may be."""
    reader, request = await _reader(services, wanted), await _request(services, wanted)
    output = _output(services, request, wanted)
    try:
        on_start(output.start.records)
        walk = ExportWalk(services.database, request.kind, reader, request.source_id, output.start.since)
        reached = output.start
        async for batch in walk.from_cursor(reached.cursor):
            reached = await _put(services, request, output, batch, reached)
            on_progress(len(batch.records), _expected(reached, batch))
        size = output.finish(reached)
    finally:
        output.close()
    return Exported(reached.records, reached.without_body, size, output.start.records)


async def stream_records(services: Services, wanted: WantedExport) -> AsyncIterator[bytes]:
    """The same, piece by piece, each made when it is asked for. Raises at once where a view or source is not there."""
    reader, request = await _reader(services, wanted), await _request(services, wanted)
    return _pieces(services, reader, request)


async def _pieces(services: Services, reader: Membership, request: ExportRequest) -> AsyncIterator[bytes]:
    written: list[bytes] = []
    output = StreamOutput(request, services.clock.now(), written.append)
    walk = ExportWalk(services.database, request.kind, reader, request.source_id, request.since)
    reached = output.start
    async for batch in walk.from_cursor(reached.cursor):
        reached = await _put(services, request, output, batch, reached)
        if written:
            yield b"".join(written)
            written.clear()
    output.finish(reached)
    if written:
        yield b"".join(written)


async def _request(services: Services, wanted: WantedExport) -> ExportRequest:
    source_id = (await find_source(services.database, wanted.source)).id if wanted.source else None
    return ExportRequest(wanted.kind, wanted.format, wanted.view, source_id, wanted.since, wanted.since_as_said)


async def _reader(services: Services, wanted: WantedExport) -> Membership:
    view = await view_named(services.database, wanted.view) if wanted.view else None
    question = await question_of(services.database, view, wanted.kind)
    return Membership(None, view.id if view else None, {wanted.kind: question}, frozenset({wanted.kind}))


def _output(services: Services, request: ExportRequest, wanted: WantedExport) -> ExportOutput:
    now = services.clock.now()
    if wanted.place is not None:
        return open_output(request, wanted.place, now, is_forced=wanted.is_forced)
    if wanted.write is None or not request.format.is_stream:
        raise UsageError(f"The format {request.format} needs a place of its own.", fix="Name it with --output.")
    return StreamOutput(request, now, wanted.write)


async def _put(
    services: Services, request: ExportRequest, output: ExportOutput, batch: ExportBatch, reached: Checkpoint
) -> Checkpoint:
    if request.format is ExportFormat.WARC:
        # One by one: a page may have ten megabytes.
        for record in batch.records:
            one = await _with_body(services, record)
            reached = _behind(request, reached, one)
            output.put([one], reached)
    else:
        reached = replace(reached, records=reached.records + len(batch.records), cursor=batch.cursor)
        output.put([ExportedRecord(one) for one in batch.records], reached)
    return replace(reached, cursor=batch.cursor)


def _behind(request: ExportRequest, before: Checkpoint, one: ExportedRecord) -> Checkpoint:
    return replace(
        before,
        cursor=cursor_after(one.record, by_time=request.source_id is not None),
        records=before.records + (one.raw is not None),
        without_body=before.without_body + (one.raw is None),
    )


async def _with_body(services: Services, record: Record) -> ExportedRecord:
    key = DocumentKey(record.key.bucket, record.key.hash)
    return ExportedRecord(record, await newest_body(services.database, key, services.stores))


def _expected(reached: Checkpoint, batch: ExportBatch) -> int | None:
    if batch.share is None or batch.share < LEAST_SHARE:
        return None
    return max(reached.records, round(reached.records / batch.share))
