"""Values of crawl.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import TypedDict

from headwater.client.shapes.shared import SourcePolled

CrawlPool = TypedDict("CrawlPool", {"global": int})


class CrawlStatus(TypedDict):
    """Its fields:

    `running`: Whether a process polls.
    `due_count`: Channels that are due.
    `locked`: Channels that are being polled.
    `in_flight`: Hosts that are being asked at this moment.
    `pollers`: Processes that poll.
    """

    running: bool
    pool: CrawlPool
    due_count: int
    locked: int
    in_flight: int
    pollers: int


class PolledSources(TypedDict):
    """Its fields:

    `queued`: Channels that are due now.
    """

    queued: int
    sources: list[SourcePolled]


class SourcesToPoll(TypedDict):
    """Its fields:

    `sources`: Ids, addresses, hosts or names.
    """

    sources: list[str]
