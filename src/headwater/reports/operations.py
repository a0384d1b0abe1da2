"""How the machinery is: which roles run, what waits, what was lost in the last hour, and what that calls for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import accumulate, islice
from typing import Any
from uuid import UUID

from headwater.database.days import days_ahead
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import QueryFailed
from headwater.figures import (
    BODIES_NOT_PUT,
    DIED,
    FAILED,
    LEASES_LOST,
    LEASES_RESCUED,
    NETWORK,
    SETTLE_BOUNDS,
    SETTLED,
    SETTLING_MS,
    WAITING_MS,
    WAITS,
    WORK_BROKE,
    WORK_LOST,
    settled_within,
)
from headwater.frontier.pause import CrawlPause, read_pause
from headwater.reports.sinks import DeliveryNow, delivery_now, problems_of_sinks
from headwater.sources.health import HealthProblem, Severity

queries = load_queries("headwater.reports")

# Longer than a role that was just started takes to catch up, and than one that was killed may leave work waiting.
LATE, SOON = timedelta(minutes=15), timedelta(minutes=1)
# Three beats and a little: who has not written for so long does not run.
SILENT = timedelta(seconds=35)
MOST_PROCESSES = 500
UNDEFINED_TABLE = "42P01"  # as PostgreSQL calls it
MOST_ROWS = 10_000
FEWEST_DAYS = 3
# Within an hour: a task that failed so often fails again and again.
OFTEN = 3
# Within an hour: less than that is no reason to change anything.
LONGEST_WAITING = timedelta(minutes=1)
FEWEST_WAITS = 10
# Of a channel that was never polled.
FIRST_INTERVAL = timedelta(hours=1)
MOST_OVERDUE = 1_000
# Of a host with due entries: a crawl of many sites at once takes its time.
LONGEST_UNASKED = timedelta(hours=6)

# Of each version.
SHOWN_PROCESSES = 3

DUTIES = ("poll", "fetch", "deliver", "maintain")
ROLES = (*DUTIES, "web")  # no work waits for the last
MACHINERY, QUEUE = "the roles", "the queue"
LOG = "Look at its log for the cause."


class WorkerState(StrEnum):
    ALIVE = "alive"
    FAILING = "failing"  # some of its tasks
    DRAINING = "draining"  # it takes on no more, and ends what it has; or has not heard of it yet
    DRAINED = "drained"
    SILENT = "silent"  # it has not written for three heartbeats: it was killed, or its machine is away


@dataclass(frozen=True, slots=True)
class RoleProcess:
    id: UUID
    owner: str  # under which it holds leases
    role: str
    does: Sequence[str]
    host: str
    pid: int
    version: str
    started_at: datetime
    beat_at: datetime
    counts: Mapping[str, int]
    failing: Mapping[str, str]
    is_alive: bool
    drain_asked_at: datetime | None = None
    drain_asked_by: str | None = None
    is_draining: bool = False
    under_way: int = 0

    @property
    def state(self) -> WorkerState:
        """The worst first."""
        if not self.is_alive:
            return WorkerState.SILENT
        if self.drain_asked_at:
            return WorkerState.DRAINED if self.is_draining and not self.under_way else WorkerState.DRAINING
        return WorkerState.FAILING if self.failing else WorkerState.ALIVE


@dataclass(frozen=True, slots=True)
class TaskTrouble:
    """Of a task of whatever process, in the last hour."""

    task: str
    failures: int
    deaths: int
    said: str


@dataclass(frozen=True, slots=True)
class Settles:
    """Of the last hour. Times are upper bounds of the class that the middle one, or the slowest of 95 %, is in."""

    count: int
    mean_ms: float | None
    p50_ms: int | None
    p95_ms: int | None
    slower: int  # than the longest time that is told apart


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Work that waits: the oldest channel could be asked since `poll_due`, the oldest page since `host_open`."""

    poll_due: datetime | None = None
    poll_every: timedelta | None = None
    host_open: datetime | None = None
    is_fetching: bool = False
    overdue: int = 0  # channels, for so long as is late; a thousand stand for more
    maintained_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Operations:
    """Figures are those of the last hour."""

    now: datetime
    processes: tuple[RoleProcess, ...]
    work: WaitingWork
    requests: Mapping[str, int]
    settles: Settles
    work_lost: int = 0
    work_broke: int = 0
    leases_lost: int = 0
    leases_rescued: int = 0
    last_loss: str = ""
    bodies_not_put: int = 0
    why_not_put: str = ""
    tasks: tuple[TaskTrouble, ...] = ()
    connection_waits: int = 0
    connection_waiting: timedelta = timedelta()
    days_ahead: Mapping[str, int] = field(default_factory=dict)
    rows_in_default: int = 0
    delivery: DeliveryNow | None = None
    pause: CrawlPause | None = None

    @property
    def alive(self) -> tuple[RoleProcess, ...]:
        return tuple(one for one in self.processes if one.is_alive)

    def doing(self, duty: str) -> tuple[RoleProcess, ...]:
        """Those that take on more of it; maintenance goes on while a process is drained."""
        able = (one for one in self.alive if one.drain_asked_at is None or duty == "maintain")
        return tuple(one for one in able if duty in one.does)

    def fails_now(self, task: str) -> bool:
        """And has not succeeded since, in some process that lives."""
        return any(task in one.failing for one in self.alive)

    def last_seen(self, duty: str) -> RoleProcess | None:
        """The last that did it and ended without a word."""
        return next((one for one in self.processes if duty in one.does and not one.is_alive), None)


