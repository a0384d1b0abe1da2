"""`headwater takedown`: what we were asked to leave alone."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cyclopts import App

from headwater.cli.consent import Yes, require_consent
from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit, with_services
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.pages import PageTable, show_page
from headwater.cli.words import inert, quantity

if TYPE_CHECKING:
    from headwater.actions.takedowns import SinkRemoval, TakedownStory
    from headwater.ingest.taking_down import TakedownResult
    from headwater.politeness.takedown_requests import TakedownRequest
    from headwater.reports.paging import ListPage
    from headwater.services import Services

A_PERSON = "a person"

app = App(name="takedown", help="Domains and URLs that are never visited, and what site owners ask for.")


@app.command(name="add")
def add(
    domain_or_url: str,
    *,
    reason: str = "",
    yes: Yes = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Never visit a domain with its subdomains and ports, one port, or URLs that begin so; withdraw what is stored.

    A whole domain or port that documents are stored of is only taken down after a question.

    Parameters
    ----------
    domain_or_url
        example.org, example.org:8080 for that port only, or https://example.org/members.
    reason
        Who asked, and why.
    """
    if not yes and (question := with_services(launch, lambda services: _question(services, domain_or_url))):
        require_consent(question, is_given=False)

    async def work(services: "Services") -> "tuple[str, TakedownResult]":
        from headwater.ingest.taking_down import take_down_everywhere
        from headwater.politeness.takedown import parse_takedown

        takedown = parse_takedown(domain_or_url)
        return takedown.name, await take_down_everywhere(services.database, takedown, reason)

    name, done = with_services(launch, work)
    tell_taken_down(_said(domain_or_url, name), done)


def tell_taken_down(name: str, done: "TakedownResult") -> None:
    vacancies = quantity(done.vacancies, "vacancy", "vacancies")
    ended = f"{quantity(done.entries, 'URL')} ended, {quantity(done.documents, 'document')} and {vacancies}"
    show(f"{inert(name)} is taken down; {ended} withdrawn.")
    if not done.is_whole:
        under_way = (
            f"{quantity(done.living, 'URL')} being fetched right now" if done.living else "other work is under way"
        )
        show(f"No page of it is stored from now on; {under_way}, and maintenance ends the rest.")


async def _question(services: "Services", domain_or_url: str) -> str:
    from headwater.actions.takedowns import question_before
    from headwater.politeness.takedown import parse_takedown

    takedown = parse_takedown(domain_or_url)
    question = await question_before(services.database, takedown)
    return question.replace(takedown.name, _said(domain_or_url, takedown.name), 1)


