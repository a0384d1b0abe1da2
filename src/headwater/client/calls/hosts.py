"""Calls about hosts.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Any, Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.hosts import (
    HostList,
    HostShape,
    HostState,
    PolicyFields,
    PolicyShape,
    RefetchShape,
    RobotsShape,
    RuleFields,
    RulesList,
    RulesShape,
    WholeHost,
)


class HostsCalls(Connection):
    """A part of the client."""

    def list_hosts(
        self, *, limit: int | None = None, cursor: str | None = None, state: HostState | None = None
    ) -> HostList:
        """List hosts with their state.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        `state`: Only hosts in this state; a short page with a cursor has searched so far.
        Role: viewer.
        """
        told: HostList = self._ask("GET", "/api/v1/hosts", query={"limit": limit, "cursor": cursor, "state": state})
        return told

    def iter_hosts(self, *, limit: int | None = None, state: HostState | None = None) -> Iterator[HostShape]:
        """Each of `list_hosts`, page by page."""
        return self._each("hosts", lambda cursor: self.list_hosts(limit=limit, state=state, cursor=cursor))

    def show_host(self, host: str, /) -> WholeHost:
        """Show a host: its pace, who decided it, its policy and its past.

        `host`: Its name.
        Role: viewer.
        """
        told: WholeHost = self._ask("GET", f"/api/v1/hosts/{in_path(host)}")
        return told

    def show_policy(self, host: str, /) -> PolicyShape:
        """Show the policy of a host, with the values that hold beside those that were set.

        `host`: Its name.
        Role: viewer.
        """
        told: PolicyShape = self._ask("GET", f"/api/v1/hosts/{in_path(host)}/policy")
        return told

    def change_policy(
        self, host: str, /, *, if_match: str | None = None, **fields: Unpack[PolicyFields]
    ) -> PolicyShape:
        """Set what is given of a host's policy; the rest stays. Robots.txt may still slow us down.

        `host`: Its name.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: operator.
        """
        told: PolicyShape = self._ask("PUT", f"/api/v1/hosts/{in_path(host)}/policy", body=fields, if_match=if_match)
        return told

    def remove_policy(self, host: str, /, *, if_match: str | None = None) -> PolicyShape:
        """Take back all of a host's policy: the defaults hold again.

        `host`: Its name.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: operator.
        """
        told: PolicyShape = self._ask("DELETE", f"/api/v1/hosts/{in_path(host)}/policy", if_match=if_match)
        return told

    def show_rights(self, host: str, /, *, path: str | None = None) -> dict[str, Any]:
        """Show what robots.txt and tdmrep.json of a host say about uses of a page: training, search, text and data
        mining.

        What a page says itself stands in its document.

        `host`: Its name.
        `path`: Of a page.
        Role: viewer.
        """
        told: dict[str, Any] = self._ask("GET", f"/api/v1/hosts/{in_path(host)}/rights", query={"path": path})
        return told

    def show_robots(self, host: str, /, *, check: str | None = None) -> RobotsShape:
        """Show the stored robots.txt of a host, and which of its lines decides about a URL.

        `host`: Its name.
        `check`: A URL or a path of this host.
        Role: viewer.
        """
        told: RobotsShape = self._ask("GET", f"/api/v1/hosts/{in_path(host)}/robots", query={"check": check})
        return told

    def refetch_robots_of_host(self, host: str, /) -> RefetchShape:
        """Ask for the robots.txt of a host anew: now if its pace allows, else before its next request.

        `host`: Its name.
        Role: operator.
        """
        told: RefetchShape = self._ask("POST", f"/api/v1/hosts/{in_path(host)}/robots/refetch")
        return told

    def show_rules(self, host: str, /) -> RulesShape:
        """Show how URLs of a host are compared.

        `host`: Its name.
        Role: viewer.
        """
        told: RulesShape = self._ask("GET", f"/api/v1/hosts/{in_path(host)}/rules")
        return told

    def change_rules(self, host: str, /, **fields: Unpack[RuleFields]) -> RulesShape:
        """Say which URLs of a host are one page. What is stored gets its new keys in the background.

        `host`: Its name.
        Role: operator.
        """
        told: RulesShape = self._ask("PUT", f"/api/v1/hosts/{in_path(host)}/rules", body=fields)
        return told

    def remove_rules(self, host: str, /) -> RulesShape:
        """Take back all that was said of a host's URLs.

        `host`: Its name.
        Role: operator.
        """
        told: RulesShape = self._ask("DELETE", f"/api/v1/hosts/{in_path(host)}/rules")
        return told

    def list_rules(self) -> RulesList:
        """List the hosts whose URLs are not told apart as usual.

        Role: viewer.
        """
        told: RulesList = self._ask("GET", "/api/v1/url-rules")
        return told

    def verify_request(
        self,
        *,
        url: str | None = None,
        at: str | None = None,
        address: str | None = None,
        tolerance_seconds: int | None = None,
    ) -> dict[str, Any]:
        """Say whether a request that a site owner saw was ours: `was_us` is yes, likely, no or unknown.

        Answered from the fetch log, which keeps what was asked of which host, when, and from which address of ours.

        `url`: The page that was asked for, or its host.
        `at`: When, with its zone: ISO 8601, or as access logs write it.
        `address`: The address that the request came from.
        `tolerance_seconds`: How far the clocks may differ.
        Role: viewer.
        """
        told: dict[str, Any] = self._ask(
            "GET",
            "/api/v1/verify",
            query={"url": url, "at": at, "address": address, "tolerance_seconds": tolerance_seconds},
        )
        return told