async def live_processes(database: Database) -> tuple[RoleProcess, ...]:
    """Of all roles. A schema without the table of them has none."""
    try:
        processes = await processes_seen(database)
    except QueryFailed as error:
        if error.sqlstate != UNDEFINED_TABLE:
            raise
        return ()
    return tuple(one for one in processes if one.is_alive)


async def processes_seen(database: Database) -> tuple[RoleProcess, ...]:
    """The latest first; also those that fell silent."""
    return tuple(RoleProcess(**one) for one in await database.fetch(queries.processes_seen, SILENT, MOST_PROCESSES))


async def operations_now(database: Database, waiting: Any = None) -> Operations:
    """`waiting` is the row of `work_that_waits`, where it was read already."""
    row: Any = waiting or await database.fetchrow(queries.work_that_waits, LATE)
    processes = await processes_seen(database)
    figures = await database.fetch(queries.figures_lately)
    requests = await database.fetch(queries.requests_lately)
    counts = {one["figure"]: one["count"] for one in figures}
    said = {one["figure"]: one["said"] or "" for one in figures}
    return Operations(
        now=row["now"],
        processes=processes,
        work=work_of(row),
        requests={one["class"]: one["requests"] for one in requests},
        settles=settles_of(counts),
        work_lost=counts.get(WORK_LOST, 0),
        work_broke=counts.get(WORK_BROKE, 0),
        leases_lost=counts.get(LEASES_LOST, 0),
        leases_rescued=counts.get(LEASES_RESCUED, 0),
        last_loss=said.get(WORK_LOST) or said.get(WORK_BROKE) or "",
        bodies_not_put=counts.get(BODIES_NOT_PUT, 0),
        why_not_put=said.get(BODIES_NOT_PUT, ""),
        tasks=troubles_of(counts, said),
        connection_waits=counts.get(WAITS, 0),
        connection_waiting=timedelta(milliseconds=counts.get(WAITING_MS, 0)),
        days_ahead=await days_ahead(database),
        rows_in_default=await database.fetchval(queries.rows_in_default, MOST_ROWS),
        delivery=await delivery_now(database),
        pause=await read_pause(database),
    )


