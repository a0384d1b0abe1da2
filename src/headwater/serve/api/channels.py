"""/api/v1/channels: the polled things of sources."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from headwater.reports.discovery import overview_of_channel
from headwater.serve.access.gate import Viewer
from headwater.serve.api.source_parts import ChannelList, channels_of_source
from headwater.serve.api.source_shapes import ChannelShape
from headwater.serve.bodies import KeptText
from headwater.serve.shared import Installed
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


@router.get("/channels/{id}")
async def show_channel(caller: Viewer, services: Installed, id: UUID) -> ChannelShape:
    """Show a channel: when it is polled next and why then, and how its last polls went."""
    found, channel = await overview_of_channel(services.database, id)
    return ChannelShape.model_validate(channel_as_dict(found, channel))
