"""Calls about stats.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from headwater.client.connection import Connection
from headwater.client.shapes.stats import ProblemList, Schedule, StatsShape


class StatsCalls(Connection):
    """A part of the client."""

    def list_problems(self, *, source: str | None = None, limit: int | None = None) -> ProblemList:
        """List all that is wrong, the worst first: what, since when, and what to do.

        `source`: Only of this one: id, address, host, name.
        `limit`: The most that one page lists.
        Role: viewer.
        """
        told: ProblemList = self._ask("GET", "/api/v1/problems", query={"source": source, "limit": limit})
        return told

    def show_schedule(self, *, limit: int | None = None) -> Schedule:
        """List what is polled next, and why then; at the end channels that rest.

        Role: viewer.
        """
        told: Schedule = self._ask("GET", "/api/v1/schedule", query={"limit": limit})
        return told

    def show_stats(self) -> StatsShape:
        """Say how things stand: sources, polls, the frontier, the last 24 hours.

        Role: viewer.
        """
        told: StatsShape = self._ask("GET", "/api/v1/stats")
        return told
