"""Values of stats.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, TypedDict

from headwater.client.shapes.shared import ProblemShape


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
    schedule: list[ScheduledPoll]
    schedule_is_cut: bool


class StatsShape(TypedDict):
    """The whole in figures, as `headwater status --json` tells it. Times are meant against `now`.

    `sources`: By status.
    `runs`: Of the last 24 hours, like the following.
    `found`: Items that were new to their channels.
    `delay_p50_seconds`: From publication to discovery.
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
    frontier: dict[str, int]
    hosts: dict[str, Any]
    suspects: dict[str, int]
    operations: dict[str, Any]
    delivery: dict[str, Any] | None
    hurried_by_source: dict[str, int]
    templates: dict[str, Any]
    problems: int
    problems_is_cut: bool
