"""`headwater crawl`: polls now, and the log of runs."""

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from cyclopts import App, Parameter

from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit, with_quiet_log, with_services
from headwater.cli.output import say, say_more, show, show_json, show_table
from headwater.cli.pollers import WHEN_RESUMED, say_who_polls
from headwater.cli.words import in_words, inert, length_of, pad, quantity, relative, shorten
from headwater.errors import Refused, UsageError
from headwater.shapes.runs import crawl_as_dict, run_as_dict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headwater.actions.urls import CrawlStory
    from headwater.discover.polls.ending import RunEnding
    from headwater.discover.polls.lease import Leased
    from headwater.frontier.pause import CrawlPause
    from headwater.reports.discovery import DiscoveryOverview, Run, RunFollower
    from headwater.reports.freshness import WastefulChannel
    from headwater.reports.pollers import PollersNow
    from headwater.services import Services

LOOK_EVERY_SECONDS = 1.0
WIDEST_PLACE = 60
PARTLY = 3

app = App(name="crawl", help="Poll now, pause everything, and read the log of runs.")


@app.command(name="run")
def run(*sources: str, launch: Launched = Launch()) -> int:  # noqa: B008
    """Poll sources as soon as their hosts allow, whatever their schedule or time window says.

    Parameters
    ----------
    sources
        Ids, addresses, hosts or names.
    """
    return poll_soon(sources, launch)


def poll_soon(sources: tuple[str, ...], launch: Launch) -> int:
    if not sources:
        raise UsageError("No source was named.", fix="`headwater crawl run-due` polls everything that is due.")

    async def work(services: "Services") -> "tuple[list[tuple[DiscoveryOverview, int]], PollersNow]":
        from headwater.actions.sources import poll_sources
        from headwater.reports.pollers import pollers_now

        return await poll_sources(services, sources), await pollers_now(services.database)

    asked, pollers = with_services(launch, work)
    when = f"due, polled {WHEN_RESUMED}" if pollers.pause else "due now"
    resting = [one for one, channels in asked if not channels]
    if len(resting) == len(asked):
        raise Refused(why_not(resting[0]), fix=what_to_do(resting[0]))
    for one, channels in asked:
        show(f"{inert(one.source.name)}: {quantity(channels, 'channel')} {when}" if channels else why_not(one))
    for one in resting:
        say(what_to_do(one))
    say_who_polls(pollers, are_many=sum(channels for _, channels in asked) > 1)
    say("Watch the polls: headwater crawl logs --follow")
    return PARTLY if resting else 0


