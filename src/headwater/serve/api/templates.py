"""/api/v1/templates: the page layouts learned for each host."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from headwater.learning.store import disable, relearn
from headwater.politeness.hosts import site_of
from headwater.reports.templates import page_of_learning, read_schooling
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit
from headwater.services import Services
from headwater.shapes.templates import learning_as_dict, schooling_as_dict

router = APIRouter(prefix="/api/v1", tags=["templates"])

SiteName = Annotated[
    str, Path(max_length=300, description="A host, with its port if that is not the usual one.", examples=["a.example"])
]


class LearningHost(BaseModel):
    """A host: how far its learning is, and its templates."""

    model_config = ConfigDict(extra="allow")

    host: str
    status: str = Field(examples=["learned", "waiting for training"])
    pages: int = Field(description="Stored pages that can teach.")
    fresh: int
    failures: int
    pages_wanted: int | None
    versions: list[dict[str, Any]]


class LearningHosts(BaseModel):
    hosts: list[LearningHost]
    cursor: str | None


class LearnedHost(LearningHost):
    known: list[dict[str, Any]] = Field(description="What the templates in use know.")
    events: list[dict[str, Any]]


@router.get("/templates")
async def list_templates(
    caller: Viewer, services: Installed, limit: Limit = USUAL_PAGE, cursor: Cursor = None
) -> LearningHosts:
    """List hosts: which are read by a learned template and how well, which are not and why."""
    page = await page_of_learning(services.database, limit, cursor)
    return LearningHosts.model_validate({"hosts": [learning_as_dict(one) for one in page.items], "cursor": page.cursor})


@router.get("/templates/{host}")
async def show_template(caller: Viewer, services: Installed, host: SiteName) -> LearnedHost:
    """Show the templates of a host: where its text stands, blocks kept and dropped, versions and history."""
    return await _shown(services, host)


@router.post("/templates/{host}/relearn")
async def relearn_template(caller: Operator, services: Installed, host: SiteName) -> LearnedHost:
    """Learn a host again from its stored pages, also where it was disabled."""
    await relearn(services.database, site_of(host), caller.name)
    return await _shown(services, host)


@router.delete("/templates/{host}")
async def forget_template(caller: Operator, services: Installed, host: SiteName) -> LearnedHost:
    """End a host's templates and learn none until `relearn`: its pages are read by the general extractor."""
    await disable(services.database, site_of(host), caller.name)
    return await _shown(services, host)


async def _shown(services: Services, host: str) -> LearnedHost:
    found = await read_schooling(services.database, site_of(host))
    return LearnedHost.model_validate(schooling_as_dict(found, found.host_learning.active))