def work_of(row: Any) -> WaitingWork:
    """Nothing of it that is due in the future."""
    now = row["now"]
    poll_due = row["poll_due"] if row["poll_due"] and row["poll_due"] <= now else None
    host_open = row["host_open"] if row["host_open"] and row["host_open"] <= now else None
    every, overdue = row["poll_interval"], row["overdue"]
    return WaitingWork(poll_due, every, host_open, row["is_fetching"], overdue, row["maintained_at"])


def settles_of(counts: Mapping[str, int]) -> Settles:
    count = counts.get(SETTLED, 0)
    if not count:
        return Settles(0, None, None, None, 0)
    up_to = list(accumulate(counts.get(settled_within(bound), 0) for bound in SETTLE_BOUNDS))

    def bound_of(share: float) -> int | None:
        return next((bound for bound, sum_ in zip(SETTLE_BOUNDS, up_to, strict=True) if sum_ >= share * count), None)

    mean = round(counts.get(SETTLING_MS, 0) / count, 1)
    return Settles(count, mean, bound_of(0.5), bound_of(0.95), max(0, count - up_to[-1]))


def troubles_of(counts: Mapping[str, int], said: Mapping[str, str]) -> tuple[TaskTrouble, ...]:
    """Those that die first, then those that fail most."""
    names = {name.removeprefix(kind) for name in counts for kind in (FAILED, DIED) if name.startswith(kind)}
    found = [
        TaskTrouble(
            name,
            counts.get(FAILED + name, 0),
            counts.get(DIED + name, 0),
            said.get(DIED + name) or said.get(FAILED + name, ""),
        )
        for name in names
    ]
    return tuple(sorted(found, key=lambda one: (-one.deaths, -one.failures, one.task)))


def problems_in(now: Operations) -> Iterator[HealthProblem]:
    """Problems that call for a person. Pure."""
    yield from _paused(now.pause) if now.pause else _nobody_works(now)
    yield from _drained(now)
    yield from _several_versions(now)
    yield from _nobody_maintains(now)
    yield from _nobody_delivers(now)
    if now.delivery:
        yield from problems_of_sinks(now.delivery)
    if not now.pause:
        yield from _behind(now)
        yield from _fetches_late(now)
    yield from _without_network(now)
    yield from _tasks(now)
    yield from _losses(now)
    yield from _bodies_not_put(now)
    if now.connection_waits >= FEWEST_WAITS and now.connection_waiting >= LONGEST_WAITING:
        waited = round(now.connection_waiting.total_seconds())
        what = f"Work waited {now.connection_waits:,} times for a connection in the last hour, {waited:,} s in all."
        fix = "Raise database.pool_size and the server's max_connections, or run fewer processes."
        yield HealthProblem("connection_waits", Severity.WARNING, what, fix, None, "the database")
    if now.days_ahead and (least := min(now.days_ahead.values())) < FEWEST_DAYS:
        table = min(now.days_ahead, key=lambda name: now.days_ahead[name])
        what = f"{table} has partitions for {least} more {'day' if least == 1 else 'days'}."
        fix = "Make them: headwater run maintain --once"
        yield HealthProblem("partitions", Severity.WARNING, what, fix, None, "the database")


def _bodies_not_put(now: Operations) -> Iterator[HealthProblem]:
    if now.bodies_not_put:
        bodies = "1 raw body" if now.bodies_not_put == 1 else f"{now.bodies_not_put:,} raw bodies"
        what = f"{bodies} of the last hour went into the database, since their store refused. {now.why_not_put}"
        fix = "Nothing is lost. Once the store is back: headwater db move-bodies"
        yield HealthProblem("body_store", Severity.WARNING, what.rstrip(), fix, None, "the archive")


def _paused(pause: CrawlPause) -> Iterator[HealthProblem]:
    """Work that waits is no other trouble meanwhile."""
    why = f": {pause.reason}" if pause.reason else ""
    what = f"{pause.set_by} paused everything{why}. Nothing is polled or fetched."
    yield HealthProblem("paused", Severity.WARNING, what, "Go on: headwater crawl resume", pause.since, QUEUE)


