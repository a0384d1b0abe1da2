"""Lists of sources brought in and written out: OPML, CSV, JSON Lines, URL lists."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from headwater.actions.exchange import export_sources, import_sources
from headwater.errors import UsageError
from headwater.reports.discovery import SourceFilter
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api.operations import OperationShape
from headwater.serve.bodies import KeptText
from headwater.serve.long_work import ACCEPTED, located
from headwater.serve.operations import Progress
from headwater.serve.shared import Installed, LongWork, OnceOnly
from headwater.services import Services
from headwater.shapes.exchange import import_as_dict
from headwater.sources.exchange.reading import ListFormat, open_sources
from headwater.sources.exchange.writing import SUFFIXES, write_sources
from headwater.sources.source import SourceKind

router = APIRouter(prefix="/api/v1", tags=["sources"])

LARGEST_IMPORT_BYTES = 64_000_000
# Of lines that are no sources; the count tells of all.
MOST_INVALID_TOLD = 1_000
PIECES_AT_ONCE = 500
MEDIA_TYPES = {
    ListFormat.OPML: "text/x-opml; charset=utf-8",
    ListFormat.CSV: "text/csv; charset=utf-8",
    ListFormat.JSONL: "application/x-ndjson",
    ListFormat.URLS: "text/plain; charset=utf-8",
}
FILE = {"requestBody": {"required": True, "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}}


@router.post(
    "/sources/import",
    status_code=202,
    response_model=None,
    responses={202: ACCEPTED[202]},
    openapi_extra=FILE,
    name="import_sources",
)
async def import_list(
    caller: Operator,
    services: Installed,
    operations: LongWork,
    once: OnceOnly,
    request: Request,
    format: Annotated[ListFormat | None, Query(description="Nothing finds out.")] = None,
    kind: Annotated[SourceKind | None, Query(description="For rows that do not say theirs.")] = None,
    trusted: Annotated[
        bool, Query(description="The file is your own: it says for which hosts its sources may speak.")
    ] = False,
    dry_run: Annotated[bool, Query(description="Only say what would happen.")] = False,
) -> Response:
    """Add many sources from a file, which is the body; what is known already is left alone.

    Answers with an operation, whose result tells what was added and which lines were refused. Send an
    Idempotency-Key: a request that is sent again begins no second import. 64 MB at most.
    """
    data = await request.body()

    async def work(progress: Progress) -> Mapping[str, Any]:
        done = 0

        def count(rows: int) -> None:
            nonlocal done
            done += rows
            progress(done)

        # Beside the other requests: a long list takes seconds to be looked through.
        file = await asyncio.to_thread(open_sources, data, format)
        imported = await import_sources(
            services,
            file.in_order(),
            caller.name,
            kind=str(kind or ""),
            is_trusted=trusted,
            is_dry=dry_run,
            progress=count,
        )
        told = import_as_dict(file.as_read(), imported.done, is_dry=dry_run)
        return told | {"invalid_count": len(imported.done.bad), "invalid": told["invalid"][:MOST_INVALID_TOLD]}

    async def begin() -> OperationShape:
        if not data.strip():
            raise UsageError("The file is empty.", fix="Send the list as the body of the request.")
        return OperationShape.model_validate(await operations.begin("sources.import", caller.name, work))

    return located(await once.answer(caller.name, begin, 202))


@router.get(
    "/sources/export",
    response_class=StreamingResponse,
    responses={200: {"description": "The list.", "content": {kind: {} for kind in MEDIA_TYPES.values()}}},
    name="export_sources",
)
async def export_list(
    caller: Viewer,
    services: Installed,
    format: ListFormat = ListFormat.OPML,
    tag: Annotated[KeptText | None, Query(max_length=100)] = None,
    kind: SourceKind | None = None,
) -> StreamingResponse:
    """Write all sources with their feeds, as a file that can be imported."""
    named = {"content-disposition": f'attachment; filename="sources.{SUFFIXES[format]}"'}
    wanted = SourceFilter(kind=kind, tag=tag)
    return StreamingResponse(_pieces(services, wanted, format), 200, named, MEDIA_TYPES[format])


async def _pieces(services: Services, wanted: SourceFilter, as_format: ListFormat) -> AsyncIterator[bytes]:
    rows = await export_sources(services, wanted)
    part: list[str] = []
    for piece in write_sources(rows, as_format):
        part.append(piece)
        if len(part) >= PIECES_AT_ONCE:
            yield "".join(part).encode()
            part.clear()
    yield "".join(part).encode()
