"""How the installation is: for load balancers, for people who watch it, and for Prometheus."""

from datetime import datetime

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from starlette.responses import PlainTextResponse

from headwater.reports.exposition import exposition
from headwater.reports.health import HealthState, health_of
from headwater.serve.access.gate import Viewer, open_to_all
from headwater.serve.shared import Installed

router = APIRouter(tags=["health"])

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class HealthPartShape(BaseModel):
    name: str = Field(examples=["sink archive"])
    state: str = Field(description="ok, degraded or down.", examples=["degraded"])
    why: str
    since: datetime | None = Field(description="When it began not to be well, where that is known.")
    fix: str


class HealthShape(BaseModel):
    """`down`: nothing can be done, or nobody does it. `degraded`: work goes on, and something calls for a person."""

    state: str = Field(examples=["ok"])
    looked_at: datetime | None = Field(description="None where the database could not be asked.")
    parts: list[HealthPartShape]


@router.get("/healthz", dependencies=[open_to_all], include_in_schema=False)
async def healthz() -> PlainTextResponse:
    """That the process answers; it says nothing else to callers it does not know."""
    return PlainTextResponse("ok\n")


@router.get("/readyz", responses={503: {"model": HealthShape, "description": "It is down: the parts say why."}})
async def show_health(caller: Viewer, services: Installed, response: Response) -> HealthShape:
    """Show what works, what does not, since when, and what to do about it."""
    found = await health_of(services.database)
    response.status_code = 503 if found.state is HealthState.DOWN else 200
    return HealthShape.model_validate(found.as_dict())


@router.get("/metrics", response_class=PlainTextResponse)
async def show_metrics(caller: Viewer, services: Installed) -> Response:
    """Give the figures of the whole installation as Prometheus reads them."""
    return Response(await exposition(services.database), media_type=PROMETHEUS)