@app.command(name="rm")
def remove(domain_or_url: str, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Lift a takedown: channels there are polled at once. URLs it ended are queued again when a channel lists them.

    Parameters
    ----------
    domain_or_url
        As it was added.
    """

    async def work(services: "Services") -> str:
        from headwater.ingest.taking_down import lift_everywhere
        from headwater.politeness.takedown import parse_takedown

        takedown = parse_takedown(domain_or_url)
        await lift_everywhere(services.database, takedown)
        return takedown.name

    show(f"{_said(domain_or_url, with_services(launch, work))} may be visited again; its channels are due now.")


def _said(written: str, name: str) -> str:
    """As a person wrote it, with the name under which it is kept: http and https are one page."""
    own = inert(written.strip())
    return own if own == name else f"{own} (listed as {name})"


@app.command(name="list")
def list_takedowns(
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List takedowns by name.

    Parameters
    ----------
    limit
        Takedowns per page.
    """

    async def work(services: "Services") -> "ListPage[Any]":
        from headwater.reports.paging import page_of_takedowns

        return await page_of_takedowns(services.database, limit, cursor)

    show_page(
        with_services(launch, work),
        PageTable(
            "takedowns",
            dict,
            ("domain or URL", "since", "state", "reason"),
            lambda row: (
                row["domain_or_url"],
                f"{row['created_at']:%Y-%m-%d}",
                "applied" if row["swept_at"] else "still being applied",
                row["reason"] or "",
            ),
            if_empty="No more takedowns."
            if cursor
            else "Nothing is taken down. Add one: headwater takedown add example.org",
            below=("domain or URL",),
        ),
        as_json=json,
    )


@app.command(name="show")
def show_takedown(domain_or_url: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show a takedown: since when, whether it is applied, and for each sink whether its removals were delivered.

    Parameters
    ----------
    domain_or_url
        As it was added.
    """

    async def work(services: "Services") -> "TakedownStory":
        from headwater.actions.takedowns import takedown_story

        return await takedown_story(services, domain_or_url)

    found = with_services(launch, work)
    if json:
        from headwater.shapes.takedowns import story_as_dict

        show_json(story_as_dict(found))
        return
    because = f": {inert(found.reason)}" if found.reason else ""
    show(f"{found.takedown.name} is taken down since {found.created_at:%Y-%m-%d %H:%M:%S}{because}")
    applied = f"applied at {found.swept_at:%Y-%m-%d %H:%M:%S}" if found.swept_at else "still being applied"
    show(f"  archive: {applied}")
    for one in found.sinks:
        show(f"  sink {one.sink.name}: {removal_in_words(one)}")
    if not found.sinks:
        show("  there is no sink that could hold anything of it")


@app.command(name="requests")
def list_requests(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """List what site owners asked for at /crawler and nobody has decided, oldest first."""

    async def work(services: "Services") -> "list[TakedownRequest]":
        from headwater.politeness.takedown_requests import MOST_OPEN, open_requests

        return await open_requests(services.database, MOST_OPEN)

    found = with_services(launch, work)
    if json:
        from dataclasses import asdict

        show_json({"requests": [asdict(one) for one in found]})
        return
    if not found:
        say("No site owner waits for an answer.")
        return
    columns = ("id", "asked", "place", "by", "why")
    rows = [(str(one.id), f"{one.asked_at:%Y-%m-%d %H:%M}", one.place, one.contact, one.reason) for one in found]
    show_table(columns, [tuple(map(inert, row)) for row in rows], below=("place", "why"), whole=("id",))
    first = str(found[0].id)
    say("Look whether it is theirs to ask, and answer. For the first, one of:")
    say(f"  headwater takedown accept {first}")
    say(f"  headwater takedown refuse {first}")


@app.command(name="accept")
def accept(request: UUID, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Take down what a site owner asked for, and withdraw what is stored of it.

    Parameters
    ----------
    request
        Its id, as `headwater takedown requests` shows it.
    """

    async def work(services: "Services") -> "tuple[str, TakedownResult]":
        from headwater.actions.takedowns import grant_request
        from headwater.ingest.taking_down import sweep

        _, takedown, _ = await grant_request(services, request, A_PERSON)
        return takedown.name, await sweep(services.database, takedown)

    tell_taken_down(*with_services(launch, work))


@app.command(name="refuse")
def refuse(request: UUID, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Close the request of a site owner without a takedown; nobody is told of it.

    Parameters
    ----------
    request
        Its id, as `headwater takedown requests` shows it.
    """

    async def work(services: "Services") -> "TakedownRequest":
        from headwater.actions.takedowns import refuse_request

        return await refuse_request(services, request, A_PERSON)

    refused = with_services(launch, work)
    show(f"Refused: {inert(refused.place)}. Write to {inert(refused.contact)}.")


def removal_in_words(one: "SinkRemoval") -> str:
    from headwater.reports.sinks import state_word

    cannot = f"; it was told, but cannot take back: {inert(one.forgets_not)}" if one.forgets_not else ""
    if one.is_confirmed:
        return f"every removal was delivered{cannot}" if cannot else "it holds nothing of it"
    if not one.held:
        told = quantity(one.sink.behind, "change")
        return f"not confirmed: the sink is {state_word(one.sink)}, and {told} of the log are still to be sent to it"
    waits, behind = quantity(one.held, "record"), quantity(one.sink.behind, "change")
    return f"{waits} of it may still be there; the sink is {state_word(one.sink)}, {behind} behind"
