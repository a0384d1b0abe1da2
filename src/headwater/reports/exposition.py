"""What Prometheus is told of the whole installation, read in the moment of its question: sums and bounded looks."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from headwater import __version__, figures, metrics
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.frontier.entry import EntryStatus
from headwater.frontier.reads import count_statuses
from headwater.metrics import Distribution, Metric, Readings, Sample, exposition_of
from headwater.reports.frontier import suspects_now
from headwater.reports.health import health_from
from headwater.reports.operations import ROLES, Operations, operations_now
from headwater.reports.push import push_summary
from headwater.reports.rolling import DISCOVERY_BOUNDS, FETCH_BOUNDS
from headwater.reports.sinks import DeliveryNow
from headwater.reports.sizes import room_of
from headwater.sources.source import SourceStatus

queries = load_queries("headwater.reports")

# By figure and label.
Totals = Mapping[str, Mapping[str, int]]
Told = Iterator[tuple[Metric, Sequence[Sample | Distribution]]]
# Counters that are sums of a figure: each with the names of its labels, in the order of the figure's own label.
COUNTED = {
    metrics.FETCHES: "fetches",
    metrics.REQUESTS: "requests",
    metrics.FETCH_BYTES: "bytes",
    metrics.POLLS: "polls",
    metrics.POLL_ERRORS: "poll_errors",
    metrics.POLLS_AVOIDED: "polls_avoided",
    metrics.ITEMS: "items",
    metrics.DOCUMENTS: "documents",
    metrics.JOBS: "jobs",
    metrics.CONDITIONAL: figures.CONDITIONAL,
    metrics.WORK_LOST: figures.WORK_LOST,
    metrics.WORK_BROKEN: figures.WORK_BROKE,
    metrics.LEASES_LOST: figures.LEASES_LOST,
    metrics.NOT_GIVEN_BACK: figures.NOT_GIVEN_BACK,
    metrics.TASK_FAILURES: figures.FAILED.rstrip("."),
    metrics.TASK_DEATHS: figures.DIED.rstrip("."),
    metrics.CONNECTION_WAITS: figures.WAITS,
}
TIMED = {
    metrics.FETCH_DURATION: ("fetch_duration", FETCH_BOUNDS),
    metrics.DISCOVERY_DELAY: ("discovery_delay", DISCOVERY_BOUNDS),
    metrics.POLITENESS_WAIT: (figures.POLITENESS_WAIT, figures.WAIT_BOUNDS),
}


async def exposition(database: Database) -> bytes:
    return exposition_of(await readings_of(database))


async def readings_of(database: Database) -> Readings:
    now = await operations_now(database)
    totals = await totals_of(database)
    state = await database.fetchrow(queries.rollup_state)
    assert state is not None
    counted = await database.fetch(queries.count_sources)
    health = health_from(now, await room_of(database), {})
    suspects = await suspects_now(database)
    statuses = await count_statuses(database)
    push = await push_summary(database)
    return {
        metrics.BUILD: [Sample((__version__,), 1)],
        metrics.HEALTH: [Sample((one.name,), one.state.rank) for one in health.parts],
        metrics.FRONTIER: [Sample((str(status),), statuses.get(status, 0)) for status in EntryStatus],
        metrics.SOURCES: _by_status({row["status"]: row["sources"] for row in counted}),
        metrics.SUSPECTS: [Sample(("page",), suspects.pages), Sample(("channel",), suspects.channels)],
        metrics.DATABASE_SIZE: [Sample((), state["database_bytes"])],
        metrics.ROLLUP_AGE: [_age(state["rolled_until"], now.now)],
        metrics.PUSH_CHANNELS: [Sample((state,), getattr(push, state)) for state in ("named", "subscribed", "trusted")],
        metrics.PUSH_AGE: [_age(push.last_push_at, now.now)],
        **dict(sums_in(totals)),
        **dict(levels_in(now)),
        **dict(of_delivery(now.delivery, totals) if now.delivery else ()),
    }


async def totals_of(database: Database) -> Totals:
    """Processes write their own sums sooner than these are rolled up."""
    totals: dict[str, dict[str, int]] = defaultdict(dict)
    for row in await database.fetch(queries.rollup_totals):
        totals[row["figure"]][row["label"]] = row["count"]
    for row in await database.fetch(queries.figure_totals):
        figure, _, label = row["figure"].partition(".")
        totals[figure][label] = row["count"]
    return totals


def sums_in(totals: Totals) -> Told:
    """Pure."""
    for metric, figure in COUNTED.items():
        yield metric, [Sample(_labels(metric, label), count) for label, count in totals.get(figure, {}).items()]
    for metric, (figure, bounds) in TIMED.items():
        yield metric, [Distribution((), bounds, totals.get(figure, {}), _sum_of(totals, figure))]
    denied = sum(count for label, count in totals.get("requests", {}).items() if label.endswith(".robots_blocked"))
    yield metrics.ROBOTS_DENIED, [Sample((), denied)]
    opened = totals.get(figures.CONNECTIONS, {})
    yield metrics.CONNECTIONS, [Sample(("true",), opened.get("reused", 0)), Sample(("false",), opened.get("new", 0))]
    waited = totals.get(figures.WAITING_MS, {}).get("", 0)
    yield metrics.CONNECTION_WAIT, [Sample((), waited / metrics.MILLISECONDS)]
    yield metrics.SETTLE_DURATION, [settles_in(totals)]


def settles_in(totals: Totals) -> Distribution:
    def count(figure: str) -> int:
        return totals.get(figure, {}).get("", 0)

    counts = {str(bound): count(figures.settled_within(bound)) for bound in figures.SETTLE_BOUNDS}
    counts[figures.MORE] = count(figures.SLOWER)
    return Distribution((), figures.SETTLE_BOUNDS, counts, count(figures.SETTLING_MS))


def levels_in(now: Operations) -> Told:
    """Pure."""
    yield metrics.ROLES, [Sample((duty,), len(now.doing(duty))) for duty in ROLES]
    yield metrics.OVERDUE, [Sample((), now.work.overdue)]
    yield metrics.OLDEST_DUE, [_age(now.work.poll_due, now.now)]
    yield metrics.OLDEST_ELIGIBLE, [_age(now.work.host_open, now.now)]
    yield metrics.MAINTENANCE_AGE, [_age(now.work.maintained_at, now.now)]
    yield metrics.TASKS_FAILING, [Sample((), sum(len(one.failing) for one in now.alive))]
    lacking = {one.host for one in now.alive if figures.NETWORK in one.failing}
    yield metrics.NETWORK_DOWN, [Sample((), len(lacking))]
    yield metrics.PARTITION_DAYS, [Sample((table,), days) for table, days in sorted(now.days_ahead.items())]


def of_delivery(delivery: DeliveryNow, totals: Totals) -> Told:
    """Pure. Delays of sinks that are there no more are left out."""
    sinks = delivery.sinks
    yield metrics.CHANGES, [Sample((), delivery.position)]
    yield metrics.SINK_PENDING, [Sample((one.name,), one.behind) for one in sinks]
    yield metrics.SINK_LAG, [Sample((one.name,), _age(one.behind_since, delivery.now).value) for one in sinks]
    yield metrics.SINK_PARKED, [Sample((one.name,), one.parked) for one in sinks]
    yield metrics.SINK_RETRYING, [Sample((one.name,), one.retrying) for one in sinks]
    yield metrics.SINK_SENT, [Sample((one.name,), one.sent) for one in sinks]
    yield metrics.SINK_UP, [Sample((one.name,), one.state != "disabled" and not one.failures) for one in sinks]
    yield metrics.SINK_DELAY, [_delays(one.name, totals) for one in sinks]


def _delays(sink: str, totals: Totals) -> Distribution:
    found = totals.get(figures.SINK_DELAY, {}).items()
    counts = {label.partition(".")[2]: count for label, count in found if label.partition(".")[0] == sink}
    return Distribution((sink,), figures.SINK_BOUNDS, counts, _sum_of(totals, figures.SINK_DELAY, sink))


def _sum_of(totals: Totals, figure: str, label: str = "") -> int:
    return totals.get(figures.sum_of(figure), {}).get(label, 0)


def _labels(metric: Metric, label: str) -> tuple[str, ...]:
    """A label of a figure has a part for each of the metric's; only the last may have dots."""
    return tuple(label.split(".", len(metric.labels) - 1)) if metric.labels else ()


def _by_status(counts: Mapping[str, int]) -> list[Sample]:
    return [Sample((str(status),), counts.get(status, 0)) for status in SourceStatus]


def _age(since: datetime | None, now: datetime) -> Sample:
    return Sample((), max(0.0, (now - since).total_seconds()) if since else 0.0)
