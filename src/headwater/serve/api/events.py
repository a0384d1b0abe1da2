"""/api/v1/events: the trail of what happened to sources and channels, and who did it."""

from fastapi import APIRouter

from headwater.reports.paging import EventFilter
from headwater.serve.access.gate import Viewer
from headwater.serve.api.runs import OfSource
from headwater.serve.api.source_parts import EventList, EventWord, Since, events_that_match
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit
from headwater.sources.finding import find_source
from headwater.sources.store import Level

router = APIRouter(prefix="/api/v1", tags=["events"])


@router.get("/events")
async def list_events(
    caller: Viewer,
    services: Installed,
    source: OfSource = None,
    kind: EventWord = None,
    actor: EventWord = None,
    level: Level | None = None,
    since: Since = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> EventList:
    """List the trail, newest first."""
    source_id = (await find_source(services.database, source)).id if source else None
    return await events_that_match(services, EventFilter(source_id, kind, actor, level, since), limit, cursor)
