"""Calls about runs.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator

from headwater.client.connection import Connection
from headwater.client.shapes.shared import RunList, RunShape


class RunsCalls(Connection):
    """A part of the client."""

    def list_runs(
        self,
        *,
        source: str | None = None,
        status: str | None = None,
        since: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> RunList:
        """List polls, newest first: what each found, how long it took, and when the next one is.

        `source`: Only of this one: id, address, host, name.
        `status`: ok, warn or fail.
        `since`: Not before this moment, with its time zone.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: RunList = self._ask(
            "GET",
            "/api/v1/runs",
            query={"source": source, "status": status, "since": since, "limit": limit, "cursor": cursor},
        )
        return told

    def iter_runs(
        self,
        *,
        source: str | None = None,
        status: str | None = None,
        since: str | None = None,
        limit: int | None = None,
    ) -> Iterator[RunShape]:
        """Each of `list_runs`, page by page."""
        return self._each(
            "runs", lambda cursor: self.list_runs(source=source, status=status, since=since, limit=limit, cursor=cursor)
        )
