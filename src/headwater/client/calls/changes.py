"""Calls about changes.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from headwater.client.connection import Connection
from headwater.client.shapes.changes import ChangeList, Include


class ChangesCalls(Connection):
    """A part of the client."""

    def list_changes(
        self,
        *,
        after: int | None = None,
        limit: int | None = None,
        wait: int | None = None,
        view: str | None = None,
        include: Include | None = None,
    ) -> ChangeList:
        """List changes behind a position, each with the state of its record now; wait for one where there is none.

        Positions grow without gaps, and none is given out late: who goes on after `next` misses nothing. Behind a
        position that the log no longer has the answer is 410, and says how to begin anew.

        `after`: Behind this position; nothing: the newest ones.
        `limit`: The most that one page lists.
        `wait`: Seconds to wait for a change where there is none yet.
        `view`: As a reader of this view sees it.
        `include`: fields: the records without their texts; document: with them.
        Role: viewer.
        """
        told: ChangeList = self._ask(
            "GET",
            "/api/v1/changes",
            query={"after": after, "limit": limit, "wait": wait, "view": view, "include": include},
        )
        return told
