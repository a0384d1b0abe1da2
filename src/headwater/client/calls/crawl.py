"""Calls about crawl.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from collections.abc import Iterator
from typing import Literal, Unpack

from headwater.client.connection import Connection, in_path
from headwater.client.shapes.crawl import (
    CrawlPauseShape,
    CrawlStatus,
    LogLineList,
    LogLineShape,
    PolledSources,
    Resumed,
    SourcesToPoll,
    WantedPause,
    WorkerList,
    WorkerShape,
)
from headwater.client.shapes.shared import OperationShape


class CrawlCalls(Connection):
    """A part of the client."""

    def pause_crawl(self, **fields: Unpack[WantedPause]) -> CrawlPauseShape:
        """Pause everything: nothing new is polled or fetched until it is resumed; what is under way ends.

        Role: operator.
        """
        told: CrawlPauseShape = self._ask("POST", "/api/v1/crawl/pause", body=fields)
        return told

    def resume_crawl(self) -> Resumed:
        """Let everything go on; workers do within seconds.

        Role: operator.
        """
        told: Resumed = self._ask("POST", "/api/v1/crawl/resume")
        return told

    def run_sources(self, **fields: Unpack[SourcesToPoll]) -> PolledSources:
        """Poll sources as soon as their hosts allow, whatever their schedule or time window says.

        Role: operator.
        """
        told: PolledSources = self._ask("POST", "/api/v1/crawl/run", body=fields, is_kept=True)
        return told

    def run_due(self) -> OperationShape:
        """Poll every channel that is due, once. It is done here, beside pollers that run: no channel is polled twice.

        The result counts channels polled, those that failed, and new items.

        Role: operator.
        """
        told: OperationShape = self._ask("POST", "/api/v1/crawl/run-due", is_kept=True)
        return told

    def crawl_status(self) -> CrawlStatus:
        """Say how many channels are due and being polled, and whether a process polls at all.

        Role: viewer.
        """
        told: CrawlStatus = self._ask("GET", "/api/v1/crawl/status")
        return told

    def show_workers(self) -> WorkerList:
        """List the processes of roles, the latest heartbeat first; also those that fell silent in the last day.

        Role: viewer.
        """
        told: WorkerList = self._ask("GET", "/api/v1/workers")
        return told

    def list_log_lines(
        self,
        *,
        level: Literal["warning", "error"] | None = None,
        event: str | None = None,
        role: str | None = None,
        pid: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> LogLineList:
        """List what processes warned of in the last day, newest first: the newest 20,000 lines of all.

        `limit`: The most that one page lists.
        `cursor`: Where the page before ended: its `cursor`. Nothing begins at the beginning.
        Role: viewer.
        """
        told: LogLineList = self._ask(
            "GET",
            "/api/v1/workers/log",
            query={"level": level, "event": event, "role": role, "pid": pid, "limit": limit, "cursor": cursor},
        )
        return told

    def iter_log_lines(
        self,
        *,
        level: Literal["warning", "error"] | None = None,
        event: str | None = None,
        role: str | None = None,
        pid: int | None = None,
        limit: int | None = None,
    ) -> Iterator[LogLineShape]:
        """Each of `list_log_lines`, page by page."""
        return self._each(
            "lines",
            lambda cursor: self.list_log_lines(
                level=level, event=event, role=role, pid=pid, limit=limit, cursor=cursor
            ),
        )

    def drain_worker(self, id_: str, /) -> WorkerShape:
        """Let a process take on no more work: it hears so within ten seconds, ends what it has, and keeps running.

        `id_`: Its id, or the beginning of it.
        Role: operator.
        """
        told: WorkerShape = self._ask("POST", f"/api/v1/workers/{in_path(id_)}/drain")
        return told

    def resume_worker(self, id_: str, /) -> WorkerShape:
        """Let a drained process take on work again, within ten seconds.

        `id_`: Its id, or the beginning of it.
        Role: operator.
        """
        told: WorkerShape = self._ask("POST", f"/api/v1/workers/{in_path(id_)}/resume")
        return told
