"""`headwater takedown`: what we were asked to leave alone."""

from typing import TYPE_CHECKING, Any

from cyclopts import App

from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit
from headwater.cli.output import say, say_more, show, show_json, show_table
from headwater.cli.serving import with_services
from headwater.cli.words import inert, quantity

if TYPE_CHECKING:
    from headwater.ingest.taking_down import TakedownResult
    from headwater.reports.paging import Page
    from headwater.services import Services

app = App(name="takedown", help="Domains and URLs that are never visited: add, list, lift.")


@app.command(name="add")
def add(domain_or_url: str, *, reason: str = "", launch: Launched = Launch()) -> None:  # noqa: B008
    """Never visit a domain with its subdomains and ports, one port, or URLs that begin so; withdraw what is stored.

    Parameters
    ----------
    domain_or_url
        example.org, example.org:8080 for that port only, or https://example.org/members.
    reason
        Who asked, and why.
    """

    async def work(services: "Services") -> "tuple[str, TakedownResult]":
        from headwater.ingest.taking_down import take_down_everywhere
        from headwater.politeness.takedown import parse_takedown

        takedown = parse_takedown(domain_or_url)
        return takedown.name, await take_down_everywhere(services.database, takedown, reason)

    name, done = with_services(launch, work)
    vacancies = quantity(done.vacancies, "vacancy", "vacancies")
    ended = f"{quantity(done.entries, 'URL')} ended, {quantity(done.documents, 'document')} and {vacancies}"
    show(f"{_said(domain_or_url, name)} is taken down; {ended} withdrawn.")
    if not done.is_whole:
        under_way = (
            f"{quantity(done.living, 'URL')} being fetched right now" if done.living else "other work is under way"
        )
        show(f"No page of it is stored from now on; {under_way}, and maintenance ends the rest.")


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

    async def work(services: "Services") -> "Page[Any]":
        from headwater.reports.paging import page_of_takedowns

        return await page_of_takedowns(services.database, limit, cursor)

    page = with_services(launch, work)
    rows, following = page.items, page.cursor
    if json:
        show_json({"takedowns": [dict(row) for row in rows], "cursor": following})
        return
    if not rows:
        say("No more takedowns." if cursor else "Nothing is taken down. Add one: headwater takedown add example.org")
        return
    show_table(
        ("domain or URL", "since", "state", "reason"),
        [
            (
                row["domain_or_url"],
                f"{row['created_at']:%Y-%m-%d}",
                "applied" if row["swept_at"] else "still being applied",
                row["reason"] or "",
            )
            for row in rows
        ],
        below=("domain or URL",),
    )
    say_more(following)
