"""`headwater audit`: are the promises kept? Judged from the records."""

import sys
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

from cyclopts import App

from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.numbers import require_number
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.words import quantity as counted_in_words

if TYPE_CHECKING:
    from headwater.actions.delivery import SinkCheck
    from headwater.frontier.reads import CountComparison
    from headwater.reports.politeness import AddressLoad, HostGap
    from headwater.reports.robots import RobotsAudit
    from headwater.services import Services

TEN_YEARS_HOURS = 10 * 365 * 24
LONG_HOURS = 6
MOST_HOSTS = 10_000

app = App(name="audit", help="Check our promises against the records.")


@app.command(name="politeness")
def politeness(*, hours: float = 1, limit: int = 20, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Compare the time between requests with the delays of hosts and of addresses with many names. Exit 1 if broken.

    Parameters
    ----------
    hours
        How far back to look. All of the log of that time is read: a busy day takes seconds.
    limit
        How many of the closest hosts to show.
    """
    require_number("--hours", hours, 0.01, TEN_YEARS_HOURS)
    require_number("--limit", limit, 1, MOST_HOSTS)

    async def work(services: "Services") -> "tuple[list[HostGap], list[AddressLoad], timedelta]":
        from headwater.reports.politeness import busiest_addresses, smallest_gaps

        since = timedelta(hours=hours)
        gaps = await smallest_gaps(services.database, since, limit)
        loads = await busiest_addresses(services.database, since, limit)
        return gaps, loads, services.settings.politeness.address_delay

    if hours > LONG_HOURS and sys.stderr.isatty():
        say(f"Reading the log of the last {hours:g} h …")
    gaps, loads, pace = with_services(launch, work)
    broken = [gap for gap in gaps if gap.is_broken]
    crowded = [load for load in loads if load.is_broken(pace)]
    if json:
        addresses = [load_as_dict(load, pace) for load in loads]
        hosts = [gap_as_dict(gap) for gap in gaps]
        show_json({"hours": hours, "hosts": hosts, "addresses": addresses, "broken": len(broken) + len(crowded)})
    else:
        columns = ("host", "requests", "smallest gap", "delay", "")
        rows = [
            (
                gap.host,
                str(gap.requests),
                *(f"{wait.total_seconds():.3f} s" for wait in (gap.smallest_gap, gap.delay)),
                "✗ broken" if gap.is_broken else "✓",
            )
            for gap in gaps
        ]
        show_table(columns, rows, whole=("host",))
        more = f" Further back: headwater audit politeness --hours {hours * 24:g}" if hours == 1 else ""
        show(f"{len(broken)} of the {len(gaps)} closest hosts were asked too soon in the last {hours:g} h.{more}")
        if loads:
            show_addresses(loads, pace)
    return int(bool(broken or crowded))


def show_addresses(loads: "list[AddressLoad]", pace: timedelta) -> None:
    columns = ("address", "names", "requests", "most in a second", "most in a minute at its own pace", "")
    counts = [(load.names, load.requests, load.most_in_a_second, load.paced_in_a_minute) for load in loads]
    show_table(
        columns,
        [
            (load.address, *map(str, row), "✗ broken" if load.is_broken(pace) else "✓")
            for load, row in zip(loads, counts, strict=True)
        ],
    )


def load_as_dict(load: "AddressLoad", pace: timedelta) -> dict[str, object]:
    return {**asdict(load), "broken": load.is_broken(pace)}


def gap_as_dict(gap: "HostGap") -> dict[str, object]:
    return {
        "host": gap.host,
        "requests": gap.requests,
        "smallest_gap_seconds": gap.smallest_gap.total_seconds(),
        "delay_seconds": gap.delay.total_seconds(),
        "broken": gap.is_broken,
    }


@app.command(name="conservation")
def conservation(*, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Compare the counters with a recount of all entries. Exit 1 if they differ."""

    async def work(services: "Services") -> "list[CountComparison]":
        from headwater.frontier.reads import compare_counts

        return await compare_counts(services.database)

    compared = with_services(launch, work)
    is_equal = not any(one.differing for one in compared)
    if json:
        counted = {one.status: one.counted for one in compared}
        show_json({"equal": is_equal, "counted": counted, "recounted": {one.status: one.recounted for one in compared}})
    else:
        show_table(
            ("status", "counters", "recount"),
            [(one.status, f"{one.counted:,}", f"{one.recounted:,}") for one in compared],
        )
        worst = max(one.differing for one in compared)
        show("✓ They are equal." if is_equal else f"✗ They differ, for {counted_in_words(worst, 'source')} at least.")
    return int(not is_equal)


@app.command(name="robots")
def robots(*, hours: float = 24, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Look for requests of pages that robots.txt forbade at that time. Exit 1 if there are any.

    Parameters
    ----------
    hours
        How far back to look. All of the log of that time is read: a million requests take minutes.
    """
    require_number("--hours", hours, 0.01, TEN_YEARS_HOURS)

    async def work(services: "Services") -> "RobotsAudit":
        from headwater.net.identity import identity_of
        from headwater.reports.robots import audit_robots

        token = identity_of(services.settings.fetch).product_token
        return await audit_robots(services.database, timedelta(hours=hours), token)

    found = with_services(launch, work)
    if json:
        show_json({"hours": hours, **asdict(found)})
        return int(bool(found.forbidden))
    if found.named:
        rows = [(f"{one.at:%Y-%m-%d %H:%M:%S}", one.url, one.rule) for one in found.named]
        show_table(("when", "page", "forbidden by"), rows, whole=("when",))
    mark = "✗" if found.forbidden else "✓"
    requests = counted_in_words(found.judged, "request")
    show(f"{mark} {found.forbidden:,} of {requests} of the last {hours:g} h were forbidden by the rules of their time.")
    if found.unjudged:
        show(f"{counted_in_words(found.unjudged, 'request')} could not be judged: the rules of then are not known.")
    return int(bool(found.forbidden))


@app.command(name="delivery")
def delivery(*, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Compare every sink with the archive, as `sinks verify` does. Exit 1 if one differs or cannot be asked."""

    async def work(services: "Services") -> "list[SinkCheck]":
        from headwater.actions.delivery import verify_all_sinks

        return await verify_all_sinks(services)

    checks = with_services(launch, work)
    if json:
        from headwater.shapes.sinks import verification_as_dict

        shown = [
            verification_as_dict(one.name, one.found) if one.found else {"name": one.name, "problem": one.problem}
            for one in checks
        ]
        show_json({"sinks": shown, "equal": not any(one.is_red for one in checks)})
    elif not checks:
        show("There are no sinks, so nothing is delivered. Add one: headwater sinks add")
    else:
        rows = [(one.name, *_counts(one), f"{'✗' if one.is_red else '✓'} {one.words}") for one in checks]
        show_table(("sink", "holds", "should", ""), rows, whole=("sink",))
    return int(any(one.is_red for one in checks))


def _counts(check: "SinkCheck") -> tuple[str, str]:
    found = check.found
    return (f"{found.held:,}", f"{found.expected:,}") if found else ("?", "?")
