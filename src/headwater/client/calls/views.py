"""Calls about views.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.views import NewView, ViewFilters, ViewList, ViewPreviewShape, ViewShape


class ViewsCalls(Connection):
    """A part of the client."""

    def list_views(self) -> ViewList:
        """List the views, and the sinks that deliver them.

        Role: viewer.
        """
        told: ViewList = self._ask("GET", "/api/v1/views")
        return told

    def add_view(self, **fields: Unpack[NewView]) -> ViewShape:
        """Name a filter over the archive.

        Role: operator.
        """
        told: ViewShape = self._ask("POST", "/api/v1/views", body=fields)
        return told

    def show_view(self, name: str, /) -> ViewShape:
        """Show what is in a view, and who delivers it.

        `name`: The view's name.
        Role: viewer.
        """
        told: ViewShape = self._ask("GET", f"/api/v1/views/{in_path(name)}")
        return told

    def change_view(self, name: str, /, *, if_match: str | None = None, **fields: Unpack[ViewFilters]) -> ViewShape:
        """Change filters of a view; those that are not given stay, empty ones filter nothing any more.

        Sinks that deliver it look at the whole archive again.

        `name`: The view's name.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: operator.
        """
        told: ViewShape = self._ask("PATCH", f"/api/v1/views/{in_path(name)}", body=fields, if_match=if_match)
        return told

    def remove_view(self, name: str, /, *, if_match: str | None = None) -> None:
        """Remove a view; refused while a sink delivers it.

        `name`: The view's name.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: operator.
        """
        self._ask("DELETE", f"/api/v1/views/{in_path(name)}", if_match=if_match)

    def preview_view(self, name: str, /, *, limit: int | None = None) -> ViewPreviewShape:
        """Show the newest records of a view, and how many of the newest records are in it.

        `name`: The view's name.
        Role: viewer.
        """
        told: ViewPreviewShape = self._ask("GET", f"/api/v1/views/{in_path(name)}/preview", query={"limit": limit})
        return told
