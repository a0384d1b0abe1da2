"""What belongs to one source: its channels, runs, events, pages, and why it stands as it does."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from headwater.actions.urls import crawl_story_of
from headwater.reports.discovery import RunFilter, overviews
from headwater.reports.explaining import story_of_source
from headwater.reports.paging import EventFilter, page_of_events, page_of_runs
from headwater.serve.access.gate import Viewer
from headwater.serve.api.source_shapes import ChannelShape
from headwater.serve.bodies import KeptText, Moment
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit
from headwater.services import Services
from headwater.shapes.runs import crawl_as_dict, run_as_dict
from headwater.shapes.sources import channel_as_dict, event_as_dict, source_story_as_dict
from headwater.sources.finding import find_source
from headwater.sources.store import Level

router = APIRouter(prefix="/api/v1", tags=["sources"])

SourceName = Annotated[
    str,
    Path(
        max_length=2_100,
        description="Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.",
        examples=["harbour.example"],
    ),
]
RunStatus = Annotated[str | None, Query(pattern="^(ok|warn|fail)$", description="ok, warn or fail.")]
Since = Annotated[Moment | None, Query(description="Not before this moment, with its time zone.")]
EventWord = Annotated[KeptText | None, Query(max_length=100)]


class ChannelList(BaseModel):
    channels: list[ChannelShape]


class RunShape(BaseModel):
    """One poll of a channel."""

    model_config = ConfigDict(extra="allow")

    id: UUID
    at: Any = Field(description="When it ended.")
    ran_at: Any = Field(description="The same, as older programs call it.")
    source_id: UUID
    source: str
    channel_id: UUID
    kind: str
    trigger: str
    status: str = Field(examples=["ok", "warn", "fail"])
    requests: int
    found: int
    inserted: int
    updated: int
    skipped: int
    errors: int
    duration_ms: int
    message: str


class RunList(BaseModel):
    """Newest first. With `status` a page may hold few runs, or none, and still have a cursor."""

    runs: list[RunShape]
    cursor: str | None


class EventShape(BaseModel):
    """What happened to a source or a channel, and who did it."""

    id: int
    at: Any
    kind: str
    message: str
    source_id: UUID | None
    channel_id: UUID | None
    actor: str
    level: str
    details: dict[str, Any]


class EventList(BaseModel):
    """Newest first. With filters a page may hold few events, or none, and still have a cursor."""

    events: list[EventShape]
    cursor: str | None


class PageMeta(BaseModel):
    count: int = Field(description="All pages of the crawl, whatever their status.")


class CrawledPages(BaseModel):
    """How far the crawl of a site has got, and a page of its pages."""

    model_config = ConfigDict(extra="allow")

    state: str = Field(examples=["running"])
    reason: str
    pages: dict[str, int] = Field(description="How many, by status.")
    limits_reached: list[str]
    data: list[dict[str, Any]]
    meta: PageMeta
    cursor: str | None


@router.get("/sources/{id:path}/channels", name="list_channels_of_source")
async def list_channels(caller: Viewer, services: Installed, id: SourceName) -> ChannelList:
    """List the channels of a source, those that are polled first."""
    return await channels_of_source(services, id)


async def channels_of_source(services: Services, named: str) -> ChannelList:
    (found,) = await overviews(services.database, [await find_source(services.database, named)])
    return ChannelList.model_validate({"channels": [channel_as_dict(found, one) for one in found.channels]})


@router.get("/sources/{id:path}/runs")
async def list_runs_of_source(
    caller: Viewer,
    services: Installed,
    id: SourceName,
    status: RunStatus = None,
    since: Since = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> RunList:
    """List the runs of a source, newest first."""
    found = await find_source(services.database, id)
    return await runs_that_match(services, RunFilter(found.id, status, since), limit, cursor)


async def runs_that_match(services: Services, wanted: RunFilter, limit: int, cursor: str | None) -> RunList:
    page = await page_of_runs(services.database, wanted, limit, cursor)
    runs = [run_as_dict(run) | {"ran_at": run.at} for run in page.items]
    return RunList.model_validate({"runs": runs, "cursor": page.cursor})


@router.get("/sources/{id:path}/events")
async def list_events_of_source(
    caller: Viewer,
    services: Installed,
    id: SourceName,
    kind: EventWord = None,
    actor: EventWord = None,
    level: Level | None = None,
    since: Since = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> EventList:
    """List the trail of a source, newest first."""
    found = await find_source(services.database, id)
    return await events_that_match(services, EventFilter(found.id, kind, actor, level, since), limit, cursor)


async def events_that_match(services: Services, wanted: EventFilter, limit: int, cursor: str | None) -> EventList:
    page = await page_of_events(services.database, wanted, limit, cursor)
    return EventList.model_validate({"events": [event_as_dict(one) for one in page.items], "cursor": page.cursor})


@router.get("/sources/{id:path}/explain")
async def explain_source(caller: Viewer, services: Installed, id: SourceName) -> dict[str, Any]:
    """Say how a source stands, why, and what happened to it lately, as `headwater explain` does."""
    return source_story_as_dict(await story_of_source(services.database, id))


@router.get("/sources/{id:path}/pages", name="list_pages_of_source")
async def list_pages(
    caller: Viewer,
    services: Installed,
    id: SourceName,
    status: Annotated[str | None, Query(max_length=20, description="pending, processing, completed or failed.")] = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> CrawledPages:
    """Show how far the crawl of a site has got, and its pages."""
    story = await crawl_story_of(services, id, status, limit, cursor)
    told = crawl_as_dict(story) | {"meta": {"count": sum(story.crawl.pages.values())}}
    return CrawledPages.model_validate(told)
