"""`headwater templates`: what was learned of hosts, why a page is read as it is, and how to have it otherwise."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.serving import with_services
from headwater.cli.sources import ACTOR
from headwater.cli.words import counted, due, inert, relative, shortened
from headwater.errors import NotFound
from headwater.reports.template_words import (
    Block,
    feature_in_words,
    outcome_in_words,
    part_of,
    place_in_words,
    range_in_words,
    reader_in_words,
    reason_in_words,
)

if TYPE_CHECKING:
    from headwater.archive.raw import KeptBody
    from headwater.extract.templates.template import Template
    from headwater.ingest.replay import Explained
    from headwater.reports.templates import Happened, Pupil, Schooling, Version
    from headwater.services import Services

SHOWN_PATHS = 8
WIDEST_TEXT = 100
EXPLAINED_TEXT = 80  # letters of a block that its explanation quotes
MINUS = "−"
OUTSIDE = "outside the container"
COLUMNS = ("host", "section", "version", "status", "served", "refused", "agreement", "learned", "next lesson")
WIDE = 110


app = App(name="templates", help="What was learned of each host's pages: look into it, learn again, switch off.")
Host = Annotated[str, Parameter(help="Its name, or any address there.")]


@app.command(name="list")
def list_hosts(
    *,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 50,
    after: str = "",
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List hosts: who is read by a template of its own, how well, and who is not and why.

    Parameters
    ----------
    limit
        Hosts per page.
    after
        The last host of the page before.
    """

    async def work(services: "Services") -> "tuple[list[Pupil], datetime]":
        from headwater.politeness.hosts import host_named
        from headwater.reports.templates import list_pupils, server_time

        name = host_named(after) if after else ""
        return await list_pupils(services.database, limit, name), await server_time(services.database)

    pupils, now = with_services(launch, work)
    if json:
        show_json({"hosts": [told_of(one) for one in pupils]})
        return
    if not pupils:
        say("No more hosts." if after else "Nothing is learned yet: no article page has been read.")
        return
    show_hosts([row for one in pupils for row in rows_of(one, now)])
    if len(pupils) == limit:
        say(f"More: add --after {inert(pupils[-1].host)}")


