"""Calls about sources.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Any, Literal, Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.shared import (
    ChannelList,
    EventList,
    EventShape,
    Level,
    OperationShape,
    RunList,
    RunShape,
    SourcePolled,
)
from headwater.client.shapes.sources import (
    AddressToLookAt,
    BatchAnswer,
    BulkRequest,
    ChangedSource,
    CrawledPages,
    ListFormat,
    ListOrder,
    NewSource,
    NewSources,
    Reason,
    SeenSiteShape,
    SimulatedSource,
    SourceKind,
    SourceList,
    SourceOrder,
    SourceShape,
    SourceStoryShape,
    TestedSource,
)


class SourcesCalls(Connection):
    """A part of the client."""

    def list_sources(
        self,
        *,
        status: str | None = None,
        kind: SourceKind | None = None,
        tag: str | None = None,
        text: str | None = None,
        feed_active: bool | None = None,
        order: ListOrder | None = None,
        sort_by: SourceOrder | None = None,
        sort_order: Literal["asc", "desc"] | None = None,
        offset: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SourceList:
        """List sources with their health and their next poll, by name; or in another order, by offset.

        `status`: active, paused, blocked, deleted, failing, silent, overdue (by 15 min), idle (nothing new for 30
        days); or a health: ok, unknown, warning, struggling. Health is judged as it is asked for: of a rare one a page
        may hold few sources, or none, and still have a cursor.
        `tag`: Only with this tag.
        `text`: The beginning of a name.
        `feed_active`: Only sources with a feed that is polled.
        `order`: By cursor. `next` lists only sources with a poll to come, `-errors` those with errors.
        `sort_by`: For pages by offset.
        `offset`: Instead of a cursor; 10,000 at most.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: SourceList = self._ask(
            "GET",
            "/api/v1/sources",
            query={
                "status": status,
                "kind": kind,
                "tag": tag,
                "text": text,
                "feed_active": feed_active,
                "order": order,
                "sort_by": sort_by,
                "sort_order": sort_order,
                "offset": offset,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return told

    def iter_sources(
        self,
        *,
        status: str | None = None,
        kind: SourceKind | None = None,
        tag: str | None = None,
        text: str | None = None,
        feed_active: bool | None = None,
        order: ListOrder | None = None,
        sort_by: SourceOrder | None = None,
        sort_order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
    ) -> Iterator[SourceShape]:
        """Each of `list_sources`, page by page."""
        return self._each(
            "sources",
            lambda cursor: self.list_sources(
                status=status,
                kind=kind,
                tag=tag,
                text=text,
                feed_active=feed_active,
                order=order,
                sort_by=sort_by,
                sort_order=sort_order,
                limit=limit,
                cursor=cursor,
            ),
        )

    def add_source(
        self, *, look: bool | None = None, anyway: bool | None = None, **fields: Unpack[NewSource]
    ) -> SourceShape:
        """Follow a site. It is stored at once, and a poller looks for channels that are not named.

        With `look=true` the site is looked at first, and the answer is 202 with an operation: its result names what was
        found, or its problem says why the site is not followed.

        `look`: Look at the site now, as `headwater sources add` does.
        `anyway`: With look: follow it although it does not answer.
        Role: operator.
        """
        told: SourceShape = self._ask(
            "POST", "/api/v1/sources", query={"look": look, "anyway": anyway}, body=fields, is_kept=True
        )
        return told

    def add_sources(self, **fields: Unpack[NewSources]) -> BatchAnswer:
        """Follow several sites; each has its outcome, and one that fails keeps no other from being added.

        Role: operator.
        """
        told: BatchAnswer = self._ask("POST", "/api/v1/sources/batch", body=fields)
        return told

    def change_sources(self, **fields: Unpack[BulkRequest]) -> OperationShape:
        """Run, pause, resume, tag, delete many sources, set their interval or policy or clear their errors.

        Answers with an operation; its result counts outcomes (done, skipped, failed) and tells each with its reason.

        Role: operator.
        """
        told: OperationShape = self._ask("POST", "/api/v1/sources/bulk", body=fields, is_kept=True)
        return told

    def find_by_identity(self, *, identity_key: str) -> SourceShape:
        """Find a source by its id in another system; or by its host, which older systems make such ids of.

        Role: viewer.
        """
        told: SourceShape = self._ask("GET", "/api/v1/sources/by-identity", query={"identity_key": identity_key})
        return told

    def export_sources(
        self, *, format_: ListFormat | None = None, tag: str | None = None, kind: SourceKind | None = None
    ) -> Iterator[bytes]:
        """Write all sources with their feeds, as a file that can be imported.

        Role: viewer.
        """
        return self._stream("GET", "/api/v1/sources/export", query={"format": format_, "tag": tag, "kind": kind})

    def fetch_metadata(self, **fields: Unpack[AddressToLookAt]) -> SeenSiteShape:
        """Find out the name, feed and sitemap of a site; nothing is stored. The same look as `test-crawl`.

        Role: operator.
        """
        told: SeenSiteShape = self._ask("POST", "/api/v1/sources/fetch-metadata", body=fields)
        return told

    def import_sources(
        self,
        body: bytes,
        /,
        *,
        media_type: str,
        format_: ListFormat | None = None,
        kind: SourceKind | None = None,
        trusted: bool | None = None,
        dry_run: bool | None = None,
    ) -> OperationShape:
        """Add many sources from a file, which is the body; what is known already is left alone.

        Answers with an operation, whose result tells what was added and which lines were refused. Send an
        Idempotency-Key: a request that is sent again begins no second import. 64 MB at most.

        `format_`: Nothing finds out.
        `kind`: For rows that do not say theirs.
        `trusted`: The file is your own: it says for which hosts its sources may speak.
        `dry_run`: Only say what would happen.
        Role: operator.
        """
        told: OperationShape = self._ask(
            "POST",
            "/api/v1/sources/import",
            query={"format": format_, "kind": kind, "trusted": trusted, "dry_run": dry_run},
            body=body,
            media_type=media_type,
            is_kept=True,
        )
        return told

    def test_crawl(self, **fields: Unpack[AddressToLookAt]) -> SeenSiteShape:
        """Look at a site as adding it would: its channels, and the items they bring. Nothing is stored.

        Role: operator.
        """
        told: SeenSiteShape = self._ask("POST", "/api/v1/sources/test-crawl", body=fields)
        return told

    def show_source(self, id_: str, /) -> SourceStoryShape:
        """Show a source: its channels, why each is polled when, and what happened to it.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: viewer.
        """
        told: SourceStoryShape = self._ask("GET", f"/api/v1/sources/{in_path(id_)}")
        return told

    def replace_source(
        self, id_: str, /, *, if_match: str | None = None, **fields: Unpack[ChangedSource]
    ) -> SourceShape:
        """Change fields of a source, as PATCH does: what is not named stays, also what an older program never knew.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: operator.
        """
        told: SourceShape = self._ask("PUT", f"/api/v1/sources/{in_path(id_)}", body=fields, if_match=if_match)
        return told

    def change_source(
        self, id_: str, /, *, if_match: str | None = None, **fields: Unpack[ChangedSource]
    ) -> SourceShape:
        """Change fields of a source; what is not named stays, null takes a field back to its default.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: operator.
        """
        told: SourceShape = self._ask("PATCH", f"/api/v1/sources/{in_path(id_)}", body=fields, if_match=if_match)
        return told

    def remove_source(self, id_: str, /, *, if_match: str | None = None) -> None:
        """Delete a source: it is no longer polled or fetched, and its vacancies expire. Documents and history stay.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        `if_match`: the `edition` of what this change was made from; over a newer one it is refused.
        Role: operator.
        """
        self._ask("DELETE", f"/api/v1/sources/{in_path(id_)}", if_match=if_match)

    def list_channels_of_source(self, id_: str, /) -> ChannelList:
        """List the channels of a source, those that are polled first.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: viewer.
        """
        told: ChannelList = self._ask("GET", f"/api/v1/sources/{in_path(id_)}/channels")
        return told

    def disable_source(self, id_: str, /, **fields: Unpack[Reason]) -> SourceShape:
        """Pause a source; the same as `pause`.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: SourceShape = self._ask("PATCH", f"/api/v1/sources/{in_path(id_)}/disable", body=fields or None)
        return told

    def enable_source(self, id_: str, /) -> SourceShape:
        """Resume a source; the same as `resume`.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: SourceShape = self._ask("PATCH", f"/api/v1/sources/{in_path(id_)}/enable")
        return told

    def list_events_of_source(
        self,
        id_: str,
        /,
        *,
        kind: str | None = None,
        actor: str | None = None,
        level: Level | None = None,
        since: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> EventList:
        """List the trail of a source, newest first.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        `since`: Not before this moment, with its time zone.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: EventList = self._ask(
            "GET",
            f"/api/v1/sources/{in_path(id_)}/events",
            query={"kind": kind, "actor": actor, "level": level, "since": since, "limit": limit, "cursor": cursor},
        )
        return told

    def iter_events_of_source(
        self,
        id_: str,
        /,
        *,
        kind: str | None = None,
        actor: str | None = None,
        level: Level | None = None,
        since: str | None = None,
        limit: int | None = None,
    ) -> Iterator[EventShape]:
        """Each of `list_events_of_source`, page by page."""
        return self._each(
            "events",
            lambda cursor: self.list_events_of_source(
                id_, kind=kind, actor=actor, level=level, since=since, limit=limit, cursor=cursor
            ),
        )

    def explain_source(self, id_: str, /) -> dict[str, Any]:
        """Say how a source stands, why, and what happened to it lately, as `headwater explain` does.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: viewer.
        """
        told: dict[str, Any] = self._ask("GET", f"/api/v1/sources/{in_path(id_)}/explain")
        return told

    def disable_feeds(self, id_: str, /, **fields: Unpack[Reason]) -> SourceShape:
        """Poll the feeds of a source no more; its other channels go on.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: SourceShape = self._ask("PATCH", f"/api/v1/sources/{in_path(id_)}/feed-disable", body=fields or None)
        return told

    def enable_feeds(self, id_: str, /) -> SourceShape:
        """Poll the feeds of a source again that were switched off.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: SourceShape = self._ask("PATCH", f"/api/v1/sources/{in_path(id_)}/feed-enable")
        return told

    def list_pages_of_source(
        self, id_: str, /, *, status: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> CrawledPages:
        """Show how far the crawl of a site has got, and its pages.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        `status`: pending, processing, completed or failed.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: CrawledPages = self._ask(
            "GET", f"/api/v1/sources/{in_path(id_)}/pages", query={"status": status, "limit": limit, "cursor": cursor}
        )
        return told

    def pause_source(self, id_: str, /, **fields: Unpack[Reason]) -> SourceShape:
        """Stop polling a source and set its waiting URLs aside.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: SourceShape = self._ask("POST", f"/api/v1/sources/{in_path(id_)}/pause", body=fields or None)
        return told

    def resume_source(self, id_: str, /) -> SourceShape:
        """Poll a source again that was paused or blocked; its count of errors starts at zero.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: SourceShape = self._ask("POST", f"/api/v1/sources/{in_path(id_)}/resume")
        return told

    def run_source(self, id_: str, /) -> SourcePolled:
        """Poll a source as soon as its hosts allow, whatever its schedule or time window says.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: SourcePolled = self._ask("POST", f"/api/v1/sources/{in_path(id_)}/run", is_kept=True)
        return told

    def list_runs_of_source(
        self,
        id_: str,
        /,
        *,
        status: str | None = None,
        since: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> RunList:
        """List the runs of a source, newest first.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        `status`: ok, warn or fail.
        `since`: Not before this moment, with its time zone.
        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: RunList = self._ask(
            "GET",
            f"/api/v1/sources/{in_path(id_)}/runs",
            query={"status": status, "since": since, "limit": limit, "cursor": cursor},
        )
        return told

    def iter_runs_of_source(
        self, id_: str, /, *, status: str | None = None, since: str | None = None, limit: int | None = None
    ) -> Iterator[RunShape]:
        """Each of `list_runs_of_source`, page by page."""
        return self._each(
            "runs", lambda cursor: self.list_runs_of_source(id_, status=status, since=since, limit=limit, cursor=cursor)
        )

    def simulate_source(self, id_: str, /, *, items: int | None = None, pages: bool | None = None) -> SimulatedSource:
        """Read each channel of a source once and show the first items it would bring. Nothing is stored.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        `items`: How many items to show of each channel.
        `pages`: Also fetch and read the pages of the first items.
        Role: operator.
        """
        told: SimulatedSource = self._ask(
            "POST", f"/api/v1/sources/{in_path(id_)}/simulate", query={"items": items, "pages": pages}
        )
        return told

    def test_source(self, id_: str, /) -> TestedSource:
        """Ask each channel of a source once: status, size, validators, timing. Nothing is stored.

        `id_`: Its id, address, host or name, url-encoded; `by-identity` finds ids of other systems.
        Role: operator.
        """
        told: TestedSource = self._ask("POST", f"/api/v1/sources/{in_path(id_)}/test")
        return told
