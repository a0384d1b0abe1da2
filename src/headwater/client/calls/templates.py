"""Calls about templates.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.templates import LearnedHost, LearningHost, LearningHosts


class TemplatesCalls(Connection):
    """A part of the client."""

    def list_templates(self, *, limit: int | None = None, cursor: str | None = None) -> LearningHosts:
        """List hosts: which are read by a learned template and how well, which are not and why.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: LearningHosts = self._ask("GET", "/api/v1/templates", query={"limit": limit, "cursor": cursor})
        return told

    def iter_templates(self, *, limit: int | None = None) -> Iterator[LearningHost]:
        """Each of `list_templates`, page by page."""
        return self._each("hosts", lambda cursor: self.list_templates(limit=limit, cursor=cursor))

    def show_template(self, host: str, /) -> LearnedHost:
        """Show the templates of a host: where its text stands, blocks kept and dropped, versions and history.

        `host`: A host, with its port if that is not the usual one.
        Role: viewer.
        """
        told: LearnedHost = self._ask("GET", f"/api/v1/templates/{in_path(host)}")
        return told

    def forget_template(self, host: str, /) -> LearnedHost:
        """End a host's templates and learn none until `relearn`: its pages are read by the general extractor.

        `host`: A host, with its port if that is not the usual one.
        Role: operator.
        """
        told: LearnedHost = self._ask("DELETE", f"/api/v1/templates/{in_path(host)}")
        return told

    def relearn_template(self, host: str, /) -> LearnedHost:
        """Learn a host again from its stored pages, also where it was disabled.

        `host`: A host, with its port if that is not the usual one.
        Role: operator.
        """
        told: LearnedHost = self._ask("POST", f"/api/v1/templates/{in_path(host)}/relearn")
        return told
