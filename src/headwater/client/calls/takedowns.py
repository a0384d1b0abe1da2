"""Calls about takedowns.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.takedowns import (
    AcceptedTakedown,
    NewTakedown,
    ReachOfTakedown,
    TakedownList,
    TakedownRequestList,
    TakedownRequestShape,
    TakedownShape,
    TakedownStoryShape,
)


class TakedownsCalls(Connection):
    """A part of the client."""

    def show_takedown_reach(self, *, domain_or_url: str) -> ReachOfTakedown:
        """Say what a takedown would cover and remove, and change nothing.

        Role: viewer.
        """
        told: ReachOfTakedown = self._ask("GET", "/api/v1/takedown-reach", query={"domain_or_url": domain_or_url})
        return told

    def list_takedown_requests(self) -> TakedownRequestList:
        """List what site owners asked for and nobody has decided, oldest first: 500 at most.

        Role: viewer.
        """
        told: TakedownRequestList = self._ask("GET", "/api/v1/takedown-requests")
        return told

    def accept_takedown_request(self, id_: str, /) -> AcceptedTakedown:
        """Take down what a site owner asked for: it holds at once, and the operation withdraws what stands of it.

        Role: operator.
        """
        told: AcceptedTakedown = self._ask("POST", f"/api/v1/takedown-requests/{in_path(id_)}/accept")
        return told

    def refuse_takedown_request(self, id_: str, /) -> TakedownRequestShape:
        """Close a request without a takedown. Nobody is told: write to its contact.

        Role: operator.
        """
        told: TakedownRequestShape = self._ask("POST", f"/api/v1/takedown-requests/{in_path(id_)}/refuse")
        return told

    def list_takedowns(self, *, limit: int | None = None, cursor: str | None = None) -> TakedownList:
        """List takedowns by name.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: TakedownList = self._ask("GET", "/api/v1/takedowns", query={"limit": limit, "cursor": cursor})
        return told

    def iter_takedowns(self, *, limit: int | None = None) -> Iterator[TakedownShape]:
        """Each of `list_takedowns`, page by page."""
        return self._each("takedowns", lambda cursor: self.list_takedowns(limit=limit, cursor=cursor))

    def add_takedown(self, **fields: Unpack[NewTakedown]) -> AcceptedTakedown:
        """Never visit a domain or URLs again, and withdraw what is stored of them.

        It holds at once. Entries are ended, documents and vacancies withdrawn by the operation, and every sink is told.
        A whole domain or port that documents are stored of wants `confirm`; `GET /api/v1/takedown-reach` counts them.

        Role: operator.
        """
        told: AcceptedTakedown = self._ask("POST", "/api/v1/takedowns", body=fields)
        return told

    def show_takedown(self, name: str, /) -> TakedownStoryShape:
        """Show a takedown: since when, whether it is applied, and for each sink whether its removals were delivered.

        `name`: A domain, or a URL, as it is listed; escaped.
        Role: viewer.
        """
        told: TakedownStoryShape = self._ask("GET", f"/api/v1/takedowns/{in_path(name)}")
        return told

    def lift_takedown(self, name: str, /) -> None:
        """Lift a takedown: its channels are polled at once. URLs it ended are queued again when a channel lists them.

        `name`: A domain, or a URL, as it is listed; escaped.
        Role: admin.
        """
        self._ask("DELETE", f"/api/v1/takedowns/{in_path(name)}")