@app.command(name="show")
def show_host(host: Host, *, version: int | None = None, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show what was learned of a host: where its text stands, what is kept and dropped, its versions and its past.

    Parameters
    ----------
    version
        This version instead of those in use.
    """

    async def work(services: "Services") -> "tuple[Schooling, datetime]":
        from headwater.politeness.hosts import host_named
        from headwater.reports.templates import read_schooling, server_time

        return await read_schooling(services.database, host_named(host)), await server_time(services.database)

    found, now = with_services(launch, work)
    pupil = found.pupil
    chosen = pupil.active if version is None else [one for one in pupil.versions if one.version == version]
    if version is not None and not chosen:
        known = ", ".join(str(one.version) for one in pupil.versions) or "none"
        raise NotFound(f"{pupil.host} has no template version {version}.", fix=f"It has: {known}.")
    if json:
        events = [asdict(one) for one in found.events]
        show_json(told_of(pupil) | {"known": [known_of(found, one) for one in chosen], "events": events})
        return
    show_pupil(pupil, now)
    for one in chosen:
        show("")
        show_version(one, found.templates[one.version], now)
    if pupil.versions:
        show("")
        show("Versions, the newest first")
        for one in pupil.versions:
            show(version_line(one, now))
    if found.events:
        show("")
        show_events(found.events, now)


@app.command(name="explain")
def explain(
    url: str,
    *,
    all_: Annotated[bool, Parameter(name="--all", negative="", help="Also every block outside the container.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Say how a stored page is read by its host's template: block by block what is kept, what is dropped, and why.

    Parameters
    ----------
    url
        Of a page that was fetched and is still stored; nothing is fetched.
    """

    async def work(services: "Services") -> "Explained":
        from headwater.cli.docs_replay import inspection_of
        from headwater.run.fetching import reading_children

        body = await stored_page(services, url)
        async with reading_children(services) as children:
            found = await inspection_of(services, children).explain(body)
        if found is None:
            raise await why_no_template(services, body.raw.url)
        return found

    found = with_services(launch, work)
    lines = [part_of(line) for line in found.lines]
    if json:
        blocks = [one._asdict() if isinstance(one, Block) else {"says": one} for one in lines]
        told = {"url": url, "template": found.template, "answer": found.answer, "why": found.why}
        show_json(told | {"lines": blocks})
        return
    for line in explained_lines(lines, is_whole=all_):
        show(line)
    show(verdict_of(found))


@app.command(name="relearn")
def relearn(host: Host, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Learn a host anew from its stored pages, also where it was disabled; what it knows holds until then."""

    async def work(services: "Services") -> "tuple[Pupil, bool]":
        from headwater.learning.store import relearn as ask
        from headwater.politeness.hosts import host_named
        from headwater.reports.templates import read_schooling

        name = host_named(host)
        await ask(services.database, name, ACTOR)
        return (await read_schooling(services.database, name)).pupil, services.settings.extract.templates

    pupil, is_on = with_services(launch, work)
    show(f"{pupil.host} will be learned from {counted(pupil.pages, 'stored page')} by the next process that fetches.")
    say(f"What came of it: headwater templates show {pupil.host}")
    if not is_on:
        say("extract.templates is off here: a process with this setting neither learns nor reads by what was learned.")


@app.command(name="disable")
def disable(host: Host, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Read a host's pages by the general extractor, and learn nothing of it until you ask for it."""

    async def work(services: "Services") -> tuple[str, int]:
        from headwater.learning.store import disable as switch_off
        from headwater.politeness.hosts import host_named

        name = host_named(host)
        return name, await switch_off(services.database, name, ACTOR)

    name, ended = with_services(launch, work)
    show(f"Within a minute {name} is read by the general extractor; {counted(ended, 'template')} ended.")
    say(f"To have it learned again: headwater templates relearn {name}")


def told_of(pupil: "Pupil") -> dict[str, Any]:
    from headwater.reports.templates import pages_wanted, state_of

    is_waiting = not pupil.active and not pupil.learn_at and not pupil.disabled_at
    more = {"status": state_of(pupil), "pages_wanted": pages_wanted(pupil) if is_waiting else None}
    return asdict(pupil) | more


def show_hosts(rows: Sequence[Sequence[str]]) -> None:
    """A table, or where a terminal is too narrow for it, two lines a host."""
    from rich.console import Console

    if not sys.stdout.isatty() or Console().width >= WIDE:
        show_table(COLUMNS, rows)
        return
    for host, section, *cells in rows:
        told = [f"{name} {cell}" for name, cell in zip(COLUMNS[2:], cells, strict=True) if cell]
        show(f"{host}/{section}" if section else host)
        show(f"  {' · '.join(told)}")


def rows_of(pupil: "Pupil", now: datetime) -> list[Sequence[str]]:
    from headwater.reports.templates import state_of

    host, state, coming = inert(pupil.host), shortened(state_of(pupil), 60), next_lesson_of(pupil, now)
    if not pupil.active:
        return [(host, "", "", state, "", "", "", "", coming)]
    return [
        (
            host,
            inert(one.section),
            str(one.version),
            state,
            f"{one.served:,}",
            in_percent(one.refused_share),
            in_percent(one.agreeing),
            relative(one.learned_at, now),
            coming,
        )
        for one in pupil.active
    ]


def next_lesson_of(pupil: "Pupil", now: datetime) -> str:
    from headwater.reports.templates import pages_wanted

    if pupil.disabled_at:
        return "if you ask"
    if pupil.learn_at:
        return due(pupil.learn_at, now)
    return "on drift" if pupil.active else f"after {counted(pages_wanted(pupil), 'more page')}"


def in_percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f} %"


def show_pupil(pupil: "Pupil", now: datetime) -> None:
    from headwater.reports.templates import state_of

    show(f"{pupil.host}: {inert(state_of(pupil))}")
    show(f"  {counted(pupil.pages, 'stored page')} to learn from, {pupil.fresh:,} of them new since the last lesson")
    if pupil.learned_at:
        show(f"  last lesson {relative(pupil.learned_at, now)}: {inert(outcome_in_words(pupil.outcome))}")
    why = f" ({inert(pupil.why)})" if pupil.learn_at and pupil.why else ""
    show(f"  next lesson {next_lesson_of(pupil, now)}{why}")


def show_version(one: "Version", template: "Template | None", now: datetime) -> None:
    where = f"pages below /{inert(one.section)}/" if one.section else "the whole host"
    show(
        f"Version {one.version} for {where}, learned {relative(one.learned_at, now)} from {counted(one.pages, 'page')}"
    )
    agreeing = f", {in_percent(one.agreeing)} of late on {one.audited:,} audited" if one.audited else ""
    show(f"  agrees with the general extractor to {in_percent(one.agreement)} on the pages it learned from{agreeing}")
    show(f"  served {one.served:,}, refused {one.refused:,} ({in_percent(one.refusing)} of the last)")
    for reason, count in sorted(one.reasons.items(), key=lambda pair: (-pair[1], pair[0])):
        show(f"    {count:,} × {inert(reason)}: the page {inert(reason_in_words(reason))}")
    if template is None:
        show("  It was written by another version of this program, is not used, and will be learned again.")
        return
    for line in knowledge_lines(template):
        show(f"  {line}")


def knowledge_lines(template: "Template") -> Iterator[str]:
    from headwater.reports.templates import knowledge_of

    known = knowledge_of(template)
    for one in known["containers"]:
        yield f"text stands in {inert(one['selector'])}, {one['most_a_page']} a page at most"
        for mark, name in (("+", "kept"), (MINUS, "dropped"), (MINUS, "nothing_kept_below")):
            yield from path_lines(mark, one[name], " and all below" if name == "nothing_kept_below" else "")
    if known["required"]:
        yield f"only for pages where {inert(', '.join(map(feature_in_words, known['required'])))}"
    yield "; ".join(f"{name}: {inert(place_in_words(place))}" for name, place in known["places"].items())
    yield "on the pages it learned from:"
    yield from (f"  {range_in_words(name)} {value:,g}" for name, value in known["ranges"].items())
    if known["blocks_of_the_host"]:
        yield f"{counted(known['blocks_of_the_host'], 'text')} that the host repeats on its pages are left out"


def path_lines(mark: str, paths: Sequence[str], after: str) -> Iterator[str]:
    yield from (f"  {mark} {shortened(path, WIDEST_TEXT)}{after}" for path in paths[:SHOWN_PATHS])
    if len(paths) > SHOWN_PATHS:
        yield f"  {mark} … {len(paths) - SHOWN_PATHS} more; --json has them"


def known_of(found: "Schooling", one: "Version") -> dict[str, Any]:
    from headwater.reports.templates import knowledge_of

    template = found.templates[one.version]
    return {"section": one.section, "version": one.version} | (knowledge_of(template) if template else {})


def version_line(one: "Version", now: datetime) -> str:
    where = f" for /{inert(one.section)}/" if one.section else ""
    ended = f"{one.status} {relative(one.ended_at, now)}: {inert(one.why_ended)}" if one.ended_at else "in use"
    taught = f"learned {relative(one.learned_at, now)} from {counted(one.pages, 'page')}"
    return f"  {one.version:3}{where}  {taught}, served {one.served:,}, refused {one.refused:,}; {ended}"


def show_events(events: "Sequence[Happened]", now: datetime) -> None:
    rows = [(relative(one.at, now), inert(one.actor), shortened(one.message, WIDEST_TEXT)) for one in events]
    show_table(("when", "who", "what happened"), rows)


def explained_lines(parts: Sequence[Block | str], *, is_whole: bool) -> Iterator[str]:
    """One line a block; a run of blocks outside the container is one line, unless all are wanted."""
    for is_run, run in groupby(parts, lambda one: not is_whole and isinstance(one, Block) and one.why == OUTSIDE):
        if is_run:
            yield f"  {MINUS} … {counted(len(list(run)), 'block')} {OUTSIDE}"
        else:
            yield from map(line_of, run)


def line_of(part: Block | str) -> str:
    if isinstance(part, str):
        return inert(part)
    mark = "+" if part.kept else MINUS
    cut = "…" if len(part.text) >= EXPLAINED_TEXT else ""
    return f"  {mark} {shortened(part.text, WIDEST_TEXT)}{cut}  [{inert(part.where)}: {inert(part.why)}]"


def verdict_of(found: "Explained") -> str:
    reader = inert(reader_in_words(found.template))
    match found.answer:
        case "served":
            return f"Served: read by {reader}."
        case "refused":
            why = inert(reason_in_words(found.why))
            return f"Refused by {reader}: the page {why}. It is read by the general extractor."
        case "unasked":
            return f"Read by {inert(reader_in_words(found.why))}, which comes before {reader}."
    return f"No article: {inert(found.why)}."


async def stored_page(services: "Services", url: str) -> "KeptBody":
    from headwater.cli.docs_show import body_of

    try:
        return await body_of(services, url)
    except NotFound:
        raise NotFound(
            f"No page is stored for {url}.",
            fix=f"Pages are kept for keep.raw_days days after a fetch. What became of it: headwater explain {url}",
        ) from None


async def why_no_template(services: "Services", url: str) -> NotFound:
    from headwater.politeness.hosts import host_named
    from headwater.reports.templates import read_schooling, state_of

    host = host_named(url)
    pupil = (await read_schooling(services.database, host)).pupil
    sections = ", ".join(f"/{inert(one.section)}/" for one in pupil.active)
    state = f"only pages below {sections} are read by one" if sections else inert(state_of(pupil))
    return NotFound(f"No template reads this page of {host}: {state}.", fix=f"More: headwater templates show {host}")
