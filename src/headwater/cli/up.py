"""`headwater up`: everything, in one terminal."""

import asyncio
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import Launch, Launched
from headwater.cli.output import announce, say
from headwater.cli.serving import with_services
from headwater.cli.sources import calmed
from headwater.errors import DatabaseDown, QueryFailed

if TYPE_CHECKING:
    from headwater.discover.polls.poll import Ran
    from headwater.ingest.journey import Told
    from headwater.services import Services

HEADINGS = "  polls   found   fetched   documents   vacancies   failed   waiting   what just happened"
ON_A_TERMINAL_SECONDS, ELSEWHERE_SECONDS = 2.0, 60.0


@dataclass(slots=True)
class Pulse:
    """What happened since the start, and the last thing worth a word."""

    counts: Counter[str] = field(default_factory=Counter)
    news: str = ""

    def polled(self, ran: "Ran") -> None:
        if ran.ending is None:
            return
        self.counts["polls"] += 1
        self.counts["found"] += ran.walk.tally.inserted
        if ran.ending.status != "ok" or ran.walk.tally.inserted:
            self.news = f"{ran.channel.source.name}: {ran.ending.message}"

    def fetched(self, told: "Told") -> None:
        verdict = type(told.verdict).__name__ if told.verdict else "LeaseLost"
        self.counts["fetched"] += verdict in ("Fetched", "Unchanged")
        self.counts["failed"] += verdict in ("Dead", "RetryLater")
        self.counts["documents"] += told.leaves.document is not None
        self.counts["vacancies"] += len(told.leaves.jobs)
        if told.leaves.document is not None:
            self.news = told.leaves.document.title

    def line(self, waiting: int) -> str:
        names = ("polls", "found", "fetched", "documents", "vacancies", "failed")
        widths = (7, 7, 9, 11, 11, 8)
        counts = " ".join(f"{self.counts[name]:>{width},}" for name, width in zip(names, widths, strict=True))
        return f"{counts} {waiting:>9,}   {self.news[:60]}"


def up(
    *,
    quiet: Annotated[bool, Parameter(negative="", help="No running figures.")] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Run everything on this machine: database, schema, polling, fetching, upkeep; until Ctrl-C."""
    say("Starting …")
    # On a terminal the figures are what is read; a line per page between them would hide both.
    shown = calmed(launch) if sys.stderr.isatty() and not quiet else launch
    with_services(shown, lambda services: keep_up(services, is_quiet=quiet))
    announce("Stopped; what was under way is finished or given back.")


async def keep_up(services: "Services", *, is_quiet: bool) -> None:
    from headwater.run.everything import run_everything
    from headwater.run.stopping import until_stopped

    pulse = Pulse()
    await introduce(services)
    showing = asyncio.create_task(show_figures(services, pulse)) if not is_quiet else None
    try:
        await until_stopped(
            lambda stop: run_everything(services, stop, pulse.polled, pulse.fetched), on_first=say_stopping
        )
    finally:
        if showing:
            showing.cancel()


def say_stopping() -> None:
    announce("Stopping: finishing what is under way. Ctrl-C again ends at once.")


async def introduce(services: "Services") -> None:
    from headwater.reports.discovery import summary

    found = await summary(services.database)
    announce(f"Database {services.database.address}")
    announce(f"{sum(found.sources.values()):,} sources, {found.channels:,} channels, {found.due:,} due now")
    if not found.sources:
        announce("Nothing is followed yet. In another terminal: headwater sources add https://example.org")


async def show_figures(services: "Services", pulse: Pulse) -> None:
    from headwater.frontier.entry import Status
    from headwater.frontier.reads import count_entries

    wait = ON_A_TERMINAL_SECONDS if sys.stderr.isatty() else ELSEWHERE_SECONDS
    announce(HEADINGS)
    while True:
        await services.clock.sleep(wait)
        try:
            counts = (await count_entries(services.database)).by_status
        except (DatabaseDown, QueryFailed):
            continue  # the roles say so, and go on when it is back
        announce(pulse.line(counts[Status.PENDING] + counts[Status.FAILED]))
