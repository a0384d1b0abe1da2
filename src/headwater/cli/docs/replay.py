"""`headwater docs reextract`: stored pages once more, by today's rules, without fetching."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from headwater.cli.docs.group import Flag
from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_json, show_table, terminal_width
from headwater.cli.serving import with_services
from headwater.cli.words import counted, inert, shortened
from headwater.reports.template_words import reader_in_words, reason_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.extract.pool.extraction_pool import ExtractionPool
    from headwater.ingest.difference import Difference
    from headwater.ingest.inspection import Compared, Inspection
    from headwater.ingest.replay import Replay, Replayed
    from headwater.services import Services

WIDEST_VALUE = 60
WIDEST_LINE = 110
# From so many columns on, two texts stand beside each other.
WIDE = 100
SHOWN_ROWS = 12
AROUND = 30  # letters of what two lines share, before the first in which they differ
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
    compare: Flag = False,
    limit: Pages | None = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Read the stored pages of a source again by its selectors and the extractor of today; nothing is fetched.

    A changed text becomes a new version of its document and is delivered. A page without any text now leaves its
    document as it is. Ctrl-C stops between two documents.

    Parameters
    ----------
    source
        Its id, address, host or name.
    dry_run
        Show the changes, and make none.
    compare
        Read every page by its host's template and by the general extractor, show how they differ, and change nothing.
    limit
        Look at so many pages only.
    """
    if compare:
        compare_pages(source, limit, is_json=json, launch=launch)
        return
    account = Account()

    async def work(services: "Services") -> None:
        from headwater.cli.progress import counting
        from headwater.reports.archive import count_stored_pages
        from headwater.run.extraction_pools import page_pool
        from headwater.sources.store import find_source

        found = await find_source(services.database, source)
        pages = await count_stored_pages(services.database, found.id)
        async with page_pool(services) as pool:
            with counting("pages", min(pages, limit or pages), is_shown=not dry_run and not json) as advance:
                async for one in replay_of(services, pool).over(found.id, limit=limit, stores=not dry_run):
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


def replay_of(services: "Services", pool: "ExtractionPool") -> "Replay":
    from headwater.ingest.page_context import Context
    from headwater.ingest.page_reader import PageReader
    from headwater.ingest.reading import Reader
    from headwater.ingest.replay import Replay
    from headwater.learning.template_cache import TemplateCache
    from headwater.net.identity import identity_of
    from headwater.run.extraction_pools import pool_size_of

    settings = services.settings
    reader = Reader(pool, identity_of(settings.fetch).product_token)
    template_cache = TemplateCache(services.clock, services.random, is_open=settings.extract.templates)
    page_reader = PageReader(Context(services.database, services.clock, template_cache), reader)
    return Replay(services.database, page_reader, pool_size_of(settings.extract))


def inspection_of(services: "Services", pool: "ExtractionPool") -> "Inspection":
    """By what was learned, also where `extract.templates` is off: to look is not to use."""
    from headwater.ingest.inspection import Inspection
    from headwater.ingest.page_context import Context
    from headwater.ingest.reading import Reader
    from headwater.learning.template_cache import TemplateCache
    from headwater.net.identity import identity_of
    from headwater.run.extraction_pools import pool_size_of

    settings = services.settings
    context = Context(services.database, services.clock, TemplateCache(services.clock, services.random))
    reader = Reader(pool, identity_of(settings.fetch).product_token)
    return Inspection(services.database, context, reader, pool_size_of(settings.extract))


def compare_pages(source: str, limit: int | None, *, is_json: bool, launch: Launch) -> None:
    pages: list[Compared] = []

    async def work(services: "Services") -> None:
        from headwater.run.extraction_pools import page_pool
        from headwater.sources.store import find_source

        found = await find_source(services.database, source)
        async with page_pool(services) as pool:
            async for one in inspection_of(services, pool).compare(found.id, limit=limit):
                pages.append(one)
                if not is_json:
                    tell_compared(one)

    try:
        with_services(launch, work)
    except KeyboardInterrupt:
        say(f"Stopped after {counted(len(pages), 'page')}.")
        raise
    if is_json:
        show_json({"summary": summary_of(pages), "pages": [asdict(one) for one in pages]})
        return
    for line in summed_up(summary_of(pages)):
        say(line)


def tell_compared(one: "Compared") -> None:
    words = f"general extractor {counted(one.general_words, 'word')}, template {one.template_words:,}"
    told = {
        "served": words,
        "refused": reason_in_words(one.why),
        "unasked": one.why if one.why == "no template" else f"read by {reader_in_words(one.why)}",
        "nothing": f"no article: {one.why}",
    }[one.answer]
    likeness = percent(one.likeness) if one.answer == "served" else ""
    show(f"{one.answer:8} {likeness:>6}  {inert(one.url)}  ({inert(told)})")
    if one.rows:
        show_rows(one.rows)


def show_rows(rows: "Sequence[tuple[str, str]]") -> None:
    """Lines of two texts: beside each other where there is room, else below each other."""
    shown = [from_difference(*row) for row in rows[:SHOWN_ROWS]]
    width = terminal_width()
    if width >= WIDE:
        # Two lines of each are enough to know what it is.
        cells = [tuple(shortened(line, width - 10) for line in row) for row in shown]
        show_table(("only the general extractor", "only the template"), cells)
    else:
        for general, template in shown:
            for mark, line in (("−", general), ("+", template)):
                if line:
                    show(f"    {mark} {shortened(line, WIDEST_LINE)}")
    if len(rows) > SHOWN_ROWS:
        show(f"    … {len(rows) - SHOWN_ROWS} more; --json has them")


def from_difference(one: str, other: str) -> tuple[str, str]:
    """Two lines without what both begin with, but for its end."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))) - AROUND
    return (f"…{one[shared:]}", f"…{other[shared:]}") if shared > AROUND else (one, other)


def percent(share: float) -> str:
    """Rounded down: what is not the same is never said to be."""
    return f"{int(share * 100)} %"


def summary_of(pages: "Sequence[Compared]") -> dict[str, Any]:
    from headwater.ingest.inspection import ALIKE

    served = [one.likeness for one in pages if one.answer == "served"]
    return {
        "pages": len(pages),
        "served": len(served),
        "refused": Counter(one.why for one in pages if one.answer == "refused"),
        "unasked": Counter(one.why for one in pages if one.answer == "unasked"),
        "nothing": sum(one.answer == "nothing" for one in pages),
        "mean_likeness": round(mean(served), 4) if served else None,
        "differ": sum(one < ALIKE for one in served),
    }


def summed_up(found: "Mapping[str, Any]") -> list[str]:
    unasked = {why: why if why == "no template" else f"read by {reader_in_words(why)}" for why in found["unasked"]}
    parts = [
        f"{found['served']:,} read by a template" if found["served"] else "",
        f"{found['refused'].total():,} refused" if found["refused"] else "",
        *(f"{count:,} {unasked[why]}" for why, count in found["unasked"].most_common()),
        f"{found['nothing']:,} no article" if found["nothing"] else "",
    ]
    lines = [f"{counted(found['pages'], 'page')}: {', '.join(filter(None, parts)) or 'nothing is stored'}."]
    lines += [f"  refused {count:,}: {reason_in_words(why)}" for why, count in found["refused"].most_common()]
    if found["served"]:
        alike = f"The template and the general extractor share {percent(found['mean_likeness'])} of words and lines"
        lines.append(f"{alike}; {found['differ']:,} of {found['served']:,} pages below 95 %.")
    return [*lines, "Nothing was changed."]


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
