"""`headwater docs reextract`: stored pages once more, by today's rules, without fetching."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from headwater.cli.docs import Flag
from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_json
from headwater.cli.serving import with_services
from headwater.cli.words import counted, inert, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.extract.children import Children
    from headwater.ingest.replay import Difference, Replay, Replayed
    from headwater.services import Services

WIDEST_VALUE = 60
WIDEST_LINE = 110
# What has nothing to tell beside being counted.
QUIET = frozenset({"same", "nothing"})
Pages = Annotated[int, Parameter(validator=Number(gte=1))]


@dataclass
class Account:
    """How many of each outcome; also what a run that was interrupted had done."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kept: "list[Replayed]" = field(default_factory=list)

    def add(self, one: "Replayed", *, is_kept: bool) -> None:
        self.outcomes[one.outcome] += 1
        if is_kept and one.outcome not in QUIET:
            self.kept.append(one)


def reextract(
    *,
    source: str,
    dry_run: Flag = False,
    limit: Pages | None = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Read the stored pages of a source again by its selectors and the extractor of today; nothing is fetched.

    What changed becomes a new version of its document and is delivered. A page that yields nothing any more leaves its
    document as it is. Ctrl-C stops between two documents.

    Parameters
    ----------
    source
        Its id, address, host or name.
    dry_run
        Show what would change, and change nothing.
    limit
        Look at so many pages only.
    """
    account = Account()

    async def work(services: "Services") -> None:
        from headwater.cli.progress import counting
        from headwater.reports.archive import count_stored_pages
        from headwater.run.fetching import reading_children
        from headwater.sources.store import find_source

        found = await find_source(services.database, source)
        pages = await count_stored_pages(services.database, found.id)
        async with reading_children(services) as children:
            with counting("pages", min(pages, limit or pages), is_shown=not dry_run and not json) as advance:
                async for one in replay_of(services, children).over(found.id, limit=limit, stores=not dry_run):
                    account.add(one, is_kept=json)
                    if not json and (dry_run or one.outcome == "lost"):
                        tell(one)
                    advance(1)

    try:
        with_services(launch, work)
    except KeyboardInterrupt:
        say(f"Stopped after {summed(account.outcomes, is_dry=dry_run)}")
        raise
    if json:
        show_json({"dry_run": dry_run, "counts": account.outcomes, "pages": [told_of(one) for one in account.kept]})
    else:
        say(summed(account.outcomes, is_dry=dry_run))


def replay_of(services: "Services", children: "Children") -> "Replay":
    from headwater.ingest.context import Context
    from headwater.ingest.reading import Reader
    from headwater.ingest.replay import Replay
    from headwater.ingest.study import Study
    from headwater.learning.shelf import Shelf
    from headwater.net.identity import identity_of
    from headwater.run.fetching import children_of

    settings = services.settings
    reader = Reader(children, identity_of(settings.fetch).product_token)
    shelf = Shelf(services.clock, services.random, is_open=settings.extract.templates)
    study = Study(Context(services.database, services.clock, shelf), reader)
    return Replay(services.database, study, children_of(settings.extract))


def tell(one: "Replayed") -> None:
    if one.outcome in QUIET:
        return
    show(f"{one.outcome:7}  {inert(one.url)}" + (f"  ({shortened(one.why, WIDEST_LINE)})" if one.why else ""))
    if one.difference:
        for line in lines_of(one.difference):
            show(f"  {line}")


def lines_of(found: "Difference") -> list[str]:
    fields = [f"{name}: {brief(before)} → {brief(after)}" for name, (before, after) in found.fields.items()]
    if not found.lines_gone and not found.lines_come:
        return fields
    return [
        *fields,
        f"text: {found.likeness * 100:.0f} % of the words are the same",
        *(f"- {shortened(line, WIDEST_LINE)}" for line in found.lines_gone),
        *(f"+ {shortened(line, WIDEST_LINE)}" for line in found.lines_come),
    ]


def brief(value: Any) -> str:
    if value is None or value == "" or value == []:
        return "nothing"
    return shortened(", ".join(value) if isinstance(value, list) else value, WIDEST_VALUE)


def summed(outcomes: "Mapping[str, int]", *, is_dry: bool) -> str:
    would = "would be " if is_dry else ""
    words = {
        "changed": f"{would}changed",
        "new": f"{would}new documents",
        "same": "as they were",
        "lost": "found no more, left as they stand",
        "nothing": "without a document",
        "left": "not touched",
    }
    told = [f"{outcomes[name]:,} {said}" for name, said in words.items() if outcomes.get(name)]
    return f"{counted(sum(outcomes.values()), 'page')}: {', '.join(told) or 'nothing is stored'}."


def told_of(one: "Replayed") -> "dict[str, Any]":
    told = {"url": one.url, "outcome": one.outcome, "why": one.why or None}
    if one.difference is None:
        return told
    fields = {name: {"before": before, "after": after} for name, (before, after) in one.difference.fields.items()}
    return told | asdict(one.difference) | {"fields": fields}
