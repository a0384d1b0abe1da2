"""Values of stats.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, TypedDict

from headwater.client.shapes.shared import ProblemShape


class CrowdShape(TypedDict):
    """A host that cannot be polled as often as its channels deserve.

    `possible_per_hour`: Polls that its delay leaves room for.
    `lost_share`: Of the polls that its channels deserve.
    `lengthened`: By so much the intervals of its channels, so that all have their turns.
    `possible_every_seconds`: So often each of its channels is polled, in the mean.
    """

    host: str
    channels: int
    deserved_per_hour: float
    possible_per_hour: float
    lost_share: float
    lengthened: float
    deserved_every_seconds: int
    possible_every_seconds: int
    judged_at: str


class DelayShape(TypedDict):
    """What half of `count` delays did not exceed, and what 95 % did not."""

    count: int
    p50_seconds: float | None
    p95_seconds: float | None


class ProblemList(TypedDict):
    """The worst first. `count` are all; `is_cut`: there are more than were judged."""

    looked_at: str
    last_run_at: str | None
    count: int
    is_cut: bool
    problems: list[ProblemShape]


class ScheduledPoll(TypedDict):
    """Its fields:

    `next_fetch`: Null while its source rests, or is taken down.
    """

    source: str
    source_id: Any
    kind: str
    url: str
    next_fetch: str | None
    in_seconds: int | None
    interval_seconds: int | None
    errors: int
    is_running: bool
    why: str


class Schedule(TypedDict):
    """Its fields:

    `crowded_hosts`: Hosts whose channels are polled less often than they deserve.
    """

    schedule: list[ScheduledPoll]
    schedule_is_cut: bool
    crowded_hosts: list[CrowdShape]


class StatsShape(TypedDict):
    """The whole in figures, as `headwater status --json` tells it. Times are meant against `now`.

    `sources`: By status.
    `runs`: Of the last 24 hours, like the following.
    `found`: Items that were new to their channels.
    `delay_p50_seconds`: From publication to discovery.
    `sink_delay`: From a change to each sink, of the last 24 hours.
    `polls_avoided`: Of the last 24 hours, against one poll an hour: by `rhythm` and by `push`.
    `crowded_hosts`: Hosts with more channels than turns; most lost polls first.
    `polls_per_item`: Of the last 24 hours: polls for each new item.
    `frontier`: URLs by status.
    `operations`: Processes, and figures of the last hour.
    """

    now: str
    sources: dict[str, int]
    channels: int
    polling: int
    due: int
    runs: int
    failed_runs: int
    found: int
    delay_p50_seconds: int | None
    delay_p95_seconds: int | None
    sink_delay: dict[str, DelayShape]
    polls_avoided: dict[str, int]
    crowded_hosts: list[CrowdShape]
    polls_per_item: float | None
    frontier: dict[str, int]
    hosts: dict[str, Any]
    suspects: dict[str, int]
    operations: dict[str, Any]
    delivery: dict[str, Any] | None
    hurried_by_source: dict[str, int]
    templates: dict[str, Any]
    problems: int
    problems_is_cut: bool
