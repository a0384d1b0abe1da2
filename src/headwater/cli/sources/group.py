"""`headwater sources`: who we follow."""

from typing import TYPE_CHECKING

from cyclopts import App

from headwater.cli.launch import ACTOR, AsJson, Cursor, Launch, Launched, Limit, with_services
from headwater.cli.output import say, say_more, show, show_json, show_table
from headwater.cli.sources.showing import event_row, next_poll_of, show_overview
from headwater.cli.words import inert, length_of, quantity, relative, shorten
from headwater.shapes.sources import source_as_dict, source_story_as_dict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headwater.discover.adding import Stopped
    from headwater.reports.discovery import DiscoveryOverview
    from headwater.reports.explaining import SourceStory
    from headwater.reports.paging import ListPage
    from headwater.services import Services
    from headwater.sources.source import Source


app = App(name="sources", help="The publishers we follow: add, look at, change, import and export them.")
app.command("headwater.cli.sources.adding:add", name="add", help="Follow a site: its channels are looked for.")
app.command(
    "headwater.cli.sources.editing:edit",
    name="edit",
    help="Change fields of a source: name, priority, tags and others.",
)
app.command("headwater.cli.sources.files:import_sources", name="import", help="Add many sources from a file.")
app.command("headwater.cli.sources.files:export_sources", name="export", help="Write the sources into a file.")
app.command("headwater.cli.sources.removing:remove", name="rm", help="Delete sources; their vacancies expire.")
app.command("headwater.cli.sources.many:change", name="change", help="Do one thing to many sources at once.")
app.command("headwater.cli.sources.trying:ask_channels", name="test", help="Ask a source's channels once.")
app.command(
    "headwater.cli.sources.trying:simulate",
    name="simulate",
    help="Poll without storing: show the items and documents it would bring.",
)