@app.command(name="waste")
def waste(*, limit: Limit = 20, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """List the channels with the most polls that brought nothing new: where politeness and time are wasted.

    Polls and items count less the older they are, by half in 14 days.

    Parameters
    ----------
    limit
        How many channels.
    """

    async def work(services: "Services") -> "list[WastefulChannel]":
        from headwater.reports.freshness import wasteful_channels

        return await wasteful_channels(services.database, limit)

    found = with_services(launch, work)
    if json:
        from headwater.shapes.freshness import wasteful_as_dict

        show_json({"channels": [wasteful_as_dict(one) for one in found]})
    elif found:
        columns = ("in vain", "polls", "new items", "polls per item", "every", "channel", "source", "address")
        show_table(columns, [waste_row(one) for one in found], below=("address",))
        say("Poll one less often: headwater sources edit SOURCE poll_every=7d")
    else:
        say("No poll was in vain.")


def waste_row(one: "WastefulChannel") -> tuple[str, ...]:
    counts = (f"{number:,.0f}" for number in (one.vain_polls, one.polls, one.new_items))
    rate = "–" if one.polls_per_item is None else f"{one.polls_per_item:,g}"
    every = length_of(one.interval) if one.interval else "–"
    return (*counts, rate, every, str(one.kind), inert(shorten(one.source, 30)), inert(one.url))


def why_not(one: "DiscoveryOverview") -> str:
    source = one.source
    if one.is_left_alone:
        taken = next(problem.what for problem in one.health.problems if problem.kind == "takedown")
        return f"{inert(source.name)} is not polled. {inert(taken)}"
    if source.status != "active":
        reason = f" ({inert(source.status_reason)})" if source.status_reason else ""
        return f"{inert(source.name)} is {source.status}{reason}: nothing of it is polled."
    return f"{inert(source.name)} has no channel to poll."


def what_to_do(one: "DiscoveryOverview") -> str:
    if one.is_left_alone:
        return "`headwater takedown list` shows the takedown, `headwater takedown rm` lifts it."
    if one.source.status != "active":
        return f"Resume it: headwater sources resume {one.source.id}"
    return f"Look at it: headwater sources show {one.source.id}"


@app.command(name="run-due")
def run_due(*, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Poll every channel that is due, once, and end."""

    async def work(services: "Services") -> dict[str, int]:
        from headwater.run.polling import poll_what_is_due

        return await poll_what_is_due(services, (lambda *_: None) if json else show_ending)

    counts = with_services(with_quiet_log(launch), work)
    if json:
        show_json(counts)
    else:
        polled, found = quantity(counts["polled"], "channel"), quantity(counts["found"], "new item")
        show(f"{polled} polled, {counts['failed']:,} failed, {found}")
    return PARTLY if counts["failed"] else 0


def show_ending(channel: "Leased", ending: "RunEnding") -> None:
    message = _placed(place_of(channel.url.url, channel.source.url), ending.message)
    show(f"{ending.status:4}  {pad(channel.source.name, 30)}  {channel.kind:7}  {message}")


def _placed(place: str, message: str) -> str:
    named = f"{shorten(place, WIDEST_PLACE)}: " if place else ""
    return named + shorten(in_words(message), 80)


def place_of(url: str, home: str) -> str:
    """The part of an address that tells it from others of its source: its path, or all of it at another host."""
    there = urlsplit(url)
    path = f"{there.path}?{there.query}" if there.query else there.path
    return path if there.netloc == urlsplit(home).netloc else f"{there.netloc}{path}"


@app.command(name="logs")
def logs(
    source: str | None = None,
    *,
    limit: Limit = 20,
    cursor: Cursor = None,
    follow: Annotated[bool, Parameter(negative="", help="Keep printing new runs until Ctrl-C.")] = False,
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
        from headwater.reports.discovery import LATE_BY_AT_MOST, RunFilter, RunFollower, runs_lately, time_now
        from headwater.reports.paging import page_of_runs
        from headwater.sources.finding import find_source

        database = services.database
        wanted = (await find_source(database, source)).id if source else None
        # Before the list is read: what comes between the two is shown either way.
        known = await runs_lately(database, wanted, LATE_BY_AT_MOST) if follow else {}
        page = await page_of_runs(database, RunFilter(wanted), limit, cursor)
        runs = page.items[::-1]
        now = await time_now(database)
        show_runs(runs, now, json=json)
        if not follow:
            say_more(page.cursor)
        if follow:
            known |= {run.id: run.at for run in runs}
            follower = RunFollower(database, known, max(known.values(), default=now), wanted)
            await keep_showing(services, follower, json=json)

    with_services(launch, work)


async def keep_showing(services: "Services", follower: "RunFollower", *, json: bool) -> None:
    while True:
        await services.clock.sleep(LOOK_EVERY_SECONDS)
        for run in await follower.news():
            if json:
                show_json(run_as_dict(run))
            else:
                show(line_of(run))


def show_runs(runs: "Sequence[Run]", now: "datetime", *, json: bool) -> None:
    if json:
        for run in runs:
            show_json(run_as_dict(run))
        return
    if not runs:
        say("Nothing was polled yet. `headwater up` keeps polling. Poll all that is due once: headwater crawl run-due")
        return
    counts = ("found", "new", "changed", "skipped", "errors")
    columns = ("when", "source", "channel", "result", *counts, "took", "next poll", "message")
    # The message says most of what is counted.
    show_table(columns, [_row(run, now) for run in runs], spare=("took", *reversed(counts)))


def _row(run: "Run", now: "datetime") -> tuple[str, ...]:
    counts = (run.found, run.inserted, run.updated, run.skipped, run.errors)
    return (
        relative(run.at, now),
        shorten(run.source, 30),
        shorten(f"{run.kind} {_place(run)}", WIDEST_PLACE),
        run.status,
        *(f"{count:,}" for count in counts),
        f"{run.duration_ms / 1000:.1f} s",
        relative(run.next_poll_at, now) if run.next_poll_at else "–",
        shorten(in_words(run.message), 70),
    )


def _place(run: "Run") -> str:
    """Nothing where the source and the kind say which channel it was."""
    return place_of(run.channel_url, run.source_url) if run.is_one_of_several and run.channel_url else ""


def line_of(run: "Run") -> str:
    """One run on one line, for a log that goes by."""
    following = f"; next in {length_of(run.next_poll_at - run.at)}" if run.next_poll_at else ""
    source, message = pad(run.source, 30), _placed(_place(run), run.message)
    return f"{run.at:%H:%M:%S}  {run.status:4}  {source}  {run.kind:7}  {message}{following}"


@app.command(name="pause")
def pause(*, reason: str = "", json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Pause everything: nothing new is polled or fetched until `headwater crawl resume`; what is under way ends.

    Parameters
    ----------
    reason
        For those who wonder.
    """

    async def work(services: "Services") -> "CrawlPause":
        from headwater.actions.pausing import pause_everything

        return await pause_everything(services.database, "a person", reason)

    found = with_services(launch, work)
    if json:
        show_json({"since": found.since, "set_by": found.set_by, "reason": found.reason})
        return
    show(f"Paused since {found.since:%Y-%m-%d %H:%M} UTC by {inert(found.set_by)}.")
    say("Go on: headwater crawl resume")


@app.command(name="resume")
def resume(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Let everything go on that `headwater crawl pause` stopped."""

    async def work(services: "Services") -> bool:
        from headwater.actions.pausing import resume_everything

        return await resume_everything(services.database, "a person")

    was_paused = with_services(launch, work)
    if json:
        show_json({"was_paused": was_paused})
        return
    show("Everything goes on within seconds." if was_paused else "Nothing was paused.")


@app.command(name="pages")
def pages(
    source: str,
    *,
    status: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
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

    async def work(services: "Services") -> "CrawlStory":
        from headwater.actions.urls import crawl_story_of

        return await crawl_story_of(services, source, status, limit, cursor)

    story = with_services(launch, work)
    crawl, limits = story.crawl, story.limits
    found, following = story.pages.items, story.pages.cursor
    if json:
        show_json(crawl_as_dict(story))
        return
    sums = ", ".join(f"{count:,} {word}" for word, count in crawl.pages.items()) or "no pages"
    show(f"{crawl.state}{': ' + in_words(crawl.reason) if crawl.reason else ''} ({sums})")
    for told_limit in limits:
        show(told_limit)
    if found:
        rows = [(one.url, one.status, str(one.depth), shorten(in_words(one.error or ""), 80)) for one in found]
        show_table(("url", "status", "depth", "error"), rows, below=("url",))
    say_more(following)
