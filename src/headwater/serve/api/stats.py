"""/api/v1/stats, /problems and /schedule: how things stand, what is wrong, what is polled next."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from headwater.actions.standing import all_problems, look_now, problems_of
from headwater.reports.crowds import crowded_hosts
from headwater.reports.discovery import schedule, time_now
from headwater.serve.access.gate import Viewer
from headwater.serve.api.runs import OfSource
from headwater.serve.api.source_shapes import ProblemShape
from headwater.serve.shared import USUAL_PAGE, Installed, Limit
from headwater.shapes.freshness import crowded_as_dict
from headwater.shapes.status import problems_as_dict, schedule_as_dicts, standing_as_dict

router = APIRouter(prefix="/api/v1", tags=["stats"])

MOST_SCHEDULED = 10_000


class DelayShape(BaseModel):
    """What half of `count` delays did not exceed, and what 95 % did not."""

    count: int
    p50_seconds: float | None
    p95_seconds: float | None


class CrowdShape(BaseModel):
    """A host that cannot be polled as often as its channels deserve."""

    host: str
    channels: int
    deserved_per_hour: float
    possible_per_hour: float = Field(description="Polls that its delay leaves room for.")
    lost_share: float = Field(description="Of the polls that its channels deserve.")
    lengthened: float = Field(description="By so much the intervals of its channels, so that all have their turns.")
    deserved_every_seconds: int
    possible_every_seconds: int = Field(description="So often each of its channels is polled, in the mean.")
    judged_at: datetime


class StatsShape(BaseModel):
    """The whole in figures, as `headwater status --json` tells it. Times are meant against `now`."""

    model_config = ConfigDict(extra="allow")

    now: datetime
    sources: dict[str, int] = Field(description="By status.")
    channels: int
    polling: int
    due: int
    runs: int = Field(description="Of the last 24 hours, like the following.")
    failed_runs: int
    found: int = Field(description="Items that were new to their channels.")
    delay_p50_seconds: int | None = Field(description="From publication to discovery.")
    delay_p95_seconds: int | None
    sink_delay: dict[str, DelayShape] = Field(description="From a change to each sink, of the last 24 hours.")
    polls_avoided: dict[str, int] = Field(
        description="Of the last 24 hours, against one poll an hour: by `rhythm` and by `push`."
    )
    crowded_hosts: list[CrowdShape] = Field(description="Hosts with more channels than turns; most lost polls first.")
    polls_per_item: float | None = Field(description="Of the last 24 hours: polls for each new item.")
    frontier: dict[str, int] = Field(description="URLs by status.")
    hosts: dict[str, Any]
    suspects: dict[str, int]
    operations: dict[str, Any] = Field(description="Processes, and figures of the last hour.")
    delivery: dict[str, Any] | None
    hurried_by_source: dict[str, int]
    templates: dict[str, Any]
    problems: int
    problems_is_cut: bool


class ProblemList(BaseModel):
    """The worst first. `count` are all; `is_cut`: there are more than were judged."""

    looked_at: datetime
    last_run_at: datetime | None
    count: int
    is_cut: bool
    problems: list[ProblemShape]


class ScheduledPoll(BaseModel):
    source: str
    source_id: Any
    kind: str
    url: str
    next_fetch: datetime | None = Field(description="Null while its source rests, or is taken down.")
    in_seconds: int | None
    interval_seconds: int | None
    errors: int
    is_running: bool
    why: str


class Schedule(BaseModel):
    schedule: list[ScheduledPoll]
    schedule_is_cut: bool
    crowded_hosts: list[CrowdShape] = Field(description="Hosts whose channels are polled less often than they deserve.")


@router.get("/stats")
async def show_stats(caller: Viewer, services: Installed) -> StatsShape:
    """Say how things stand: sources, polls, the frontier, the last 24 hours."""
    problems = await all_problems(services, is_hint=True)
    return StatsShape.model_validate(standing_as_dict(await look_now(services), problems))


@router.get("/problems")
async def list_problems(
    caller: Viewer, services: Installed, source: OfSource = None, limit: Limit = USUAL_PAGE
) -> ProblemList:
    """List all that is wrong, the worst first: what, since when, and what to do."""
    looked = await (problems_of(services, source) if source else all_problems(services))
    return ProblemList.model_validate(problems_as_dict(looked, limit))


@router.get("/schedule")
async def show_schedule(
    caller: Viewer, services: Installed, limit: Annotated[int, Query(ge=1, le=MOST_SCHEDULED)] = USUAL_PAGE
) -> Schedule:
    """List what is polled next, and why then; at the end channels that rest."""
    coming = await schedule(services.database, limit + 1)
    told = schedule_as_dicts(coming[:limit], await time_now(services.database))
    crowds = [crowded_as_dict(one) for one in await crowded_hosts(services.database)]
    return Schedule.model_validate({"schedule": told, "schedule_is_cut": len(coming) > limit, "crowded_hosts": crowds})
