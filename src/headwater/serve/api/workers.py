"""/api/v1/workers: processes of roles, with their heartbeats, and a way to let one take on no more."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from headwater.actions.workers import drain_worker, list_workers, resume_worker
from headwater.reports.log_lines import LineFilter, page_of_lines
from headwater.reports.operations import WorkerState
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit
from headwater.shapes.log_lines import line_as_dict
from headwater.shapes.workers import worker_as_dict

router = APIRouter(prefix="/api/v1", tags=["crawl"])

WorkerId = Annotated[str, Path(max_length=40, description="Its id, or the beginning of it.")]


class WorkerShape(BaseModel):
    id: UUID
    role: str = Field(examples=["fetch"])
    does: list[str]
    state: WorkerState
    host: str
    pid: int
    version: str
    started_at: datetime
    beat_at: datetime = Field(description="Its last heartbeat; one comes every ten seconds.")
    under_way: int = Field(description="Pieces of leased work in hand at its last heartbeat.")
    drain_asked_at: datetime | None
    drain_asked_by: str | None
    failing: dict[str, str] = Field(description="Tasks that fail at present, each with its last error.")


class WorkerList(BaseModel):
    workers: list[WorkerShape]


@router.get("/workers")
async def show_workers(caller: Viewer, services: Installed) -> WorkerList:
    """List the processes of roles, the latest heartbeat first; also those that fell silent in the last day."""
    return WorkerList.model_validate({"workers": [worker_as_dict(one) for one in await list_workers(services)]})


class LogLineShape(BaseModel):
    id: int
    at: datetime = Field(description="By the clock of its machine.")
    process_id: UUID
    role: str
    host: str
    pid: int
    level: Literal["warning", "error", "critical"]
    event: str = Field(description="Of docs/log-events.md.", examples=["poll_failed"])
    fields: dict[str, Any] = Field(description="As in the line itself, without secrets.")
    told: str = Field(description="In a sentence.")


class LogLineList(BaseModel):
    lines: list[LogLineShape]
    cursor: str | None


@router.get("/workers/log", name="list_log_lines")
async def list_lines(
    caller: Viewer,
    services: Installed,
    level: Literal["warning", "error"] | None = None,
    event: Annotated[str | None, Query(max_length=100)] = None,
    role: Annotated[str | None, Query(max_length=100)] = None,
    pid: Annotated[int | None, Query(ge=0, le=2_147_483_647)] = None,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
) -> LogLineList:
    """List what processes warned of in the last day, newest first: the newest 20,000 lines of all."""
    page = await page_of_lines(services.database, LineFilter(level, event, role, pid), limit, cursor)
    return LogLineList.model_validate({"lines": [line_as_dict(one) for one in page.items], "cursor": page.cursor})


@router.post("/workers/{id}/drain", name="drain_worker")
async def drain(caller: Operator, services: Installed, id: WorkerId) -> WorkerShape:
    """Let a process take on no more work: it hears so within ten seconds, ends what it has, and keeps running."""
    return WorkerShape.model_validate(worker_as_dict(await drain_worker(services, id, caller.name)))


@router.post("/workers/{id}/resume", name="resume_worker")
async def resume(caller: Operator, services: Installed, id: WorkerId) -> WorkerShape:
    """Let a drained process take on work again, within ten seconds."""
    return WorkerShape.model_validate(worker_as_dict(await resume_worker(services, id, caller.name)))
