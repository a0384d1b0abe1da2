"""/api/v1/views: named filters over the archive."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from headwater.actions import delivery
from headwater.actions.delivery import ViewWish, delete_view, edit_view, make_view, view_stories
from headwater.record_kind import RecordKind
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.editions import IfMatch, tagged
from headwater.serve.shared import Installed
from headwater.services import Services
from headwater.shapes.views import preview_as_dict, view_as_dict

router = APIRouter(prefix="/api/v1", tags=["views"])

ViewName = Annotated[str, Path(max_length=63, description="The view's name.", examples=["boats"])]


class ViewFilters(BaseModel):
    """What is in a view; several values of one filter: any of them."""

    model_config = ConfigDict(extra="forbid")

    query: str | None = Field(None, max_length=2_000, description="Words, as a search takes them.", examples=["ferry"])
    kinds: list[RecordKind] | None = Field(None, max_length=2, description="document or job; nothing means both.")
    sources: list[str] | None = Field(None, max_length=1_000, description="Ids, addresses, hosts or names of sources.")
    tags: list[str] | None = Field(None, max_length=1_000, description="Tags of sources.")
    languages: list[str] | None = Field(None, max_length=200, description="By their two letters.", examples=[["en"]])
    countries: list[str] | None = Field(None, max_length=300, description="By name or two letters.")
    min_quality: int | None = Field(None, ge=0, le=100, description="Only documents of this quality at least.")

    rights: list[str] | None = Field(
        None, max_length=20, description="What publishers say about use; all must hold: train=allowed."
    )

    @property
    def wish(self) -> ViewWish:
        return ViewWish(**self.model_dump(include=set(ViewFilters.model_fields)))


class NewView(ViewFilters):
    name: str = Field(max_length=63, description="Small letters, digits, - and _.", examples=["boats"])


class ViewShape(BaseModel):
    """A named filter. Empty lists and an empty query filter nothing."""

    id: UUID
    name: str
    query: str
    kinds: list[str]
    source_ids: list[UUID]
    sources: list[str] = Field(description="Names of its sources.")
    tags: list[str]
    languages: list[str]
    countries: list[str]
    min_quality: int | None
    rights: list[str]
    sinks: list[str] = Field(description="Names of the sinks that deliver it.")
    edition: str = Field(description="All of it, in short: a change that sends it as If-Match is safe.")


class ViewList(BaseModel):
    views: list[ViewShape]


class PreviewedRecord(BaseModel):
    kind: str
    id: str
    title: str
    url: str
    source_id: UUID
    language: str | None
    first_seen_at: datetime


class PreviewCount(BaseModel):
    """How many of the newest records are in the view; `is_all`: no more than those there are."""

    kind: str
    found: int
    looked: int
    is_all: bool


class ViewPreviewShape(BaseModel):
    name: str
    counts: list[PreviewCount]
    records: list[PreviewedRecord]


@router.get("/views")
async def list_views(caller: Viewer, services: Installed) -> ViewList:
    """List the views, and the sinks that deliver them."""
    return ViewList.model_validate({"views": [view_as_dict(one) for one in await view_stories(services)]})


@router.post("/views", status_code=201)
async def add_view(caller: Operator, services: Installed, wanted: NewView) -> ViewShape:
    """Name a filter over the archive."""
    await make_view(services, wanted.name, wanted.wish)
    return await _shown(services, wanted.name)


@router.get("/views/{name}")
async def show_view(caller: Viewer, services: Installed, response: Response, name: ViewName) -> ViewShape:
    """Show what is in a view, and who delivers it."""
    return await _shown(services, name, response)


@router.patch("/views/{name}")
async def change_view(
    caller: Operator, services: Installed, response: Response, name: ViewName, changes: ViewFilters, known: IfMatch
) -> ViewShape:
    """Change filters of a view; those that are not given stay, empty ones filter nothing any more.

    Sinks that deliver it look at the whole archive again.
    """
    await edit_view(services, name, changes.wish, known)
    return await _shown(services, name, response)


@router.delete("/views/{name}", status_code=204)
async def remove_view(caller: Operator, services: Installed, name: ViewName, known: IfMatch) -> None:
    """Remove a view; refused while a sink delivers it."""
    await delete_view(services, name, known)


@router.get("/views/{name}/preview")
async def preview_view(
    caller: Viewer, services: Installed, name: ViewName, limit: Annotated[int, Query(ge=1, le=200)] = 20
) -> ViewPreviewShape:
    """Show the newest records of a view, and how many of the newest records are in it."""
    return ViewPreviewShape.model_validate(preview_as_dict(await delivery.preview_view(services, name, limit)))


async def _shown(services: Services, name: str, response: Response | None = None) -> ViewShape:
    (found,) = await view_stories(services, name)
    shown = ViewShape.model_validate(view_as_dict(found))
    if response is not None:
        tagged(response, shown.edition)
    return shown
