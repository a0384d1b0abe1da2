"""/api/v1/runs: the log of polls."""

from typing import Annotated

from fastapi import APIRouter, Query

from headwater.reports.discovery import RunFilter
from headwater.serve.access.gate import Viewer
from headwater.serve.api.source_parts import RunList, RunStatus, Since, runs_that_match
from headwater.serve.bodies import KeptText
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit
from headwater.sources.finding import find_source

router = APIRouter(prefix="/api/v1", tags=["runs"])

OfSource = Annotated[KeptText | None, Query(max_length=2_100, description="Only of this one: id, address, host, name.")]


@router.get("/runs")
async def list_runs(
    caller: Viewer,
    services: Installed,
    source: OfSource = None,
    status: RunStatus = None,
    since: Since = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> RunList:
    """List polls, newest first: what each found, how long it took, and when the next one is."""
    source_id = (await find_source(services.database, source)).id if source else None
    return await runs_that_match(services, RunFilter(source_id, status, since), limit, cursor)
