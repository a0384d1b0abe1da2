"""`headwater up`: everything, in one terminal."""

import os
import socket
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import Launch, Launched, with_quiet_log, with_services
from headwater.cli.output import announce, keep_below, message_width, say
from headwater.cli.words import in_words, quantity, shorten, shorten_line
from headwater.errors import Busy, DatabaseDown, QueryFailed
from headwater.figures import NOT_GIVEN_BACK

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Mapping

    from headwater.deliver.delivering import Delivered
    from headwater.discover.polls.polling import Ran
    from headwater.figures import Figures
    from headwater.ingest.journey import Finished
    from headwater.run.everything import Observers
    from headwater.serve.server import ListeningSocket
    from headwater.services import Services
    from headwater.settings.groups import WebSettings
    from headwater.supervisor import Supervisor, TaskHealth

# In the folder of data: whoever has it locked is the one `up` there, and what it says is who that is.
LOCK = "up.lock"

# Name and width of each figure; with what happened last in a line of its own, all fits into 80 columns.
FIGURES = {
    "polls": 7,
    "found": 8,
    "fetched": 9,
    "documents": 11,
    "vacancies": 11,
    "delivered": 11,
    "failed": 8,
    "waiting": 9,
}
HEADINGS = "".join(f"{name:>{width}}" for name, width in FIGURES.items())
ON_A_TERMINAL_SECONDS, ELSEWHERE_SECONDS = 1.0, 60.0
WIDEST_NEWS = 60


@dataclass(slots=True)
class Pulse:
    """Counts since the start, and the last news."""

    counts: Counter[str] = field(default_factory=Counter)
    news: str = ""

    def polled(self, ran: "Ran") -> None:
        if ran.ending is None:
            return
        self.counts["polls"] += 1
        self.counts["found"] += ran.run_state.tally.inserted
        if ran.ending.status != "ok" or ran.run_state.tally.inserted:
            self.news = f"{ran.channel.source.name}: {in_words(ran.ending.message)}"

    def fetched(self, finished: "Finished") -> None:
        verdict = type(finished.verdict).__name__ if finished.verdict else "LeaseLost"
        self.counts["fetched"] += verdict in ("Fetched", "Unchanged")
        self.counts["failed"] += verdict in ("Dead", "RetryLater")
        self.counts["documents"] += finished.effects.document is not None
        self.counts["vacancies"] += len(finished.effects.jobs)
        if finished.effects.document is not None:
            self.news = finished.effects.document.title

    def delivered(self, batch: "Delivered") -> None:
        self.counts["delivered"] += batch.sent

    def figures(self, waiting: int) -> str:
        counts = self.counts | Counter(waiting=waiting)
        return "".join(f"{counts[name]:>{width},}" for name, width in FIGURES.items())

    def line(self, waiting: int) -> str:
        """For a log: one after the other."""
        return f"{self.figures(waiting)}   {shorten(self.news, WIDEST_NEWS)}"

    def rows(self, waiting: int, width: int, ailing: str = "") -> tuple[str, ...]:
        """For a terminal, redrawn in place: none may be as wide as it, or it would wrap."""
        last = f"  last: {self.news}" if self.news else "  no news yet"
        rows = (HEADINGS, self.figures(waiting), last, *([f"  {ailing}"] if ailing else []))
        return tuple(shorten_line(row, width - 1) for row in rows)


def ailing_in(health: "Mapping[str, TaskHealth]") -> str:
    """The tasks that fail at present, in one line."""
    failing = [(name, one) for name, one in health.items() if one.is_failing]
    if not failing:
        return ""
    (name, first), others = failing[0], len(failing) - 1
    more = f" (and {quantity(others, 'other task')})" if others else ""
    return f"failing: {name}{more}, {first.last_error}"


