"""How delivery stands, for people: the log, every sink, and what of them calls for a person."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.store import SinkReport, list_sinks
from headwater.sources.health import HealthProblem, Severity
from headwater.sources.health_word import HealthStatus, after_failures, worst_of

queries = load_queries("headwater.reports")

# A sink that lags for longer, while nothing is wrong with it, does not keep up.
LATE = timedelta(minutes=15)
# Failures in a row of a whole sink: fewer are a restart of its server.
OFTEN = 3


@dataclass(frozen=True, slots=True)
class DeliveryNow:
    """`waiting_since` is when the oldest change was made that is not in the log yet; `log_delay` is the time that the
    last change took into it.
    """

    now: datetime
    position: int
    oldest_position: int
    waiting_since: datetime | None
    log_delay: timedelta | None
    sinks: Sequence[SinkReport]

    @property
    def behind_since(self) -> datetime | None:
        """Since when work waits for `deliver`: a change for the log, or for a sink that takes something."""
        ready = [one.behind_since for one in self.sinks if one.state == "active" and not one.failures]
        return min((moment for moment in (self.waiting_since, *ready) if moment), default=None)


async def delivery_now(database: Database) -> DeliveryNow:
    row = await database.fetchrow(queries.log_now)
    assert row is not None
    sinks = await list_sinks(database)
    return DeliveryNow(
        row["now"], row["position"], row["oldest_position"], row["waiting_since"], row["log_delay"], sinks
    )


def state_word(sink: SinkReport) -> str:
    """One word or two: what a person should know first."""
    if sink.state != "active":
        return sink.state
    if sink.failures:
        return "down" if sink.failures >= OFTEN else "retrying"
    if sink.looked_at is None:
        return "not tried yet"
    if sink.backfill_reason:
        return "filling"
    return "behind" if sink.behind else "up to date"


def health_of_sink(sink: SinkReport) -> HealthStatus:
    """By the words that sources have. A sink that fails is tried again for ever: a row of failures is red. Pure."""
    if sink.state != "active":
        return HealthStatus.PAUSED if sink.state == "paused" else HealthStatus.BLOCKED
    run = None if sink.looked_at is None and not sink.failures else after_failures(sink.failures, OFTEN)
    checks = HealthStatus.WARNING if sink.parked or is_left_behind(sink) else None
    return worst_of(run, checks)


def is_left_behind(sink: SinkReport) -> bool:
    """The log was dropped under it: it is filled from the archive when it goes on."""
    return sink.position + 1 < sink.oldest_position


def problems_of_sinks(now: DeliveryNow) -> Iterator[HealthProblem]:
    """Pure."""
    for sink in now.sinks:
        about = f"sink {sink.name}"
        if sink.state == "disabled":
            what = f"It asked never to be sent anything again: {sink.state_reason or 'no reason is known'}"
            fix = f"Once that is settled: headwater sinks resume {sink.name}"
            yield HealthProblem("sink_disabled", Severity.ERROR, what, fix, sink.last_error_at, about)
        elif sink.state == "active" and sink.failures:
            tries = "The last try" if sink.failures == 1 else f"{sink.failures:,} tries in a row"
            said = (sink.last_error or "no answer").rstrip(". ")
            what = f"The sink {sink.name} takes nothing: {said}. {tries} failed; {_waiting(sink)}."
            grade = Severity.ERROR if sink.failures >= OFTEN else Severity.WARNING
            fix = f"It is tried again by itself. Go on at once: headwater sinks resume {sink.name}"
            yield HealthProblem("sink_down", grade, what, fix, sink.behind_since, about)
        elif sink.behind_since and sink.state == "active" and now.now - sink.behind_since > LATE and sink.is_worked:
            what = f"It does not keep up: {_waiting(sink)}."
            fix = f"Look at its pace: headwater sinks show {sink.name}"
            yield HealthProblem("sink_late", Severity.WARNING, what, fix, sink.behind_since, about)
        if is_left_behind(sink):
            what = "The log no longer reaches back to where it stands: when it goes on, the archive is sent anew."
            fix = f"Let it go on: headwater sinks resume {sink.name}"
            yield HealthProblem("sink_left_behind", Severity.WARNING, what, fix, None, about)
        if sink.parked:
            records = "1 record is" if sink.parked == 1 else f"{sink.parked:,} records are"
            what = f"{records} parked: it refused them, and they are not tried again."
            fix = f"`headwater sinks show {sink.name}` says why. Then: headwater sinks retry {sink.name}"
            yield HealthProblem("sink_parked", Severity.WARNING, what, fix, None, about)


def _waiting(sink: SinkReport) -> str:
    if sink.backfill_reason:
        return "the archive waits to be sent"
    return "1 change waits" if sink.behind == 1 else f"{sink.behind:,} changes wait"
