"""`headwater docs reextract` and `docs inspect`: stored pages once more, by today's rules, without fetching."""

from dataclasses import asdict
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from headwater.cli.docs.group import Flag
from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json, show_table, terminal_width
from headwater.cli.words import inert, quantity, shorten
from headwater.reports.template_words import reader_in_words, reason_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.ingest.difference import Difference
    from headwater.ingest.inspection import Compared, InspectedPage, TemplateComparison
    from headwater.ingest.replay import Replayed
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


def inspect(
    url: str,
    *,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Explain which readings there are of a stored page, how long each is, and why one of them became its text.

    Parameters
    ----------
    url
        Of a page that was fetched and is still stored, or the id of its document; nothing is fetched.
    """

    async def work(services: "Services") -> "InspectedPage":
        from headwater.actions.rereading import inspect_page

        return await inspect_page(services, url)

    found = with_services(launch, work)
    if json:
        show_json(asdict(found))
        return
    for line in inspection_lines(found):
        show(line)


def inspection_lines(found: "InspectedPage") -> list[str]:
    lines = [
        f"{'+' if one.producer == found.chosen else '−'} {quantity(one.words, 'word')} by "
        f"{inert(reader_in_words(one.producer))}: {inert(one.why)}"
        for one in found.readings
    ]
    verdict = f"The text is read by {inert(reader_in_words(found.chosen))}." if found.chosen else ""
    return [*lines, verdict or f"No text: {inert(reason_in_words(found.why))}."]


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
        show_comparison(source, limit, is_json=json, launch=launch)
        return
    from headwater.actions.rereading import Account

    account = Account()
    kept: list[Replayed] = []

    async def work(services: "Services") -> None:
        from headwater.actions.rereading import reextract as read_again
        from headwater.cli.progress import counting

        with counting("pages", None, is_shown=not dry_run and not json) as advance:

            def on_page(one: "Replayed") -> None:
                if json and one.outcome not in QUIET:
                    kept.append(one)
                elif not json and (dry_run or one.outcome == "lost"):
                    tell(one)
                advance(1, account.pages)

            await read_again(services, source, account, on_page, limit=limit, stores=not dry_run)

    try:
        with_services(launch, work)
    except KeyboardInterrupt:
        say(f"Stopped after {outcomes_in_words(account.outcomes, is_dry=dry_run)}")
        raise
    if json:
        from headwater.shapes.archive import replayed_as_dict

        show_json({"dry_run": dry_run, "counts": account.outcomes, "pages": [replayed_as_dict(one) for one in kept]})
    else:
        say(outcomes_in_words(account.outcomes, is_dry=dry_run))


def show_comparison(source: str, limit: int | None, *, is_json: bool, launch: Launch) -> None:
    from headwater.ingest.inspection import summary_of

    pages: list[Compared] = []

    async def work(services: "Services") -> None:
        from headwater.actions.rereading import compare_pages

        def on_page(one: "Compared") -> None:
            pages.append(one)
            if not is_json:
                tell_compared(one)

        await compare_pages(services, source, on_page, limit)

    try:
        with_services(launch, work)
    except KeyboardInterrupt:
        say(f"Stopped after {quantity(len(pages), 'page')}.")
        raise
    if is_json:
        show_json({"summary": figures_of(summary_of(pages)), "pages": [asdict(one) for one in pages]})
        return
    for line in summary_lines(summary_of(pages)):
        say(line)


def tell_compared(one: "Compared") -> None:
    words = f"general extractor {quantity(one.general_words, 'word')}, template {one.template_words:,}"
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
        cells = [tuple(shorten(line, width - 10) for line in row) for row in shown]
        show_table(("only the general extractor", "only the template"), cells)
    else:
        for general, template in shown:
            for mark, line in (("−", general), ("+", template)):
                if line:
                    show(f"    {mark} {shorten(line, WIDEST_LINE)}")
    if len(rows) > SHOWN_ROWS:
        show(f"    … {len(rows) - SHOWN_ROWS} more; --json has them")


def from_difference(one: str, other: str) -> tuple[str, str]:
    """Two lines without what both begin with, but for its end."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))) - AROUND
    return (f"…{one[shared:]}", f"…{other[shared:]}") if shared > AROUND else (one, other)


def percent(share: float) -> str:
    """Rounded down: what is not the same is never said to be."""
    return f"{int(share * 100)} %"


def figures_of(found: "TemplateComparison") -> dict[str, Any]:
    """Not by asdict, which cannot copy a counter."""
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


def summary_lines(found: "TemplateComparison") -> list[str]:
    unasked = {why: why if why == "no template" else f"read by {reader_in_words(why)}" for why in found.unasked}
    parts = [
        f"{found.served:,} read by a template" if found.served else "",
        f"{found.refused.total():,} refused" if found.refused else "",
        *(f"{count:,} {unasked[why]}" for why, count in found.unasked.most_common()),
        f"{found.nothing:,} no article" if found.nothing else "",
    ]
    lines = [f"{quantity(found.pages, 'page')}: {', '.join(filter(None, parts)) or 'nothing is stored'}."]
    lines += [f"  refused {count:,}: {reason_in_words(why)}" for why, count in found.refused.most_common()]
    if found.mean_likeness is not None:
        alike = f"The template and the general extractor share {percent(found.mean_likeness)} of words and lines"
        lines.append(f"{alike}; {found.differ:,} of {found.served:,} pages below 95 %.")
    return [*lines, "Nothing was changed."]


def tell(one: "Replayed") -> None:
    if one.outcome in QUIET:
        return
    show(f"{one.outcome:7}  {inert(one.url)}" + (f"  ({shorten(one.why, WIDEST_LINE)})" if one.why else ""))
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
        *(f"- {shorten(line, WIDEST_LINE)}" for line in found.lines_gone),
        *(f"+ {shorten(line, WIDEST_LINE)}" for line in found.lines_come),
    ]


def brief(value: Any) -> str:
    if value is None or value == "" or value == []:
        return "nothing"
    return shorten(", ".join(value) if isinstance(value, list) else value, WIDEST_VALUE)


def outcomes_in_words(outcomes: "Mapping[str, int]", *, is_dry: bool) -> str:
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
    return f"{quantity(sum(outcomes.values()), 'page')}: {', '.join(told) or 'nothing is stored'}."
