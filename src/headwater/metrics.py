"""The metrics of an installation: what each is called and means, and values of them as Prometheus reads them.

No metric is labelled by host, source or URL: their number would grow with what is followed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from prometheus_client.core import Metric as Family

MILLISECONDS = 1000
MORE = "more"  # the class behind the last bound

MetricKind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    kind: MetricKind
    meaning: str
    labels: tuple[str, ...] = ()


class Sample(NamedTuple):
    labels: tuple[str, ...]
    value: float


class Distribution(NamedTuple):
    """How many took how long: counts by the bound that they did not exceed, in milliseconds, as text, and `more`."""

    labels: tuple[str, ...]
    bounds: Sequence[int]
    counts: Mapping[str, int]
    sum_ms: int


Readings = Mapping[Metric, Sequence[Sample | Distribution]]

BUILD = Metric("headwater_build_info", "gauge", "Constant 1; the version is the label.", ("version",))
HEALTH = Metric(
    "headwater_health",
    "gauge",
    "State of a part of the installation: 0 is ok, 1 degraded, 2 down; `headwater healthcheck` says why.",
    ("part",),
)

FETCHES = Metric(
    "headwater_fetches_total",
    "counter",
    "Entries of the frontier that were worked on, by what became of them and how they were found.",
    ("outcome", "origin"),
)
REQUESTS = Metric(
    "headwater_requests_total",
    "counter",
    "Requests by what they were for and the class of the answer: 2xx to 5xx, no_answer, robots_blocked, crashed, "
    "not_asked.",
    ("kind", "class"),
)
FETCH_DURATION = Metric(
    "headwater_fetch_duration_seconds", "histogram", "Time from the start of a request to the end of its answer."
)
FETCH_BYTES = Metric("headwater_fetch_bytes_total", "counter", "Bytes of bodies, by what was asked for.", ("kind",))
POLITENESS_WAIT = Metric(
    "headwater_politeness_wait_seconds", "histogram", "Time that a request waited for its slot at its host."
)
ROBOTS_DENIED = Metric(
    "headwater_robots_denied_total", "counter", "Requests that were not made because robots.txt forbids them."
)
CONNECTIONS = Metric(
    "headwater_connections_total", "counter", "Answers by whether their connection was there already.", ("reused",)
)
CONDITIONAL = Metric(
    "headwater_conditional_requests_total",
    "counter",
    "Requests for changes alone, by the answer: not_modified, sent (a whole answer), failed.",
    ("answer",),
)

FRONTIER = Metric("headwater_frontier_urls", "gauge", "Entries of the frontier by status.", ("status",))
OLDEST_ELIGIBLE = Metric(
    "headwater_frontier_oldest_eligible_seconds",
    "gauge",
    "For how long the oldest host with a due entry could have been asked; 0 where none waits.",
)
SUSPECTS = Metric(
    "headwater_suspects",
    "gauge",
    "Entries (page) and channels (channel) that a worker had when it died, to be tried alone; up to 1,000.",
    ("of",),
)

POLLS = Metric(
    "headwater_feed_polls_total",
    "counter",
    "Polls of channels by their kind and result: new, nothing_new, not_modified (304), failed.",
    ("kind", "result"),
)
POLL_ERRORS = Metric("headwater_feed_poll_errors_total", "counter", "Polls with an error, by its class.", ("class",))
POLLS_AVOIDED = Metric(
    "headwater_polls_avoided_total",
    "counter",
    "Polls that one every hour would have made and that a channel's rhythm, or a push by a hub that is trusted, made "
    "useless.",
    ("by",),
)
ITEMS = Metric("headwater_items_total", "counter", "Items that were new to their channel, by its kind.", ("kind",))
DISCOVERY_DELAY = Metric(
    "headwater_discovery_delay_seconds",
    "histogram",
    "Time from the publication of an item, as its channel tells it, to its discovery.",
)
PUSH_CHANNELS = Metric(
    "headwater_push_channels",
    "gauge",
    "Channels whose answers name a hub (named), that are subscribed to (subscribed), and whose hub is trusted, so that "
    "polls are for safety (trusted); each up to 10,000.",
    ("state",),
)
PUSH_AGE = Metric(
    "headwater_push_age_seconds", "gauge", "Since a hub pushed something new; 0 where none has ever done so."
)
OVERDUE = Metric("headwater_channels_overdue", "gauge", "Channels that are due for 15 minutes or more; up to 1,000.")
OLDEST_DUE = Metric(
    "headwater_channels_oldest_due_seconds",
    "gauge",
    "For how long the oldest due channel has waited; 0 where none waits.",
)
SOURCES = Metric("headwater_sources", "gauge", "Sources by status.", ("status",))

DOCUMENTS = Metric("headwater_documents_stored_total", "counter", "Documents that were stored for the first time.")
JOBS = Metric("headwater_jobs_stored_total", "counter", "Vacancies that were stored for the first time.")
CHANGES = Metric("headwater_changes_total", "counter", "Changes of documents and vacancies in the log.")

SINK_DELAY = Metric(
    "headwater_sink_delay_seconds",
    "histogram",
    "Time from a change in the archive until the sink had it; backfills are not in it.",
    ("sink",),
)
SINK_PENDING = Metric("headwater_sink_pending", "gauge", "Changes that a sink has before it.", ("sink",))
SINK_LAG = Metric("headwater_sink_lag_seconds", "gauge", "Age of the oldest of these changes; 0 for none.", ("sink",))
SINK_PARKED = Metric("headwater_sink_parked", "gauge", "Records that a sink refused to the last try.", ("sink",))
SINK_RETRYING = Metric("headwater_sink_retrying", "gauge", "Refused records that will be tried again.", ("sink",))
SINK_SENT = Metric("headwater_sink_sent_total", "counter", "Records that were sent or removed.", ("sink",))
SINK_UP = Metric(
    "headwater_sink_up", "gauge", "1 while a sink takes what it is sent; 0 while it is down or disabled.", ("sink",)
)

ROLES = Metric("headwater_roles", "gauge", "Live processes that do the work of a role.", ("role",))
SETTLE_DURATION = Metric(
    "headwater_settle_duration_seconds", "histogram", "Time that the database took to store the end of work."
)
WORK_LOST = Metric(
    "headwater_work_lost_total", "counter", "Pieces of work that could not be stored while their lease held."
)
WORK_BROKEN = Metric("headwater_work_broken_total", "counter", "Pieces of work that ended with an unknown exception.")
LEASES_LOST = Metric("headwater_leases_lost_total", "counter", "Leases that ran out while their owner lived.")
NOT_GIVEN_BACK = Metric(
    "headwater_leases_not_given_back_total", "counter", "Leases that a worker that ended left to run out."
)
TASK_FAILURES = Metric(
    "headwater_task_failures_total", "counter", "Rounds of a chore that failed and are tried again.", ("task",)
)
TASK_DEATHS = Metric("headwater_task_deaths_total", "counter", "Tasks that an exception ended.", ("task",))
TASKS_FAILING = Metric("headwater_tasks_failing", "gauge", "Tasks of live processes that fail at present.")
NETWORK_DOWN = Metric("headwater_network_down", "gauge", "Machines with a live role whose own network is down.")
CONNECTION_WAITS = Metric(
    "headwater_connection_waits_total", "counter", "Times that work waited for a connection to the database."
)
CONNECTION_WAIT = Metric("headwater_connection_wait_seconds_total", "counter", "Time that it waited for one.")

PARTITION_DAYS = Metric(
    "headwater_partition_days_left", "gauge", "Whole days after today that have a partition.", ("table",)
)
DATABASE_SIZE = Metric("headwater_database_size_bytes", "gauge", "Size of the database, as of the last minute.")
MAINTENANCE_AGE = Metric(
    "headwater_maintenance_age_seconds", "gauge", "Time since `maintain` last folded the log of requests."
)
ROLLUP_AGE = Metric(
    "headwater_rollup_age_seconds", "gauge", "Time since the counters of fetches, polls and items were last counted."
)

METRICS = tuple(value for value in list(globals().values()) if isinstance(value, Metric))


def exposition_of(readings: Readings) -> bytes:
    """In the text format of Prometheus. A counter without labels that has no value yet is 0."""
    # Loaded by those who tell something: commands start without it.
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.registry import Collector

    class OneScrape(Collector):
        def collect(self) -> Iterator["Family"]:
            return (family_of(metric, readings.get(metric, ())) for metric in METRICS)

    registry = CollectorRegistry()
    registry.register(OneScrape())
    return generate_latest(registry)


def family_of(metric: Metric, values: Sequence[Sample | Distribution]) -> "Family":
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    labels = list(metric.labels)
    if metric.kind == "histogram":
        histogram = HistogramMetricFamily(metric.name, metric.meaning, labels=labels)
        for value in values:
            assert isinstance(value, Distribution)
            histogram.add_metric(list(value.labels), buckets_of(value), value.sum_ms / MILLISECONDS)
        return histogram
    made = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = made(metric.name, metric.meaning, labels=labels)
    for value in values or (() if labels else (Sample((), 0),)):
        assert isinstance(value, Sample)
        family.add_metric(list(value.labels), value.value)
    return family


def buckets_of(value: Distribution) -> list[tuple[str, float]]:
    """Cumulative, by seconds, with all of them at last."""
    names = (*map(str, value.bounds), MORE)
    ends = (*(str(bound / MILLISECONDS) for bound in value.bounds), "+Inf")
    return list(zip(ends, accumulate(value.counts.get(name, 0) for name in names), strict=True))


METRICS_INTRODUCTION = """\
# Metrics

Written by `make docs` from the code; do not edit it by hand.

`headwater metrics` prints them in the text format of Prometheus, for the whole installation, whichever process asks:
they are read from the database in the moment of the question. Counters outlive every process and every retention.
Those of fetches, polls, items and documents are counted by `maintain` each minute, those of processes are written by
themselves every ten seconds. No label grows with hosts, sources or URLs. `deploy/grafana/headwater.json` is a dashboard
of them, `deploy/prometheus/alerts.yml` are rules for alerts; [operations](operations.md) says what to do about each.

| metric | kind | labels | meaning |
|---|---|---|---|
"""


def metrics_page() -> str:
    """docs/metrics.md."""
    rows = [
        f"| `{one.name}` | {one.kind} | {', '.join(f'`{label}`' for label in one.labels) or '–'} | {one.meaning} |\n"
        for one in METRICS
    ]
    return METRICS_INTRODUCTION + "".join(rows)
