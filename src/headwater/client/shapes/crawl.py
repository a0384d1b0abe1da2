"""Values of crawl.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, Literal, NotRequired, TypedDict

from headwater.client.shapes.shared import SourcePolled


class CrawlPauseShape(TypedDict):
    """Nothing is polled or fetched since then."""

    since: str
    set_by: str
    reason: str


CrawlPool = TypedDict("CrawlPool", {"global": int})


class CrawlStatus(TypedDict):
    """Its fields:

    `running`: Whether a process polls.
    `due_count`: Channels that are due.
    `locked`: Channels that are being polled.
    `in_flight`: Hosts that are being asked at this moment.
    `pollers`: Processes that poll.
    `pause`: Null while everything goes on.
    """

    running: bool
    pool: CrawlPool
    due_count: int
    locked: int
    in_flight: int
    pollers: int
    pause: CrawlPauseShape | None


class LogLineShape(TypedDict):
    """Its fields:

    `at`: By the clock of its machine.
    `event`: Of docs/log-events.md.
    `fields`: As in the line itself, without secrets.
    `told`: In a sentence.
    """

    id: int
    at: str
    process_id: str
    role: str
    host: str
    pid: int
    level: Literal["warning", "error", "critical"]
    event: str
    fields: dict[str, Any]
    told: str


class LogLineList(TypedDict):
    lines: list[LogLineShape]
    cursor: str | None


class PolledSources(TypedDict):
    """Its fields:

    `queued`: Channels that are due now.
    """

    queued: int
    sources: list[SourcePolled]


class Resumed(TypedDict):
    was_paused: bool


class SourcesToPoll(TypedDict):
    """Its fields:

    `sources`: Ids, addresses, hosts or names.
    """

    sources: list[str]


class WantedPause(TypedDict):
    """Its fields:

    `reason`: For those who wonder.
    """

    reason: NotRequired[str]


WorkerState = Literal["alive", "failing", "draining", "drained", "silent"]


class WorkerShape(TypedDict):
    """Its fields:

    `beat_at`: Its last heartbeat; one comes every ten seconds.
    `under_way`: Pieces of leased work in hand at its last heartbeat.
    `failing`: Tasks that fail at present, each with its last error.
    """

    id: str
    role: str
    does: list[str]
    state: WorkerState
    host: str
    pid: int
    version: str
    started_at: str
    beat_at: str
    under_way: int
    drain_asked_at: str | None
    drain_asked_by: str | None
    failing: dict[str, str]


class WorkerList(TypedDict):
    workers: list[WorkerShape]
