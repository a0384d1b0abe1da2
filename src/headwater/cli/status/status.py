"""`headwater status`: the whole at a glance, and what is polled next."""

import sys
from datetime import timedelta
from shlex import quote
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import (
    clear_screen,
    say,
    show,
    show_json,
    show_json_with,
    show_laid_out,
    show_many,
    show_screen,
    terminal_height,
    terminal_width,
)
from headwater.cli.problems import hint_at_problems
from headwater.cli.status.operations import operation_lines, role_lines
from headwater.cli.tables import laid_out, wrap_text
from headwater.cli.words import (
    due,
    go_length_of,
    in_words,
    inert,
    length_of,
    quantity,
    shorten,
    shorten_line,
)
from headwater.errors import DatabaseDown, QueryFailed
from headwater.shapes.status import schedule_as_dicts, standing_as_dict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
    from datetime import datetime

    from headwater.actions.standing import StandingNow
    from headwater.frontier.entry import EntryStatus
    from headwater.reports.crowds import CrowdedHost
    from headwater.reports.discovery import DiscoverySummary, Scheduled
    from headwater.reports.frontier import HostsNow, Suspects, TemplatesNow
    from headwater.reports.problems import Problems
    from headwater.services import Services

SHOWN = 20
SHOWN_SINKS, SHOWN_CROWDS = 4, 3
INDENT = 10  # of what belongs to a word at the beginning of a line
TABLE_HEAD = 2  # lines
WATCH_SECONDS, WATCH_ELSEWHERE_SECONDS = 2.0, 10.0
# For a person the beginning, for a program a page: more of 200,000 channels only when it is asked for.
SHOWN_ELSEWHERE = 1_000
HEADING = ("Feed Schedule:", "-" * 40)


class SchedulePage(NamedTuple):
    """The beginning of the schedule."""

    coming: "list[Scheduled]"
    is_cut: bool


