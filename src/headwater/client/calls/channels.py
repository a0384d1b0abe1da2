"""Calls about channels.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.channels import WasteList
from headwater.client.shapes.shared import ChannelList, ChannelShape


class ChannelsCalls(Connection):
    """A part of the client."""

    def list_channels(self, *, source: str) -> ChannelList:
        """List the channels of a source, those that are polled first.

        `source`: Its id, address, host or name.
        Role: viewer.
        """
        told: ChannelList = self._ask("GET", "/api/v1/channels", query={"source": source})
        return told

    def list_waste(self, *, limit: int | None = None) -> WasteList:
        """List the channels with the most polls that brought nothing new.

        `limit`: The most that one page lists.
        Role: viewer.
        """
        told: WasteList = self._ask("GET", "/api/v1/channels/waste", query={"limit": limit})
        return told

    def show_channel(self, id_: str, /) -> ChannelShape:
        """Show a channel: when it is polled next and why then, and how its last polls went.

        Role: viewer.
        """
        told: ChannelShape = self._ask("GET", f"/api/v1/channels/{in_path(id_)}")
        return told
