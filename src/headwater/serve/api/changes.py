"""/api/v1/changes: the log of changes, for readers that ask."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from headwater.database.pool import Database
from headwater.deliver.pulling import ChangePage, PositionGone, change_as_dict, newest_position, pull_changes
from headwater.search.views import View, view_named
from headwater.serve.access.gate import Viewer
from headwater.serve.shared import Installed, Limit, Live

router = APIRouter(prefix="/api/v1", tags=["changes"])

USUAL_PAGE = 100
LARGEST_POSITION = 2**63 - 1
LONGEST_WAIT_SECONDS = 30
# With their texts, records of one page may be large.
MOST_WITH_TEXT = 100


class Include(StrEnum):
    FIELDS = "fields"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class ChangeWish:
    """Which changes, and how much of each."""

    after: Annotated[
        int | None, Query(ge=0, le=LARGEST_POSITION, description="Behind this position; nothing: the newest ones.")
    ] = None
    limit: Limit = USUAL_PAGE
    wait: Annotated[
        int, Query(ge=0, le=LONGEST_WAIT_SECONDS, description="Seconds to wait for a change where there is none yet.")
    ] = 0
    view: Annotated[str | None, Query(max_length=63, description="As a reader of this view sees it.")] = None
    include: Annotated[
        Include | None, Query(description="fields: the records without their texts; document: with them.")
    ] = None

    @property
    def most(self) -> int:
        return min(self.limit, MOST_WITH_TEXT) if self.include is Include.DOCUMENT else self.limit


class ChangeShape(BaseModel):
    """A line of the log. `remove`: the record is not, or no longer, for this reader, who removes it if it is held."""

    position: int
    at: datetime = Field(description="When it came into the log.")
    changed_at: datetime
    op: str = Field(description="upsert or remove.", examples=["upsert"])
    kind: str = Field(description="document or job.")
    id: str = Field(description="64 hex digits.")
    version: int
    record: dict[str, Any] | None = Field(None, description="The record as it is now, where it was asked for.")


class ChangeList(BaseModel):
    changes: list[ChangeShape]
    next: int = Field(description="The last position that was examined: `after` of the next request.")
    more: bool = Field(description="There is more already: ask again at once.")


@router.get("/changes", response_model_exclude_unset=True)
async def list_changes(
    caller: Viewer, services: Installed, live: Live, wish: Annotated[ChangeWish, Depends(ChangeWish)]
) -> ChangeList:
    """List changes behind a position, each with the state of its record now; wait for one where there is none.

    Positions grow without gaps, and none is given out late: who goes on after `next` misses nothing. Behind a position
    that the log no longer has the answer is 410, and says how to begin anew.
    """
    database = services.database
    view = await view_named(database, wish.view) if wish.view else None
    after = await newest_position(database, wish.most) if wish.after is None else wish.after
    page = await _pulled(database, after, wish.most, view)
    if not page.changes and wish.wait:
        with live.waiting.hold(caller.name):
            await live.watch.beyond(after, wish.wait)
        page = await _pulled(database, after, wish.most, view)
    return ChangeList.model_validate(
        {"changes": [_told(one, wish.include) for one in page.changes], "next": page.next, "more": page.more}
    )


async def _pulled(database: Database, after: int, limit: int, view: View | None) -> ChangePage:
    try:
        return await pull_changes(database, after, limit, view)
    except PositionGone as gone:
        position = await newest_position(database, 0)
        fix = (
            "Read all that there is, GET /api/v1/documents/export and /api/v1/jobs/export,"
            f" then go on: GET /api/v1/changes?after={position}"
        )
        raise PositionGone(gone.what, fix=fix) from gone


def _told(change: Any, include: Include | None) -> dict[str, Any]:
    told = dict(change_as_dict(change, with_text=include is Include.DOCUMENT))
    if include is None:
        told.pop("record", None)
    return told