@app.command(name="list")
def list_sources(
    *,
    status: str | None = None,
    kind: str | None = None,
    tag: str | None = None,
    name: str | None = None,
    order: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List sources with their health and their next poll.

    Parameters
    ----------
    status
        active, paused, blocked, deleted, failing, silent, overdue (by 15 min) or idle (nothing new for 30 days); or its
        health: ok, unknown, warning or struggling.
    kind
        news, jobs or docs.
    tag
        Only with this tag.
    name
        Only names that begin so.
    order
        name, added, -added (the newest first), next (the next poll first) or -errors (the most first).
    limit
        Sources per page.
    """
    from headwater.cli.filters import word_of

    async def work(services: "Services") -> "tuple[ListPage[DiscoveryOverview], datetime]":
        from headwater.reports.discovery import SourceFilter, time_now
        from headwater.reports.paging import order_named, page_of_sources, status_named
        from headwater.sources.source import SourceKind

        stored, health = status_named(status)
        wanted = SourceFilter(stored, word_of("kind", SourceKind, kind), tag, name)
        page = await page_of_sources(services.database, wanted, health, limit, cursor, order_named(order))
        return page, await time_now(services.database)

    page, now = with_services(launch, work)
    if json:
        show_json({"sources": [source_as_dict(one) for one in page.items], "cursor": page.cursor})
        return
    if page.items:
        show_page(page.items, now)
    elif page.cursor:
        say("No source matches among those looked at so far.")
    elif status or kind or tag or name or cursor:
        say("No source matches.")
    else:
        say("No source yet. Add one: headwater sources add https://example.org")
        say("Have a list?      headwater sources import feeds.opml")
    say_more(page.cursor)


def show_page(page: "Sequence[DiscoveryOverview]", now: "datetime") -> None:
    columns: tuple[str, ...] = ("name", "kind", "mode", "health", "next poll", "every", "errors", "last run", "url")
    rows = [_row(one, now) for one in page]
    if any(one.source.status_reason for one in page):
        columns = (*columns, "why")
        rows = [(*row, shorten(one.source.status_reason or "", 60)) for row, one in zip(rows, page, strict=True)]
    show_table(columns, rows, spare=("mode", "every", "kind", "errors", "last run"))
    if troubled := sum(len(one.health.problems) for one in page):
        say(f"{quantity(troubled, 'problem')} here: headwater problems")


def _row(one: "DiscoveryOverview", now: "datetime") -> tuple[str, ...]:
    source, following = one.source, one.next
    return (
        shorten(source.name, 40),
        str(source.profile.kind),
        str(source.profile.ingestion_mode),
        str(one.health.word),
        next_poll_of(following, now) if following else "taken down" if one.is_left_alone else "–",
        length_of(following.poll_interval) if following and following.poll_interval else "–",
        str(one.errors),
        f"{source.last_run_status} {relative(source.last_run_at, now)}" if source.last_run_at else "never",
        source.profile.url,
    )


@app.command(name="show")
def show_source(source: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show a source: its channels, why each is polled when, and what happened to it.

    Parameters
    ----------
    source
        Its id or the beginning of it, its address, its host, its name, or its id in the system it was imported from.
    """

    async def work(services: "Services") -> "SourceStory":
        from headwater.reports.explaining import story_of_source

        return await story_of_source(services.database, source)

    show_source_story(with_services(launch, work), is_json=json)


def show_source_story(story: "SourceStory", *, is_json: bool) -> None:
    overview, events, now = story.overview, story.events, story.now
    if is_json:
        show_json(source_story_as_dict(story))
        return
    show_overview(overview, now, story.external_ids, story.limits, story.freshness)
    if story.pause:
        show(f"  {inert(story.pause.with_fix)}")
    for crowd in story.crowds:
        say(f"{inert(crowd.sentence)}. In the mean each is polled every {length_of(crowd.possible_every)}.")
    if problems := overview.health.problems:
        say(f"{quantity(len(problems), 'problem')}: headwater problems --source {overview.source.id}")
    if events:
        show("")
        show_table(("when", "who", "what happened"), [event_row(one, now) for one in events])


def what_next(story: "SourceStory") -> str:
    overview = story.overview
    source, following = overview.source, overview.next
    if source.status != "active":
        return f"nothing until it is resumed: headwater sources resume {source.id}"
    if overview.is_left_alone:
        from headwater.reports.pages import WHILE_TAKEN_DOWN

        return WHILE_TAKEN_DOWN
    if story.pause:
        from headwater.reports.pages import WHILE_ALL_IS_PAUSED

        return WHILE_ALL_IS_PAUSED
    if following is None:
        return f"nothing: it has no channel to poll. Name one: headwater sources edit {source.id} feeds=https://…"
    when = next_poll_of(following, story.now)
    if when == "running":
        return f"its {following.kind} is being polled"
    told = f"is polled by the next free poller, {when}" if when.startswith("overdue") else f"is polled {when}"
    return f"its {following.kind} {told}: {following.next_reason}"


@app.command(name="pause")
def pause(*sources: str, reason: str = "paused by a person", launch: Launched = Launch()) -> None:  # noqa: B008
    """Stop polling sources and set their waiting URLs aside.

    Parameters
    ----------
    sources
        Ids, addresses, hosts or names.
    reason
        Shown by `show` and `explain`.
    """
    _change(launch, sources, "paused", reason)


@app.command(name="resume")
def resume(*sources: str, launch: Launched = Launch()) -> None:  # noqa: B008
    """Poll sources again that were paused or blocked; their count of errors starts at zero.

    Parameters
    ----------
    sources
        Ids, addresses, hosts or names.
    """
    _change(launch, sources, "active", None)


@app.command(name="block")
def block(*sources: str, reason: str = "blocked by a person", launch: Launched = Launch()) -> None:  # noqa: B008
    """Block sources: no URL of them is polled, queued or fetched until `resume`.

    Parameters
    ----------
    sources
        Ids, addresses, hosts or names.
    reason
        Shown by `show` and `explain`.
    """
    _change(launch, sources, "blocked", reason)


def _change(launch: Launch, sources: tuple[str, ...], status: str, reason: str | None) -> None:
    async def work(services: "Services") -> "list[tuple[Source, Stopped]]":
        from headwater.actions.sources import stop_sources
        from headwater.sources.source import SourceStatus

        return await stop_sources(services, sources, SourceStatus(status), reason, ACTOR)

    for source, stopped in with_services(launch, work):
        done = "queued again" if status == "active" else "set aside"
        entries = f"; {quantity(stopped.entries, 'waiting URL')} {done}" if stopped.entries else ""
        show(f"{inert(source.name)}: {status}{entries}")


@app.command(name="run")
def run(*sources: str, launch: Launched = Launch()) -> int:  # noqa: B008
    """Poll sources as soon as their hosts allow, whatever their schedule says.

    Parameters
    ----------
    sources
        Ids, addresses, hosts or names.
    """
    from headwater.cli.crawl import poll_soon

    return poll_soon(sources, launch)