def up(
    *,
    quiet: Annotated[bool, Parameter(negative="", help="No running figures.")] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Run everything on this machine: database, schema, polling, fetching, upkeep; until Ctrl-C."""
    say("Starting …")
    is_watched = bool(message_width()) and not quiet
    # Figures tell a person how it goes; each step of it would push them off the screen.
    calm = with_quiet_log(launch) if is_watched else launch
    figures = with_services(calm, lambda services: keep_up(services, is_quiet=quiet), migrates=True)
    for line in parting(figures):
        announce(line)


def parting(figures: "Figures") -> list[str]:
    """How it ended, and how it goes on. Pure."""
    if not figures.counts[NOT_GIVEN_BACK]:
        return ["Stopped. Work under way was finished or given back. Go on with: headwater up"]
    return [
        f"Stopped. Work under way could not be given back: {figures.said[NOT_GIVEN_BACK]}",
        "It is not lost: once its leases have run out, the next `headwater up` does it again.",
    ]


async def keep_up(services: "Services", *, is_quiet: bool) -> "Figures":
    from headwater.run.everything import Observers
    from headwater.run.stopping import until_stopped
    from headwater.supervisor import Supervisor

    pulse, tasks = Pulse(), Supervisor(services.clock, services.log, services.figures)
    observers = Observers(pulse.polled, pulse.fetched, pulse.delivered)
    with alone_on(services):
        async with tasks:
            if not is_quiet:
                tasks.keep("show_figures", lambda: show_figures(services, pulse, tasks))
            await until_stopped(
                lambda stop: run_and_serve(services, stop, observers, tasks),
                on_first=say_stopping,
            )
    return services.figures


@contextmanager
def alone_on(services: "Services") -> "Iterator[None]":
    """Raises Busy where another one runs on the same folder: a second crawler that nobody meant to start.

    Over a database that was named there may be as many as people want.
    """
    from headwater.database.locks import FileLock
    from headwater.services import data_folder

    if services.settings.database.url is not None:
        yield
        return
    folder = data_folder(services.settings)
    file = folder / LOCK
    lock = FileLock(file)
    try:
        if not lock.try_exclusive():
            raise Busy(
                f"`headwater up` runs on {folder} already: {file.read_text('utf-8') or 'it has just begun'}.",
                fix="More workers are had by `headwater run fetch` or `headwater run poll`; Ctrl-C ends the other one.",
            )
        since = services.clock.now()
        file.write_text(f"process {os.getpid()} on {socket.gethostname()}, since {since:%Y-%m-%d %H:%M} UTC", "utf-8")
        yield
    finally:
        lock.close()


async def run_and_serve(
    services: "Services", stop: "asyncio.Event", observers: "Observers", tasks: "Supervisor"
) -> None:
    from headwater.run.everything import run_everything
    from headwater.run.presence import WEB
    from headwater.serve.server import address_of, require_known_callers, serve

    await require_known_callers(services)
    with listening_somewhere(services.settings.web) as bound:
        announce(f"Console: {address_of(bound)}/")
        tasks.keep("serve", lambda: serve(services, bound, stop))
        await introduce(services)
        await run_everything(services, stop, observers, supervisor=tasks, besides=[WEB])


@contextmanager
def listening_somewhere(web: "WebSettings") -> "Iterator[ListeningSocket]":
    """At the port of the settings, else at a free one: on a laptop the usual one is often taken."""
    from headwater.serve.server import listening

    with ExitStack() as stack:
        try:
            bound = stack.enter_context(listening(web))
        except Busy as error:
            # By `announce`: printed past the figures, which are drawn already, it would break their redrawing.
            announce(f"! {error.what} Something else listens there, perhaps another Headwater.")
            announce(f"  The console is at another port this time. {error.fix}")
            bound = stack.enter_context(listening(web.model_copy(update={"port": 0})))
        yield bound


def say_stopping() -> None:
    announce("Stopping: finishing what is under way. Ctrl-C again ends at once.")


async def introduce(services: "Services") -> None:
    from headwater.reports.discovery import summary

    found = await summary(services.database)
    announce(f"Database {place_of_database(services)}")
    sources, channels = quantity(sum(found.followed.values()), "source"), quantity(found.channels, "channel")
    announce(f"{sources}, {channels}, {found.due:,} due now")
    if not found.followed:
        announce("Nothing is followed yet. In another terminal: headwater sources add https://example.org")


def place_of_database(services: "Services") -> str:
    from headwater.services import data_folder

    if services.settings.database.url is not None:
        return services.database.address
    return f"of its own, in {data_folder(services.settings)}"


async def show_figures(services: "Services", pulse: Pulse, tasks: "Supervisor") -> None:
    from headwater.frontier.entry import EntryStatus
    from headwater.frontier.reads import count_statuses

    waiting = 0
    if not message_width():
        announce(f"{HEADINGS}   what just happened")
    try:
        while True:
            if down_for := services.network.down_for:
                pulse.news = f"the network is down for {down_for.total_seconds():.0f} s: waiting, nothing is charged"
            if width := message_width():
                keep_below(*pulse.rows(waiting, width, ailing_in(tasks.health)))
            await services.clock.sleep(ON_A_TERMINAL_SECONDS if width else ELSEWHERE_SECONDS)
            try:
                counts = await count_statuses(services.database)
            except (DatabaseDown, QueryFailed):
                continue  # the roles say so, and go on when it is back
            waiting = counts[EntryStatus.PENDING] + counts[EntryStatus.FAILED]
            if not width:
                announce(pulse.line(waiting))
    finally:
        if message_width():
            keep_below()
            announce(HEADINGS)
            announce(pulse.figures(waiting))
