"""/api/v1/workers: processes of roles, with their heartbeats, and a way to let one take on no more."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from headwater.actions.workers import drain_worker, list_workers, resume_worker
from headwater.reports.operations import WorkerState
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.shared import Installed
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


@router.post("/workers/{id}/drain", name="drain_worker")
async def drain(caller: Operator, services: Installed, id: WorkerId) -> WorkerShape:
    """Let a process take on no more work: it hears so within ten seconds, ends what it has, and keeps running."""
    return WorkerShape.model_validate(worker_as_dict(await drain_worker(services, id, caller.name)))


@router.post("/workers/{id}/resume", name="resume_worker")
async def resume(caller: Operator, services: Installed, id: WorkerId) -> WorkerShape:
    """Let a drained process take on work again, within ten seconds."""
    return WorkerShape.model_validate(worker_as_dict(await resume_worker(services, id, caller.name)))
