"""Calls about events.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator

from headwater.client.connection import Connection
from headwater.client.shapes.shared import EventList, EventShape, Level


class EventsCalls(Connection):
    """A part of the client."""

    def list_events(
        self,
        *,
        source: str | None = None,
        kind: str | None = None,
        actor: str | None = None,
        level: Level | None = None,
        since: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> EventList:
        """List the trail, newest first.

        `source`: Only of this one: id, address, host, name.
        `since`: Not before this moment, with its time zone.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: EventList = self._ask(
            "GET",
            "/api/v1/events",
            query={
                "source": source,
                "kind": kind,
                "actor": actor,
                "level": level,
                "since": since,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return told

    def iter_events(
        self,
        *,
        source: str | None = None,
        kind: str | None = None,
        actor: str | None = None,
        level: Level | None = None,
        since: str | None = None,
        limit: int | None = None,
    ) -> Iterator[EventShape]:
        """Each of `list_events`, page by page."""
        return self._each(
            "events",
            lambda cursor: self.list_events(
                source=source, kind=kind, actor=actor, level=level, since=since, limit=limit, cursor=cursor
            ),
        )
