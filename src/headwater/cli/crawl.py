"""`headwater crawl`: polls now, and the log of runs."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.serving import with_services
from headwater.cli.words import length_of, relative
from headwater.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from headwater.discover.crawling import Crawl, Page
    from headwater.reports.discovery import Run
    from headwater.services import Services

LOOK_EVERY_SECONDS = 1.0

app = App(name="crawl", help="Poll now, and read the log of runs.")


@app.command(name="run")
def run(*sources: str, launch: Launched = Launch()) -> None:  # noqa: B008
    """Poll sources as soon as their hosts allow, whatever their schedule or time window says.

    Parameters
    ----------
    sources
        Ids, addresses, hosts or names.
    """
    poll_soon(sources, launch)


def poll_soon(sources: tuple[str, ...], launch: Launch) -> None:
    if not sources:
        raise UsageError("No source was named.", fix="`headwater crawl run-due` polls everything that is due.")

    async def work(services: "Services") -> list[tuple[str, int]]:
        from headwater.sources.channels import poll_now
        from headwater.sources.store import find_source

        found = [await find_source(services.database, one) for one in sources]
        return [(one.name, await poll_now(services.database, one.id)) for one in found]

    for name, channels in with_services(launch, work):
        show(f"{name}: {channels} channel{'s' * (channels != 1)} due now")
        if not channels:
            say("  It has no active channel: look at it with `headwater sources show`.")
    say("A running poller takes them at once: headwater run poll. Follow it: headwater crawl logs --follow")


@app.command(name="run-due")
def run_due(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Poll everything that is due, here and now, and end."""

    async def work(services: "Services") -> dict[str, int]:
        from headwater.run.polling import poll_what_is_due

        return await poll_what_is_due(services, lambda line: None if json else show(line))

    counts = with_services(launch, work)
    if json:
        show_json(counts)
    else:
        show(f"{counts['polled']} channels polled, {counts['failed']} failed, {counts['found']} new URLs")


@app.command(name="logs")
def logs(
    source: str | None = None,
    *,
    limit: int = 20,
    follow: Annotated[bool, Parameter(negative="", help="Go on with what comes, until Ctrl-C.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Show the log of runs: what each found, how long it took, and when the next one is.

    Parameters
    ----------
    source
        Only this one: its id, address, host or name.
    limit
        How many of the last runs.
    """

    async def work(services: "Services") -> None:
        from headwater.reports.discovery import list_runs, summary
        from headwater.sources.store import find_source

        wanted = (await find_source(services.database, source)).id if source else None
        runs = (await list_runs(services.database, wanted, limit))[::-1]
        show_runs(runs, (await summary(services.database)).now, json=json)
        if follow:
            await follow_runs(services, wanted, runs, json=json)

    with_services(launch, work)


async def follow_runs(services: "Services", source_id: "UUID | None", shown: "list[Run]", *, json: bool) -> None:
    from headwater.reports.discovery import runs_after, summary

    moment = shown[-1].at if shown else (await summary(services.database)).now
    while True:
        await services.clock.sleep(LOOK_EVERY_SECONDS)
        for run in await runs_after(services.database, moment, source_id):
            moment = run.at
            if json:
                show_json(asdict(run))
            else:
                show(line_of(run))


def show_runs(runs: "list[Run]", now: "datetime", *, json: bool) -> None:
    if json:
        for run in runs:
            show_json(asdict(run))
        return
    columns = ("when", "source", "kind", "result", "found", "new", "changed", "skipped", "errors", "took", "message")
    show_table(columns, [_row(run, now) for run in runs])
    if not runs:
        say("Nothing has run yet. Start a poller: headwater run poll")


def _row(run: "Run", now: "datetime") -> tuple[str, ...]:
    counts = (run.found, run.inserted, run.updated, run.skipped, run.errors)
    return (
        relative(run.at, now),
        run.source[:30],
        str(run.kind),
        run.status,
        *(str(count) for count in counts),
        f"{run.duration_ms / 1000:.1f} s",
        run.message[:70],
    )


def line_of(run: "Run") -> str:
    """One run on one line, for a log that goes by."""
    following = f"; next in {length_of(run.next_poll_at - run.at)}" if run.next_poll_at else ""
    return f"{run.at:%H:%M:%S}  {run.status:4}  {run.source[:30]:30}  {run.kind:7}  {run.message[:80]}{following}"


@app.command(name="pages")
def pages(
    source: str,
    *,
    status: str | None = None,
    limit: int = 50,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Show how far the crawl of a site has got, and its pages.

    Parameters
    ----------
    source
        Its id, address, host or name.
    status
        pending, processing, completed or failed.
    limit
        How many pages.
    """

    async def work(services: "Services") -> "tuple[Crawl, list[Page]]":
        from headwater.discover.crawling import crawl_of, pages_of
        from headwater.sources.store import find_source

        found = await find_source(services.database, source)
        return await crawl_of(services.database, found.id), await pages_of(
            services.database, found.id, status, limit=limit
        )

    crawl, found = with_services(launch, work)
    if json:
        told = [{"url": one.url, "status": one.status, "depth": one.depth, "error": one.error} for one in found]
        show_json({"state": crawl.state, "reason": crawl.reason, "pages": crawl.pages, "data": told})
        return
    counted = ", ".join(f"{count:,} {word}" for word, count in crawl.pages.items()) or "no pages"
    show(f"{crawl.state}{': ' + crawl.reason if crawl.reason else ''} ({counted})")
    show_table(
        ("url", "status", "depth", "error"), [(one.url, one.status, str(one.depth), one.error or "") for one in found]
    )
