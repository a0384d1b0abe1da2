"""The archive written out to a program that reads it: streamed, as the reader takes it."""

from contextlib import ExitStack
from typing import Literal

from headwater.actions.exports import WantedExport, stream_records
from headwater.actions.searching import moment_of
from headwater.deliver.exports.request import ExportFormat
from headwater.deliver.log import log_state
from headwater.record_kind import RecordKind
from headwater.serve.live import LiveParts
from headwater.serve.streaming import PlacedStream
from headwater.services import Services

# What is written from beginning to end as text.
Streamed = Literal[ExportFormat.JSONL, ExportFormat.CSV, ExportFormat.ATOM]
MEDIA_TYPES: dict[ExportFormat, str] = {
    ExportFormat.JSONL: "application/x-ndjson",
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.ATOM: "application/atom+xml; charset=utf-8",
}
# The position of the log from before the first record: a reader of changes goes on behind it.
POSITION = "headwater-position"
EXPORT_RESPONSES: dict[int | str, dict[str, object]] = {
    200: {
        "description": f"The records. {POSITION} is the position of the log to go on after.",
        "content": {one.partition(";")[0]: {"schema": {"type": "string"}} for one in MEDIA_TYPES.values()},
    }
}


async def export_stream(
    services: Services,
    live: LiveParts,
    caller: str,
    kind: RecordKind,
    chosen: ExportFormat,
    filters: tuple[str | None, str | None, str | None],
) -> PlacedStream:
    view, source, since = filters
    moment = moment_of(since, services.clock.now())
    with ExitStack() as stack:
        stack.enter_context(live.exports.hold(caller))
        position = (await log_state(services.database)).position
        pieces = await stream_records(services, WantedExport(kind, chosen, view, source, moment, since))
        headers = {"content-disposition": f'attachment; filename="{kind}s.{chosen}"', POSITION: str(position)}
        return PlacedStream(pieces, stack.pop_all(), media_type=MEDIA_TYPES[chosen], headers=headers)
