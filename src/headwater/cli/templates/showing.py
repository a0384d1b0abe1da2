"""Hosts, templates and explained pages as a person reads them in a terminal."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from headwater.cli.output import show, show_table, terminal_width
from headwater.cli.words import due, inert, quantity, relative, shorten
from headwater.reports.template_words import (
    feature_in_words,
    outcome_in_words,
    place_in_words,
    range_in_words,
    reader_in_words,
    reason_in_words,
)

if TYPE_CHECKING:
    from headwater.extraction.templates.explain import ExplainedBlock, TemplateExplanation
    from headwater.extraction.templates.template import Template
    from headwater.ingest.inspection import Explained
    from headwater.reports.templates import HostReport, TemplateEvent, TemplateVersion
SHOWN_PATHS = 8
WIDEST_TEXT = 100
EXPLAINED_TEXT = 80  # letters of a block that its explanation quotes
MINUS = "−"
OUTSIDE = "outside the container"
COLUMNS = ("host", "section", "version", "status", "served", "refused", "agreement", "learned", "next training")
WIDE = 110


def show_hosts(rows: Sequence[Sequence[str]]) -> None:
    """A table, or where a terminal is too narrow for it, two lines a host."""
    width = terminal_width()
    if not width or width >= WIDE:
        show_table(COLUMNS, rows)
        return
    for host, section, *cells in rows:
        told = [f"{name} {cell}" for name, cell in zip(COLUMNS[2:], cells, strict=True) if cell]
        show(f"{host}/{section}" if section else host)
        show(f"  {' · '.join(told)}")


def rows_of(host_learning: "HostReport", now: datetime) -> list[Sequence[str]]:
    from headwater.reports.templates import state_of

    host, state, coming = (
        inert(host_learning.host),
        shorten(state_of(host_learning), 60),
        next_training_of(host_learning, now),
    )
    if not host_learning.active:
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
        for one in host_learning.active
    ]


def next_training_of(host_learning: "HostReport", now: datetime) -> str:
    from headwater.reports.templates import pages_wanted

    if host_learning.disabled_at:
        return "if you ask"
    if host_learning.learn_at:
        return due(host_learning.learn_at, now)
    return "on drift" if host_learning.active else f"after {quantity(pages_wanted(host_learning), 'more page')}"


def in_percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f} %"


def show_learning(host_learning: "HostReport", now: datetime) -> None:
    from headwater.reports.templates import state_of

    show(f"{host_learning.host}: {inert(state_of(host_learning))}")
    # Only so many pages are kept to learn from: more may have come since.
    fresh = min(host_learning.fresh, host_learning.pages)
    show(
        f"  {quantity(host_learning.pages, 'stored page')} to learn from, {fresh:,} of them new since the last training"
    )
    if host_learning.learned_at:
        outcome = inert(outcome_in_words(host_learning.outcome))
        show(f"  last training {relative(host_learning.learned_at, now)}: {outcome}")
    why = f" ({inert(host_learning.why)})" if host_learning.learn_at and host_learning.why else ""
    show(f"  next training {next_training_of(host_learning, now)}{why}")


def show_version(one: "TemplateVersion", template: "Template | None", now: datetime) -> None:
    where = f"pages below /{inert(one.section)}/" if one.section else "the whole host"
    show(
        f"Version {one.version} for {where}, learned {relative(one.learned_at, now)} from {quantity(one.pages, 'page')}"
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
        yield f"{quantity(known['blocks_of_the_host'], 'text')} that the host repeats on its pages are left out"
    if known["house_names"]:
        yield f"{inert(', '.join(known['house_names']))} gives way as author to any person a page names"


def path_lines(mark: str, paths: Sequence[str], after: str) -> Iterator[str]:
    yield from (f"  {mark} {shorten(path, WIDEST_TEXT)}{after}" for path in paths[:SHOWN_PATHS])
    if len(paths) > SHOWN_PATHS:
        yield f"  {mark} … {len(paths) - SHOWN_PATHS} more; --json has them"


def version_line(one: "TemplateVersion", now: datetime) -> str:
    where = f" for /{inert(one.section)}/" if one.section else ""
    ended = f"{one.status} {relative(one.ended_at, now)}: {inert(one.why_ended)}" if one.ended_at else "in use"
    learned_templates = f"learned {relative(one.learned_at, now)} from {quantity(one.pages, 'page')}"
    return f"  {one.version:3}{where}  {learned_templates}, served {one.served:,}, refused {one.refused:,}; {ended}"


def show_events(events: "Sequence[TemplateEvent]", now: datetime) -> None:
    rows = [(relative(one.at, now), inert(one.actor), shorten(one.message, WIDEST_TEXT)) for one in events]
    show_table(("when", "who", "what happened"), rows)


def explanation_lines(found: "TemplateExplanation", *, is_whole: bool) -> Iterator[str]:
    """The features the page lacks, then each variant with its blocks."""
    for name in found.missing:
        yield f"The page lacks what every page it learned from had: {inert(feature_in_words(name))}."
    for one in found.tried:
        against = f"the page {inert(reason_in_words(one.against))}" if one.against else "served"
        yield f"{inert(one.selector)}: {against}"
        yield from piece_lines(one.pieces, is_whole=is_whole)


def piece_lines(pieces: "Sequence[ExplainedBlock]", *, is_whole: bool) -> Iterator[str]:
    """One line a block; a run of blocks outside the container is one line, unless all are wanted."""
    for is_run, run in groupby(pieces, lambda one: not is_whole and one.why == OUTSIDE):
        if is_run:
            yield f"  {MINUS} … {quantity(len(list(run)), 'block')} {OUTSIDE}"
        else:
            yield from map(line_of, run)


def line_of(piece: "ExplainedBlock") -> str:
    mark = "+" if piece.kept else MINUS
    cut = "…" if len(piece.text) >= EXPLAINED_TEXT else ""
    return f"  {mark} {shorten(piece.text, WIDEST_TEXT)}{cut}  [{inert(piece.where)}: {inert(piece.why)}]"


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