def _drained(now: Operations) -> Iterator[HealthProblem]:
    """Forgotten, it seems: whoever rolls out a version is done sooner."""
    for one in now.alive:
        if one.drain_asked_at and now.now - one.drain_asked_at > LATE:
            what = f"The process {one.pid} on {one.host} ({one.role}) was drained by {one.drain_asked_by}."
            fix = f"End it, or let it work: headwater workers resume {one.id}"
            yield HealthProblem("drained", Severity.WARNING, what, fix, one.drain_asked_at, MACHINERY)


def _several_versions(now: Operations) -> Iterator[HealthProblem]:
    """What one version promises the other may not know of: a moment of a rollout, and nothing to stay with."""
    versions = sorted({one.version for one in now.alive}, key=version_order)
    if len(versions) < 2:
        return
    named = "; ".join(
        f"{version} as {', '.join(f'{one.role} (process {one.pid} on {one.host})' for one in _of(now, version))}"
        for version in versions
    )
    fix = f"Stop what is older and start it with {versions[-1]}: headwater workers list"
    since = min(one.started_at for one in now.alive if one.version == versions[-1])
    yield HealthProblem("versions", Severity.WARNING, f"Several versions run: {named}.", fix, since, MACHINERY)


def _of(now: Operations, version: str) -> Iterator[RoleProcess]:
    return islice((one for one in now.alive if one.version == version), SHOWN_PROCESSES)


