"""`headwater templates`: the learned templates of hosts, why a page is read as it is, and how to change it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from headwater.cli.launch import ACTOR, AsJson, Cursor, Launch, Launched, with_services
from headwater.cli.output import say, say_more, show, show_json
from headwater.cli.templates.showing import (
    explanation_lines,
    rows_of,
    show_events,
    show_hosts,
    show_learning,
    show_version,
    verdict_of,
    version_line,
)
from headwater.cli.words import quantity
from headwater.errors import NotFound
from headwater.shapes.templates import learning_as_dict, schooling_as_dict

if TYPE_CHECKING:
    from datetime import datetime

    from headwater.ingest.inspection import Explained
    from headwater.reports.paging import ListPage
    from headwater.reports.templates import HostReport, Schooling
    from headwater.services import Services
app = App(name="templates", help="Page layouts learned for each host: list, show, explain, learn again, switch off.")
HostArgument = Annotated[
    str, Parameter(help="Its name, with its port if that is not the usual one, or any address there.")
]


@app.command(name="list")
def list_hosts(
    *,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List hosts: which are read by a learned template and how well, which are not and why.

    Parameters
    ----------
    limit
        Hosts per page.
    """

    async def work(services: "Services") -> "tuple[ListPage[HostReport], datetime]":
        from headwater.reports.templates import page_of_learning, server_time

        return await page_of_learning(services.database, limit, cursor), await server_time(services.database)

    page, now = with_services(launch, work)
    learning_hosts, following = page.items, page.cursor
    if json:
        show_json({"hosts": [learning_as_dict(one) for one in learning_hosts], "cursor": following})
        return
    if not learning_hosts:
        say("No more hosts." if cursor else "Nothing is learned yet: no article page has been read.")
        return
    show_hosts([row for one in learning_hosts for row in rows_of(one, now)])
    say_more(following)


@app.command(name="show")
def show_host(
    host: HostArgument,
    *,
    version: int | None = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Show the templates of a host: where its text stands, blocks kept and dropped, versions and history.

    Parameters
    ----------
    version
        This version instead of those in use.
    """

    async def work(services: "Services") -> "tuple[Schooling, datetime]":
        from headwater.politeness.hosts import site_of
        from headwater.reports.templates import read_schooling, server_time

        return await read_schooling(services.database, site_of(host)), await server_time(services.database)

    found, now = with_services(launch, work)
    host_learning = found.host_learning
    chosen = (
        host_learning.active if version is None else [one for one in host_learning.versions if one.version == version]
    )
    if version is not None and not chosen:
        known = ", ".join(str(one.version) for one in host_learning.versions) or "none"
        raise NotFound(f"{host_learning.host} has no template version {version}.", fix=f"It has: {known}.")
    if json:
        show_json(schooling_as_dict(found, chosen))
        return
    show_learning(host_learning, now)
    for one in chosen:
        show("")
        show_version(one, found.templates[one.version], now)
    if host_learning.versions:
        show("")
        show("Versions, the newest first")
        for one in host_learning.versions:
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
    """Explain how a stored page is read by its host's template: each block, kept or dropped, and why.

    Parameters
    ----------
    url
        Of a page that was fetched and is still stored; nothing is fetched.
    """

    async def work(services: "Services") -> "Explained":
        from headwater.actions.rereading import explain_page

        return await explain_page(services, url)

    found = with_services(launch, work)
    if json:
        show_json({"url": url, **asdict(found)})
        return
    for line in explanation_lines(found.explanation, is_whole=all_):
        show(line)
    show(verdict_of(found))


@app.command(name="relearn")
def relearn(host: HostArgument, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Learn a host again from its stored pages, also where it was disabled; its templates stay in use until then."""

    async def work(services: "Services") -> "tuple[HostReport, bool]":
        from headwater.learning.store import relearn as ask
        from headwater.politeness.hosts import site_of
        from headwater.reports.templates import read_schooling

        name = site_of(host)
        await ask(services.database, name, ACTOR)
        return (await read_schooling(services.database, name)).host_learning, services.settings.extract.templates

    host_learning, is_on = with_services(launch, work)
    show(
        f"{host_learning.host} will be learned from {quantity(host_learning.pages, 'stored page')}"
        " by the next process that fetches."
    )
    say(f"What came of it: headwater templates show {host_learning.host}")
    if not is_on:
        say("extract.templates is off here: a process with this setting neither learns templates nor uses them.")


@app.command(name="disable")
def disable(host: HostArgument, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Read a host's pages by the general extractor, and learn no template of it until `relearn`."""

    async def work(services: "Services") -> tuple[str, int]:
        from headwater.learning.store import disable as switch_off
        from headwater.politeness.hosts import site_of

        name = site_of(host)
        return name, await switch_off(services.database, name, ACTOR)

    name, ended = with_services(launch, work)
    show(f"Within a minute {name} is read by the general extractor; {quantity(ended, 'template')} ended.")
    say(f"To have it learned again: headwater templates relearn {name}")
