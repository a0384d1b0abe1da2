"""Calls about stream.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator

from headwater.client.connection import Connection


class StreamCalls(Connection):
    """A part of the client."""

    def stream(self, *, topics: str | None = None) -> Iterator[bytes]:
        """Tell what happens as it happens, by server-sent events.

        `event` is the topic, `data` a JSON object. At most one event a second and topic. stats, frontier and problems
        tell how things stand, at once and whenever that differs; changes and runs tell news. A reader that is slow
        misses the oldest events: `after` of an event of changes is the `position` of the one before. A comment comes
        every 15 seconds.

        `topics`: Which, with commas: stats, frontier, changes, runs, problems.
        Role: viewer.
        """
        return self._stream("GET", "/api/v1/stream", query={"topics": topics})