def status(
    *,
    show_schedule: Annotated[bool, Parameter(negative="", help="List what is polled next, and why then.")] = False,
    all_: Annotated[
        bool,
        Parameter(
            name="--all", negative="", help="The whole schedule: else 20 channels, elsewhere than on a terminal 1,000."
        ),
    ] = False,
    operations: Annotated[
        bool, Parameter(negative="", help="Processes, latency, losses, failing tasks, partitions.")
    ] = False,
    watch: Annotated[bool, Parameter(negative="", help="Look again and again, until Ctrl-C.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Say how things stand: sources, polls, the frontier, the last 24 hours."""
    wants_schedule = show_schedule or all_
    most = SHOWN if sys.stdout.isatty() and not (all_ or json) else SHOWN_ELSEWHERE

    async def work(services: "Services") -> "tuple[StandingNow, list[Scheduled], Problems]":
        from headwater.actions.standing import all_problems, look_now
        from headwater.reports.discovery import schedule

        coming = await schedule(services.database, most + 1) if wants_schedule else []
        return await look_now(services), coming, await all_problems(services, is_hint=True)

    def tell(now: "StandingNow", coming: "list[Scheduled]", problems: "Problems") -> None:
        page = SchedulePage(coming[:most], is_cut=len(coming) > most) if wants_schedule else None
        show_all(now, page, problems, operations=operations, json=json)

    def redraw(now: "StandingNow", coming: "list[Scheduled]", problems: "Problems") -> None:
        clear_screen()
        size = terminal_width(), terminal_height()
        show_screen(screen_of(now, coming, problems, size, wants_schedule=wants_schedule, operations=operations))

    if watch:
        is_redrawn = sys.stdout.isatty() and not json
        with_services(launch, lambda services: keep_telling(services, work, redraw if is_redrawn else tell))
    elif all_:
        with_services(launch, lambda services: tell_whole(services, operations=operations, json=json))
    else:
        tell(*with_services(launch, work))


async def tell_whole(services: "Services", *, operations: bool, json: bool) -> None:
    """With all of the schedule, which is shown while it is read."""
    from headwater.actions.standing import all_problems, look_now
    from headwater.reports.discovery import whole_schedule

    now, problems = await look_now(services), await all_problems(services, is_hint=True)
    parts = whole_schedule(services.database)
    if json:
        rows = (schedule_as_dicts(part, now.summary.now) async for part in parts)
        await show_json_with(standing_as_dict(now, problems) | {"schedule_is_cut": False}, "schedule", rows)
        return
    show_head(now, operations=operations)
    await show_parts(parts, now.summary)
    say_rest(now, problems)


async def keep_telling(
    services: "Services",
    look: "Callable[[Services], Awaitable[tuple[StandingNow, list[Scheduled], Problems]]]",
    tell: "Callable[[StandingNow, list[Scheduled], Problems], None]",
) -> None:
    """In place on a terminal, one below the other elsewhere."""
    is_seen = sys.stdout.isatty()
    while True:
        try:
            found = await look(services)
        except (DatabaseDown, QueryFailed) as error:
            say(f"{error.what} Looking again.")
        else:
            tell(*found)
        await services.clock.sleep(WATCH_SECONDS if is_seen else WATCH_ELSEWHERE_SECONDS)


def show_all(
    now: "StandingNow", page: SchedulePage | None, problems: "Problems", *, operations: bool = False, json: bool = False
) -> None:
    if json:
        told_page = (
            {"schedule": schedule_as_dicts(page.coming, now.summary.now), "schedule_is_cut": page.is_cut}
            if page
            else {}
        )
        show_json(standing_as_dict(now, problems) | told_page)
        return
    show_head(now, operations=operations)
    if page:
        show_page(page, now.summary)
    say_rest(now, problems)


def show_head(now: "StandingNow", *, operations: bool) -> None:
    for line in head_of(now, terminal_width(), operations=operations):
        show(line)


def say_rest(now: "StandingNow", problems: "Problems") -> None:
    if not now.summary.followed:
        say("Nothing is followed yet. Add a site: headwater sources add https://example.org")
    if problems.found:
        say(hint_at_problems(len(problems.found), is_cut=problems.is_cut))


def head_of(now: "StandingNow", width: int, *, operations: bool = False) -> list[str]:
    """The whole at a glance; folded to a width, if there is one."""
    templates = template_lines(now.templates, is_on=now.learns)
    roles = operation_lines(now.operations) if operations else role_lines(now.operations)
    lines = [
        *lines_of(now.summary, now.counts, now.hosts),
        *fresh_lines(now),
        *roles,
        *suspect_lines(now.suspects),
        *templates,
    ]
    return [part for line in lines for part in (wrap_text(line, width, INDENT) if width else [line])]


def screen_of(
    now: "StandingNow",
    coming: "Sequence[Scheduled]",
    problems: "Problems",
    size: tuple[int, int],
    *,
    wants_schedule: bool,
    operations: bool = False,
) -> list[str]:
    """Lines that fill a terminal of so many columns and rows at most, one of which its cursor needs. Pure."""
    width, height = size
    found = now.summary
    foot = [hint_at_problems(len(problems.found), is_cut=problems.is_cut)] if problems.found else []
    if not found.followed:
        foot.insert(0, "Nothing is followed yet. Add a site: headwater sources add https://example.org")
    head = head_of(now, width, operations=operations)
    room = height - 1 - len(head) - len(foot)
    table = schedule_lines(coming, found, width, is_flat=True) if wants_schedule and coming else []
    if not table or len(table) + (found.channels > len(coming)) <= room:
        shown, left = table, found.channels - len(coming) if table else 0
    else:
        shown = table[: max(0, room - 1)]
        left = max(found.channels, len(coming)) - max(0, len(shown) - TABLE_HEAD)
    more = [f"… and {left:,} more: headwater status --show-schedule --all"] if left > 0 else []
    lines = [shorten_line(line, width) for line in (*head, *shown, *more, *foot)]
    return lines[: max(1, height - 1)]


def lines_of(found: "DiscoverySummary", counts: "dict[EntryStatus, int]", hosts: "HostsNow") -> list[str]:
    kinds = ", ".join(f"{count:,} {word}" for word, count in sorted(found.followed.items())) or "none yet"
    # Of hosts that are being asked nobody knows yet when they are open again: often much sooner.
    which = "the first that waits" if hosts.busy else "next host"
    waits = f", {which} opens in {length_of(hosts.next_in)}" if hosts.next_in else ""
    asked = f", {hosts.busy:,} being asked" if hosts.busy else ""
    statuses = " · ".join(f"{count:,} {word}" for word, count in counts.items())
    delay = (
        f"{length_of(found.delay_p50)} / {length_of(found.delay_p95)}"
        if found.delay_p50 is not None and found.delay_p95 is not None
        else "no figures yet"
    )
    polls = f"{quantity(found.channels, 'channel')}, {found.due:,} due, {found.polling:,} being polled"
    doubted = f", {hosts.doubted:,} without an answer so far come last" if hosts.doubted else ""
    waiting = f"{quantity(hosts.open, 'host')} open{asked}, {hosts.waiting:,} waiting{doubted}{waits}"
    lately = f"{quantity(found.runs, 'poll')}, {found.failed_runs:,} failed · {quantity(found.found, 'new item')}"
    return [
        f"Sources   {sum(found.followed.values()):,} ({kinds}) · {polls}",
        f"Frontier  {statuses} · {waiting}",
        f"Last 24 h {lately} · from publication to discovery p50/p95: {delay}",
        *push_lines(found),
    ]


def push_lines(found: "DiscoverySummary") -> list[str]:
    """Nothing where no channel names a hub."""
    push = found.push
    if not push.named:
        return []
    last = f" · last push {length_of(found.now - push.last_push_at)} ago" if push.last_push_at else ""
    named = f"{quantity(push.named, 'channel')}{' or more' if push.is_cut else ''} with a hub"
    return [f"Push      {named}, {push.subscribed:,} subscribed, {push.trusted:,} pushed so that polls are rare{last}"]


def fresh_lines(now: "StandingNow") -> list[str]:
    """Nothing where nothing was delivered or found."""
    sinks = [
        f"{inert(one.sink)} {length_of(one.delay.p50)} / {length_of(one.delay.p95)}"
        for one in now.sink_delays[:SHOWN_SINKS]
        if one.delay.p50 is not None and one.delay.p95 is not None
    ]
    more = f" and {len(now.sink_delays) - SHOWN_SINKS} more" if len(now.sink_delays) > SHOWN_SINKS else ""
    told = [f"from a change to its sink p50/p95: {', '.join(sinks)}{more}"] if sinks else []
    if now.polls_per_item is not None:
        told.append(f"{now.polls_per_item:g} polls for each new item")
    if saved := sum(now.polls_avoided.values()):
        told.append(f"{quantity(saved, 'poll')} spared, {now.polls_avoided['push']:,} of them by push")
    lines = [f"Freshness {' · '.join(told)}"] if told else []
    return lines + crowd_lines(now.crowds)


def crowd_lines(crowds: "Sequence[CrowdedHost]") -> list[str]:
    """The worst of the hosts whose channels are polled less often than they deserve."""
    told = [
        f"{inert(one.host)} has room for {one.possible_per_hour:,.0f} of the {one.deserved_per_hour:,.0f} polls an "
        f"hour that its {one.channels:,} channels deserve: in the mean each is polled every "
        f"{length_of(one.possible_every)}"
        for one in crowds[:SHOWN_CROWDS]
    ]
    more = [f"and {quantity(len(crowds) - SHOWN_CROWDS, 'more host')}"] if len(crowds) > SHOWN_CROWDS else []
    return [f"{'Crowded' if not place else '':9} {line}" for place, line in enumerate((*told, *more))]


def suspect_lines(now: "Suspects") -> list[str]:
    """Nothing where nobody died."""
    pages = f"{quantity(now.pages, 'page')} to be tried alone: a worker died while it had begun them"
    channels = f"{quantity(now.channels, 'channel')} to be tried one at a time: a poller died while it polled them"
    told = [words for count, words in ((now.pages, pages), (now.channels, channels)) if count]
    return [f"Suspects  {' · '.join(told)}"] if told else []


def template_lines(now: "TemplatesNow", *, is_on: bool) -> list[str]:
    off = "" if is_on else " · off here: extract.templates"
    read = f"{quantity(now.active, 'host')} read by a learned template"
    lines = [f"Templates {read}, {now.waiting:,} waiting for training, {now.disabled:,} disabled{off}"]
    if not now.hurried:
        return lines
    most, *others = now.hurried
    others_too = f" (and {quantity(len(others), 'other source')})" if others else ""
    count = quantity(sum(now.hurried.values()), "document")
    return [
        *lines,
        f"In hurry  {count} of the last hour were read from the densest part of their pages: reading fell behind",
        f"          read them whole: headwater docs reextract --source {quote(inert(most))}{others_too}",
    ]


def show_page(page: SchedulePage, found: "DiscoverySummary") -> None:
    """A table for a person, else the list that scripts read."""
    if not sys.stdout.isatty():
        show_many([*HEADING, *listed_lines(page.coming, found.now)])
    elif page.coming:
        show_laid_out(schedule_lines(page.coming, found, terminal_width()))
    if page.is_cut:
        left = found.channels - sum(one.next_poll_at is not None or one.is_taken_down for one in page.coming)
        say(f"… and {max(1, left):,} more: headwater status --show-schedule --all")


async def show_parts(parts: "AsyncIterator[list[Scheduled]]", found: "DiscoverySummary") -> None:
    """As `show_page`, with one part of the schedule in memory at a time."""
    is_seen = sys.stdout.isatty()
    if not is_seen:
        show_many(HEADING)
    async for part in parts:
        if part and is_seen:
            show_laid_out(schedule_lines(part, found, terminal_width()))
        else:
            show_many(listed_lines(part, found.now))


def schedule_lines(
    coming: "Sequence[Scheduled]", found: "DiscoverySummary", width: int, *, is_flat: bool = False
) -> list[str]:
    rows = [
        (
            _when(one, found.now),
            _at(one.next_poll_at, found.now),
            shorten(one.source, 30),
            str(one.kind),
            length_of(one.interval) if one.interval else "–",
            str(one.errors),
            shorten(in_words(one.next_reason), 60),
        )
        for one in coming
    ]
    columns = ("next", "at", "source", "channel", "every", "errors", "why")
    return laid_out(columns, rows, width, spare=("at", "every"), is_flat=is_flat)


def _when(one: "Scheduled", now: "datetime") -> str:
    if one.is_running:
        return "running"
    if one.is_taken_down:
        return "taken down"
    return due(one.next_poll_at, now) if one.next_poll_at else "not scheduled"


def _at(moment: "datetime | None", now: "datetime") -> str:
    if moment is None:
        return "–"
    return f"{moment:%H:%M:%S %Z}" if abs((moment - now).days) < 1 else f"{moment:%Y-%m-%d %H:%M}"


def listed_lines(coming: "Sequence[Scheduled]", now: "datetime") -> "Iterator[str]":
    for one, title in zip(coming, titles_of(coming), strict=True):
        yield title
        yield f"  Next fetch: {_next_fetch(one, now)}"
        yield f"  Interval:   {go_length_of(one.interval) if one.interval else 'not known yet'}"
        yield f"  Errors:     {one.errors}"
        if one.next_reason:
            yield f"  Why:        {inert(one.next_reason)}"


def titles_of(coming: "Sequence[Scheduled]") -> list[str]:
    """The source's name; where several would be called the same, also what is polled."""
    return [inert(f"{one.source} ({one.kind} {one.url})" if one.is_one_of_several else one.source) for one in coming]


def _next_fetch(one: "Scheduled", now: "datetime") -> str:
    if one.next_poll_at is None:
        return "taken down" if one.is_taken_down else "not scheduled"
    wait = one.next_poll_at - now
    told = f"in {length_of(in_minutes(wait))}" if wait.total_seconds() > 0 else "overdue"
    return f"{one.next_poll_at:%Y-%m-%d %H:%M:%S} ({told})"


def in_minutes(wait: timedelta) -> timedelta:
    """Without its seconds, unless it has nothing else: `15m`."""
    seconds = round(wait.total_seconds())
    return wait if seconds < 60 else wait - timedelta(seconds=seconds % 60)
