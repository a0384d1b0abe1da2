"""Calls about audit.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator

from headwater.client.connection import Connection
from headwater.client.shapes.audit import AuditLineShape, AuditList


class AuditCalls(Connection):
    """A part of the client."""

    def list_audit(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        since: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AuditList:
        """List changes that were made, and logins that were refused, newest first.

        `actor`: Only what this one did.
        `action`: Only this operation.
        `since`: Only from this moment on; without a zone it is UTC.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: admin.
        """
        told: AuditList = self._ask(
            "GET",
            "/api/v1/audit",
            query={"actor": actor, "action": action, "since": since, "limit": limit, "cursor": cursor},
        )
        return told

    def iter_audit(
        self, *, actor: str | None = None, action: str | None = None, since: str | None = None, limit: int | None = None
    ) -> Iterator[AuditLineShape]:
        """Each of `list_audit`, page by page."""
        return self._each(
            "audit", lambda cursor: self.list_audit(actor=actor, action=action, since=since, limit=limit, cursor=cursor)
        )
