"""Calls about frontier.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.frontier import (
    BulkAnswer,
    BulkSubmission,
    EntryList,
    EntryOrder,
    EntryOrigin,
    EntryShape,
    EntryStatus,
    FailureClassList,
    FrontierStatsShape,
    KillReason,
    KillWish,
    ManyWish,
    RetryWish,
    Submission,
    SubmittedEntry,
)
from headwater.client.shapes.shared import OperationShape


class FrontierCalls(Connection):
    """A part of the client."""

    def list_frontier(
        self,
        *,
        sort_by: EntryOrder | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: EntryStatus | None = None,
        source_id: str | None = None,
        source: str | None = None,
        host: str | None = None,
        origin: EntryOrigin | None = None,
        reason: str | None = None,
        prefix: str | None = None,
        search: str | None = None,
    ) -> EntryList:
        """List the queued and known URLs, a page at a time.

        Keys have no meaning: the order is the same on every page, and new URLs stand anywhere in it. A page with fewer
        URLs than asked for and a cursor has searched so far. `total` is exact where `total_is_capped` is false.

        `sort_by`: Of the waiting URLs of one host; otherwise the order is that of keys.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        `offset`: URLs to leave out, up to 10,000; a cursor reaches further.
        `source_id`: Found by this source: its id, address, host or name.
        `source`: The same as source_id.
        `host`: Only this host.
        `reason`: Why it failed or died.
        `prefix`: Only URLs that begin so.
        `search`: The same as prefix, by its older name.
        Role: viewer.
        """
        told: EntryList = self._ask(
            "GET",
            "/api/v1/frontier",
            query={
                "sort_by": sort_by,
                "limit": limit,
                "cursor": cursor,
                "offset": offset,
                "status": status,
                "source_id": source_id,
                "source": source,
                "host": host,
                "origin": origin,
                "reason": reason,
                "prefix": prefix,
                "search": search,
            },
        )
        return told

    def iter_frontier(
        self,
        *,
        sort_by: EntryOrder | None = None,
        limit: int | None = None,
        status: EntryStatus | None = None,
        source_id: str | None = None,
        source: str | None = None,
        host: str | None = None,
        origin: EntryOrigin | None = None,
        reason: str | None = None,
        prefix: str | None = None,
        search: str | None = None,
    ) -> Iterator[EntryShape]:
        """Each of `list_frontier`, page by page."""
        return self._each(
            "urls",
            lambda cursor: self.list_frontier(
                sort_by=sort_by,
                limit=limit,
                status=status,
                source_id=source_id,
                source=source,
                host=host,
                origin=origin,
                reason=reason,
                prefix=prefix,
                search=search,
                cursor=cursor,
            ),
        )

    def list_failures(self) -> FailureClassList:
        """Group the URLs that failed or are dead by what went wrong, the largest group first.

        Role: viewer.
        """
        told: FailureClassList = self._ask("GET", "/api/v1/frontier/failures")
        return told

    def kill_urls(self, **fields: Unpack[KillWish]) -> OperationShape:
        """Never fetch again all URLs that match; the operation counts them.

        Role: operator.
        """
        told: OperationShape = self._ask("POST", "/api/v1/frontier/kill", body=fields)
        return told

    def remove_urls(self, **fields: Unpack[ManyWish]) -> OperationShape:
        """Forget all URLs that match: a channel that lists one again makes it new. The operation counts them.

        Role: operator.
        """
        told: OperationShape = self._ask("POST", "/api/v1/frontier/remove", body=fields)
        return told

    def retry_urls(self, **fields: Unpack[RetryWish]) -> OperationShape:
        """Queue all URLs of a status again that match; the operation counts them.

        Those that are taken down, or whose source is not followed, are left.

        Role: operator.
        """
        told: OperationShape = self._ask("POST", "/api/v1/frontier/retry", body=fields)
        return told

    def show_frontier_stats(self, *, limit: int | None = None, cursor: str | None = None) -> FrontierStatsShape:
        """Count URLs by status, of everything and of a page of sources by name; say since when the oldest waits.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: FrontierStatsShape = self._ask("GET", "/api/v1/frontier/stats", query={"limit": limit, "cursor": cursor})
        return told

    def submit_url(self, **fields: Unpack[Submission]) -> SubmittedEntry:
        """Queue a URL by hand; `outcome` says whether it was new. 422 tells why one is never fetched.

        Role: operator.
        """
        told: SubmittedEntry = self._ask("POST", "/api/v1/frontier/submit", body=fields, is_kept=True)
        return told

    def submit_urls(self, **fields: Unpack[BulkSubmission]) -> BulkAnswer:
        """Queue up to 10,000 URLs by hand, and say of each whether it was new or why it is never fetched.

        Role: operator.
        """
        told: BulkAnswer = self._ask("POST", "/api/v1/frontier/submit/bulk", body=fields, is_kept=True)
        return told

    def show_entry(self, id_: str, /) -> EntryShape:
        """Show one URL of the queue.

        `id_`: Of the entry, as lists say it.
        Role: viewer.
        """
        told: EntryShape = self._ask("GET", f"/api/v1/frontier/{in_path(id_)}")
        return told

    def remove_url(self, id_: str, /) -> None:
        """Forget a URL; if a channel lists it again, it is new. 409 while it is being fetched.

        `id_`: Of the entry, as lists say it.
        Role: operator.
        """
        self._ask("DELETE", f"/api/v1/frontier/{in_path(id_)}")

    def kill_url(self, id_: str, /, **fields: Unpack[KillReason]) -> EntryShape:
        """Never fetch a URL again, whoever lists it, until a person retries it. 409 while it is being fetched.

        `id_`: Of the entry, as lists say it.
        Role: operator.
        """
        told: EntryShape = self._ask("POST", f"/api/v1/frontier/{in_path(id_)}/kill", body=fields)
        return told

    def raise_url(self, id_: str, /) -> EntryShape:
        """Queue a known URL again as the next of its host, whose pace holds all the same.

        `id_`: Of the entry, as lists say it.
        Role: operator.
        """
        told: EntryShape = self._ask("POST", f"/api/v1/frontier/{in_path(id_)}/raise")
        return told

    def retry_url(self, id_: str, /) -> EntryShape:
        """Queue a known URL again, also one that was fetched or given up; its host's pace holds all the same.

        `id_`: Of the entry, as lists say it.
        Role: operator.
        """
        told: EntryShape = self._ask("POST", f"/api/v1/frontier/{in_path(id_)}/retry")
        return told