def version_order(version: str) -> tuple[tuple[int, ...], bool, str]:
    """By its numbers; 0.2.0 comes after 0.2.0.dev1."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    numbers = found[0] if found else ""
    return tuple(int(one) for one in numbers.split(".") if one), numbers == version, version


def is_missing(now: Operations, duty: str, since: datetime | None) -> bool:
    """No process does the work that has waited since then: for long, or for a little where its process died."""
    if since is None or now.doing(duty):
        return False
    return now.now - since > (SOON if now.last_seen(duty) else LATE)


def last_seen_in_words(now: Operations, duty: str) -> str:
    if not (last := now.last_seen(duty)):
        return ""
    minutes = round((now.now - last.beat_at).total_seconds() / 60)
    ago = f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
    return f" It was last seen {ago} ago: process {last.pid} on {last.host}."


def command_for(now: Operations, duty: str) -> str:
    """As it was started before, where that is known."""
    if last := now.last_seen(duty):
        return "headwater up" if last.role == "up" else f"headwater run {duty}"
    return f"headwater run {duty}" if now.alive else f"`headwater up`, or headwater run {duty}"


def _nobody_works(now: Operations) -> Iterator[HealthProblem]:
    """No request is made although hosts could be asked."""
    work = now.work
    if is_missing(now, "poll", work.poll_due):
        count = f"{work.overdue:,}{' or more' * (work.overdue == MOST_OVERDUE)}"
        one_or_many = "channel is" if work.overdue == 1 else "channels are"
        due = f"{count} {one_or_many} overdue" if work.overdue else "Channels are due"
        what = f"{due} and nobody polls.{last_seen_in_words(now, 'poll')}"
        fix = f"Start a poller: {command_for(now, 'poll')}"
        yield HealthProblem("not_polled", Severity.ERROR, what, fix, work.poll_due, QUEUE)
    if work.is_fetching or not work.host_open:
        return
    if is_missing(now, "fetch", work.host_open):
        what = f"URLs are due and nobody fetches.{last_seen_in_words(now, 'fetch')}"
        fix = f"Start a fetcher: {command_for(now, 'fetch')}"
        yield HealthProblem("stuck", Severity.ERROR, what, fix, work.host_open, QUEUE)
    elif now.doing("fetch") and now.now - work.host_open > LATE:
        what = "URLs are due and nothing is fetched, although a fetcher runs."
        yield HealthProblem("stuck", Severity.ERROR, what, LOG, work.host_open, QUEUE)


def _nobody_maintains(now: Operations) -> Iterator[HealthProblem]:
    """Where nothing runs at all and nothing died, nobody wants it to."""
    runs = bool(now.alive or now.last_seen("maintain"))
    if runs and is_missing(now, "maintain", now.work.maintained_at):
        what = f"Nobody maintains this database.{last_seen_in_words(now, 'maintain')}"
        fix = f"Start it: {command_for(now, 'maintain')}"
        yield HealthProblem("not_maintained", Severity.ERROR, what, fix, now.work.maintained_at, MACHINERY)


def _nobody_delivers(now: Operations) -> Iterator[HealthProblem]:
    """As `_nobody_maintains`; a sink is there because somebody wants it to be filled."""
    delivery = now.delivery
    if delivery is None:
        return
    is_wanted = bool(now.alive or now.last_seen("deliver") or delivery.sinks)
    if is_wanted and is_missing(now, "deliver", delivery.behind_since):
        waits = "Changes wait for the log" if delivery.waiting_since else "Changes wait for sinks"
        what = f"{waits} and nobody delivers.{last_seen_in_words(now, 'deliver')}"
        fix = f"Start it: {command_for(now, 'deliver')}"
        yield HealthProblem("not_delivered", Severity.ERROR, what, fix, delivery.behind_since, MACHINERY)


def _behind(now: Operations) -> Iterator[HealthProblem]:
    """Pollers run, and the oldest channel waits for far longer than the time between two of its polls."""
    due, every = now.work.poll_due, now.work.poll_every or FIRST_INTERVAL
    if due and now.doing("poll") and now.now - due > max(LATE, every):
        what = "Pollers do not keep up: a channel waits for longer than the time between two of its polls."
        fix = "Raise poll.concurrency, or start another: headwater run poll"
        yield HealthProblem("polls_late", Severity.WARNING, what, fix, due, QUEUE)


def _fetches_late(now: Operations) -> Iterator[HealthProblem]:
    """Fetchers work, and a host could have been asked for hours."""
    since = now.work.host_open
    if since and now.work.is_fetching and now.doing("fetch") and now.now - since > LONGEST_UNASKED:
        what = "Fetchers do not keep up: URLs of a host that may be asked have waited for hours."
        fix = "Raise fetch.concurrency, or start another: headwater run fetch"
        yield HealthProblem("fetches_late", Severity.WARNING, what, fix, since, QUEUE)


def _without_network(now: Operations) -> Iterator[HealthProblem]:
    lacking = sorted({one.host for one in now.alive if NETWORK in one.failing})
    if lacking:
        what = f"The network of {', '.join(lacking)} is down: nearly everything that was asked lately failed at once."
        fix = "Look at its network, name servers and proxy. Nothing is charged, and all goes on by itself."
        yield HealthProblem("network_down", Severity.ERROR, what, fix, None, MACHINERY)


def _tasks(now: Operations) -> Iterator[HealthProblem]:
    """One that only failed, for a known reason, is none once it has succeeded again."""
    for one in now.tasks:
        if one.deaths + one.failures >= OFTEN and (one.deaths or now.fails_now(one.task)):
            what = f"{one.task} failed {one.deaths + one.failures:,} times in the last hour, at last: {one.said}"
            fix = f"It is tried again by itself. {LOG}"
            yield HealthProblem("task_fails", Severity.WARNING, what, fix, None, one.task)


def _losses(now: Operations) -> Iterator[HealthProblem]:
    lost = now.work_lost + now.work_broke + now.leases_lost
    if lost:
        what = f"Work was lost {lost:,} times in the last hour and is done again"
        last = f", at last: {now.last_loss}" if now.last_loss else "."
        yield HealthProblem("work_lost", Severity.WARNING, f"{what}{last}", LOG, None, MACHINERY)
