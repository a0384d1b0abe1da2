"""Calls about operations.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.operations import OperationList
from headwater.client.shapes.shared import OperationShape


class OperationsCalls(Connection):
    """A part of the client."""

    def list_operations(self, *, limit: int | None = None, cursor: str | None = None) -> OperationList:
        """List long work, newest first.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: OperationList = self._ask("GET", "/api/v1/operations", query={"limit": limit, "cursor": cursor})
        return told

    def iter_operations(self, *, limit: int | None = None) -> Iterator[OperationShape]:
        """Each of `list_operations`, page by page."""
        return self._each("operations", lambda cursor: self.list_operations(limit=limit, cursor=cursor))

    def show_operation(self, id_: str, /) -> OperationShape:
        """Show how far a piece of long work is, or how it ended.

        Role: viewer.
        """
        told: OperationShape = self._ask("GET", f"/api/v1/operations/{in_path(id_)}")
        return told
