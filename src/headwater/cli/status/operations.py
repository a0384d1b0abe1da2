"""How the machinery is, for `headwater status`: two lines of it always, all of it when asked for."""

from typing import TYPE_CHECKING

from headwater.cli.words import in_words, inert, length_of, quantity, relative, shorten

if TYPE_CHECKING:
    from datetime import datetime

    from headwater.deliver.store import SinkReport
    from headwater.reports.operations import Operations, RoleProcess, Settles, TaskTrouble
    from headwater.reports.sinks import DeliveryNow

NOBODY = ("not_polled", "stuck", "not_maintained", "not_delivered")
INDENT = " " * 10
# As operators read them; others follow.
CLASSES = {
    "2xx": "2xx",
    "3xx": "3xx",
    "4xx": "4xx",
    "5xx": "5xx",
    "no_answer": "no answer",
    "robots_blocked": "refused by robots.txt",
}
SHOWN_PROCESSES = 20
SHOWN_SINKS = 10
WIDEST_SAID = 100


def role_lines(now: "Operations") -> list[str]:
    """Which roles run, and which are missing although there is work for them."""
    from headwater.reports.operations import problems_in

    missing = [f"Missing   {one.what} {one.fix}" for one in problems_in(now) if one.kind in NOBODY]
    delivery = delivery_lines(now.delivery) if now.delivery else []
    return [*pause_lines(now), f"Roles     {running(now)}", *missing, *failing_lines(now), *delivery]


def pause_lines(now: "Operations") -> list[str]:
    return [f"Paused    {inert(now.pause.with_fix)}"] if now.pause else []


def delivery_lines(delivery: "DeliveryNow") -> list[str]:
    """The log, and a line for each sink."""
    now = delivery.now
    log = f"log at {delivery.position:,}"
    if delivery.waiting_since:
        log += f", the oldest change has waited for {length_of(now - delivery.waiting_since)}"
    elif delivery.log_delay is not None:
        log += f", {delivery.log_delay.total_seconds():.1f} s after the change"
    sinks = delivery.sinks[:SHOWN_SINKS]
    more = [f"{INDENT}… and {len(delivery.sinks) - len(sinks)} more: headwater sinks list"]
    told = [f"{INDENT}{sink_line(one, now)}" for one in sinks]
    return [f"Delivery  {log}", *told, *(more if len(delivery.sinks) > len(sinks) else [])]


def sink_line(one: "SinkReport", now: "datetime") -> str:
    from headwater.reports.sinks import state_word

    waits = f", {one.behind:,} behind" if one.behind else ""
    since = f" for {length_of(now - one.behind_since)}" if one.behind and one.behind_since else ""
    parked = f", {one.parked:,} parked" if one.parked else ""
    error = f": {shorten(one.last_error, WIDEST_SAID)}" if one.failures and one.last_error else ""
    last = f", last success {relative(one.last_success_at, now)}"
    return f"{one.name} ({one.type}): {state_word(one)}{waits}{since}{parked}{last}{error}"


def failing_lines(now: "Operations") -> list[str]:
    """Present failures, each once however many processes it fails in."""
    failing = {task: said for one in now.alive for task, said in one.failing.items()}
    return [f"Failing   {task}: {shorten(said, WIDEST_SAID)}" for task, said in sorted(failing.items())]


def running(now: "Operations") -> str:
    from headwater.reports.operations import ROLES

    if not now.alive:
        return "nothing runs; start with: headwater up"
    counts = " · ".join(f"{duty} {len(now.doing(duty)):,}" for duty in ROLES)
    oldest = length_of(now.now - min(one.started_at for one in now.alive))
    return f"{counts} · in {quantity(len(now.alive), 'process', 'processes')}, the oldest for {oldest}"


def operation_lines(now: "Operations") -> list[str]:
    """Everything; figures are those of the last hour."""
    return [
        *role_lines(now),
        *(f"{INDENT}{process_line(one, now.now)}" for one in now.processes[:SHOWN_PROCESSES]),
        f"Waiting   {waiting(now)}",
        f"Last hour {requests(now)}",
        f"Settling  {settling(now.settles)}",
        f"Lost      {losses(now)}",
        *task_lines(now),
        f"Waits     {waits(now)}",
        f"Days      {days(now)}",
    ]


def process_line(one: "RoleProcess", now: "datetime") -> str:
    seen = f"for {length_of(now - one.started_at)}" if one.is_alive else f"last seen {length_of(now - one.beat_at)} ago"
    drained = f", {one.state}" if one.drain_asked_at and one.is_alive else ""
    return f"{one.role}: process {one.pid} on {one.host}, {one.version}, {seen}{drained}"


def waiting(now: "Operations") -> str:
    channel, page = age(now.work.poll_due, now.now), age(now.work.host_open, now.now)
    return f"oldest due channel: {channel} · oldest page that may be fetched: {page}"


def age(since: "datetime | None", now: "datetime") -> str:
    return length_of(now - since) if since else "none"


def requests(now: "Operations") -> str:
    others = [name for name in now.requests if name not in CLASSES]
    told = [(now.requests.get(name, 0), words) for name, words in CLASSES.items()]
    told += [(now.requests[name], in_words(name.replace("_", " "))) for name in others]
    return "requests: " + " · ".join(f"{count:,} {words}" for count, words in told)


def settling(settles: "Settles") -> str:
    if not settles.count:
        return "nothing was settled in the last hour"
    longest = "more than 10 s"
    half = f"{settles.p50_ms:,} ms" if settles.p50_ms else longest
    most = f"{settles.p95_ms:,} ms" if settles.p95_ms else longest
    return f"{settles.count:,} in the last hour, half of them within {half}, 95 % within {most}"


def losses(now: "Operations") -> str:
    last = f", at last: {shorten(now.last_loss, WIDEST_SAID)}" if now.last_loss else ""
    ran_out = f"{quantity(now.leases_rescued, 'lease')} of pages ran out and were taken back"
    rescued = f" · {ran_out}: a process was killed or stood still" if now.leases_rescued else ""
    work = quantity(now.work_lost + now.work_broke, "piece of work", "pieces of work")
    return f"{work} and {quantity(now.leases_lost, 'lease')} in the last hour{last}{rescued}"


def task_lines(now: "Operations") -> list[str]:
    if not now.tasks:
        return ["Tasks     none failed in the last hour"]
    told = [task_line(one, fails_now=now.fails_now(one.task)) for one in now.tasks]
    return [f"{'Tasks':<10}{told[0]}", *(f"{INDENT}{line}" for line in told[1:])]


def task_line(one: "TaskTrouble", *, fails_now: bool) -> str:
    count = f"{quantity(one.failures, 'failure')} and {quantity(one.deaths, 'death')} in the last hour"
    now = "" if fails_now or one.deaths else ", and none now"
    return f"{one.task}: {count}{now}, at last: {shorten(one.said, WIDEST_SAID)}"


def waits(now: "Operations") -> str:
    waited = quantity(now.connection_waits, "time")
    return f"for a connection to the database, {waited} in the last hour, {length_of(now.connection_waiting)} in all"


def days(now: "Operations") -> str:
    held = f", {quantity(now.rows_in_default, 'row')} of days without one" if now.rows_in_default else ""
    return f"partitions for {quantity(min(now.days_ahead.values(), default=0), 'day')} after today{held}"
