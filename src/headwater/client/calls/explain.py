"""Calls about explain.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any

from headwater.client.connection import Connection


class ExplainCalls(Connection):
    """A part of the client."""

    def explain_anything(self, *, url: str | None = None, source: str | None = None) -> dict[str, Any]:
        """Say what became of a URL or a source: why it is not fetched now, why there is no document, what happens next.

        The answer is that of `headwater explain --json`: of a page, or of a source where that is meant.

        `url`: A URL in any spelling.
        `source`: Its id, address, host or name.
        Role: viewer.
        """
        told: dict[str, Any] = self._ask("GET", "/api/v1/explain", query={"url": url, "source": source})
        return told
