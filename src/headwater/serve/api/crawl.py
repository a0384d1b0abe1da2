"""/api/v1/crawl: polls now, and how far they are."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from headwater.actions.pausing import pause_everything, resume_everything
from headwater.actions.sources import poll_sources
from headwater.errors import Refused
from headwater.frontier.pause import LONGEST_REASON, read_pause, require_not_paused
from headwater.reports.discovery import DiscoveryOverview, summary
from headwater.reports.frontier import hosts_now
from headwater.reports.operations import live_processes
from headwater.run.polling import poll_what_is_due
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api.operations import OperationShape
from headwater.serve.bodies import KeptText, StrictBody
from headwater.serve.long_work import ACCEPTED, located
from headwater.serve.operations import Progress
from headwater.serve.shared import Installed, LongWork, OnceOnly
from headwater.services import Services

router = APIRouter(prefix="/api/v1", tags=["crawl"])

POLL = "poll"
RUN_DUE = "crawl.run_due"


class SourcePolled(BaseModel):
    """`channels` are due now; `why_not` says why none is."""

    source_id: UUID
    name: str
    channels: int
    why_not: str | None


class PolledSources(BaseModel):
    queued: int = Field(description="Channels that are due now.")
    sources: list[SourcePolled]


class SourcesToPoll(StrictBody):
    sources: Annotated[list[Annotated[KeptText, Field(max_length=2_100)]], Field(min_length=1, max_length=1_000)] = (
        Field(description="Ids, addresses, hosts or names.", examples=[["harbour.example"]])
    )


class CrawlPool(BaseModel):
    """Channels of job sources that all processes together poll at once."""

    global_: int = Field(alias="global", serialization_alias="global")


class CrawlPauseShape(BaseModel):
    """Nothing is polled or fetched since then."""

    model_config = ConfigDict(from_attributes=True)

    since: datetime
    set_by: str = Field(examples=["ann"])
    reason: str


class WantedPause(StrictBody):
    reason: Annotated[KeptText, Field(max_length=LONGEST_REASON)] = Field("", description="For those who wonder.")


class Resumed(BaseModel):
    was_paused: bool


class CrawlStatus(BaseModel):
    running: bool = Field(description="Whether a process polls.")
    pool: CrawlPool
    due_count: int = Field(description="Channels that are due.")
    locked: int = Field(description="Channels that are being polled.")
    in_flight: int = Field(description="Hosts that are being asked at this moment.")
    pollers: int = Field(description="Processes that poll.")
    pause: CrawlPauseShape | None = Field(description="Null while everything goes on.")


@router.post("/crawl/run", response_model=PolledSources)
async def run_sources(caller: Operator, services: Installed, once: OnceOnly, asked: SourcesToPoll) -> Response:
    """Poll sources as soon as their hosts allow, whatever their schedule or time window says."""

    async def work() -> PolledSources:
        polled = [_polled(*one) for one in await poll_sources(services, asked.sources)]
        return PolledSources(queued=sum(one.channels for one in polled), sources=polled)

    return await once.answer(caller.name, work)


async def poll_one(services: Services, named: str) -> SourcePolled:
    """Raises Refused where nothing of it is polled."""
    ((found, channels),) = await poll_sources(services, [named])
    polled = _polled(found, channels)
    if polled.why_not:
        raise Refused(polled.why_not, fix=f"Look at it: GET /api/v1/sources/{polled.source_id}")
    return polled


def _polled(one: DiscoveryOverview, channels: int) -> SourcePolled:
    why = None if channels else why_not_polled(one)
    return SourcePolled(source_id=one.source.id, name=one.source.name, channels=channels, why_not=why)


def why_not_polled(one: DiscoveryOverview) -> str:
    """Pure."""
    source = one.source
    if one.is_left_alone:
        taken = next(problem.what for problem in one.health.problems if problem.kind == "takedown")
        return f"{source.name} is not polled. {taken}"
    if source.status != "active":
        reason = f" ({source.status_reason})" if source.status_reason else ""
        return f"{source.name} is {source.status}{reason}: nothing of it is polled."
    return f"{source.name} has no channel to poll."


@router.post("/crawl/run-due", status_code=202, response_model=None, responses={202: ACCEPTED[202]})
async def run_due(caller: Operator, services: Installed, operations: LongWork, once: OnceOnly) -> Response:
    """Poll every channel that is due, once. It is done here, beside pollers that run: no channel is polled twice.

    The result counts channels polled, those that failed, and new items.
    """

    async def begin() -> OperationShape:
        return await begin_run_due(services, operations, caller.name)

    return located(await once.answer(caller.name, begin, 202))


async def begin_run_due(services: Services, operations: LongWork, actor: str) -> OperationShape:
    async def work(progress: Progress) -> Mapping[str, Any]:
        done = 0

        def on_polled(*_: object) -> None:
            nonlocal done
            done += 1
            progress(done)

        return await poll_what_is_due(services, on_polled)

    await require_not_paused(services.database)
    return OperationShape.model_validate(await operations.begin(RUN_DUE, actor, work))


@router.get("/crawl/status")
async def crawl_status(caller: Viewer, services: Installed) -> CrawlStatus:
    """Say how many channels are due and being polled, and whether a process polls at all."""
    found, hosts = await summary(services.database), await hosts_now(services.database)
    pollers = [one for one in await live_processes(services.database) if POLL in one.does]
    return CrawlStatus(
        running=bool(pollers),
        pool=CrawlPool.model_validate({"global": services.settings.poll.jobs_pool}),
        due_count=found.due,
        locked=found.polling,
        in_flight=hosts.busy,
        pollers=len(pollers),
        pause=CrawlPauseShape.model_validate(pause) if (pause := await read_pause(services.database)) else None,
    )


@router.post("/crawl/pause")
async def pause_crawl(caller: Operator, services: Installed, wanted: WantedPause) -> CrawlPauseShape:
    """Pause everything: nothing new is polled or fetched until it is resumed; what is under way ends."""
    return CrawlPauseShape.model_validate(await pause_everything(services.database, caller.name, wanted.reason))


@router.post("/crawl/resume")
async def resume_crawl(caller: Operator, services: Installed) -> Resumed:
    """Let everything go on; workers do within seconds."""
    return Resumed(was_paused=await resume_everything(services.database, caller.name))
