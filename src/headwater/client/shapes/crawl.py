"""Values of crawl.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import NotRequired, TypedDict

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
