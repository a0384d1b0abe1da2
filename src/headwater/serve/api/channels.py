"""/api/v1/channels: the polled things of sources."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from headwater.reports.discovery import overview_of_channel
from headwater.reports.freshness import wasteful_channels
from headwater.serve.access.gate import Viewer
from headwater.serve.api.source_parts import ChannelList, channels_of_source
from headwater.serve.api.source_shapes import ChannelShape
from headwater.serve.bodies import KeptText
from headwater.serve.shared import USUAL_PAGE, Installed, Limit
from headwater.shapes.freshness import wasteful_as_dict
from headwater.shapes.sources import channel_as_dict

router = APIRouter(prefix="/api/v1", tags=["channels"])


@router.get("/channels")
async def list_channels(
    caller: Viewer,
    services: Installed,
    source: Annotated[KeptText, Query(min_length=1, max_length=2_100, description="Its id, address, host or name.")],
) -> ChannelList:
    """List the channels of a source, those that are polled first."""
    return await channels_of_source(services, source)


class WasteShape(BaseModel):
    """A channel by the polls that brought nothing new; polls and items fade with a half-life of 14 days."""

    id: UUID
    source_id: UUID
    source: str
    kind: str
    url: str
    interval_seconds: int | None
    polls: float
    vain_polls: float
    new_items: float
    polls_per_item: float | None = Field(description="Null where too few items came to say.")
    last_polled_at: datetime | None
    last_new_at: datetime | None


class WasteList(BaseModel):
    channels: list[WasteShape]


@router.get("/channels/waste")
async def list_waste(caller: Viewer, services: Installed, limit: Limit = USUAL_PAGE) -> WasteList:
    """List the channels with the most polls that brought nothing new."""
    found = await wasteful_channels(services.database, limit)
    return WasteList.model_validate({"channels": [wasteful_as_dict(one) for one in found]})


@router.get("/channels/{id}")
async def show_channel(caller: Viewer, services: Installed, id: UUID) -> ChannelShape:
    """Show a channel: when it is polled next and why then, and how its last polls went."""
    found, channel = await overview_of_channel(services.database, id)
    return ChannelShape.model_validate(channel_as_dict(found, channel))
