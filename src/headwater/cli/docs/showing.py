"""`headwater docs show`: one document, as people read it, as programs want it, or as it was sent."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.docs.group import WIDEST_TITLE, Flag
from headwater.cli.files import why_unwritten
from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show, show_bytes, show_json, show_table
from headwater.cli.words import inert, quantity, shorten
from headwater.errors import UsageError
from headwater.reports.template_words import reader_in_words
from headwater.rights.record import PageUse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.archive.raw import KeptBody
    from headwater.archive.reads import StoredBlocks, StoredVersion
    from headwater.reports.archive import Claim
    from headwater.reports.documents import Inspected
    from headwater.services import Services

_FACTS = ("level", "depth", "number", "language", "label", "at")
RELATIONS = {"duplicate_of": "says the same as", "near": "says nearly the same as", "duplicate": "is copied by"}


def show_document(
    document: str,
    *,
    versions: Flag = False,
    blocks: Flag = False,
    markdown: Flag = False,
    raw: Flag = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], help="A file for --raw.")] = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Show a document: its text, origin, quality and earlier versions.

    Parameters
    ----------
    document
        Its URL in any spelling, or its id.
    versions
        What it said before, too.
    blocks
        What it is made of: headings, paragraphs, code, tables, pictures, entries of a live blog.
    markdown
        Only its text, as Markdown.
    raw
        The page as it was sent, byte for byte: into a file or a pipe, never to a terminal.
    """
    if raw:
        write_bytes(with_services(launch, lambda services: _body(services, document)).raw.body, output)
        return

    async def work(services: "Services") -> tuple["Inspected", "StoredBlocks"]:
        from headwater.reports.documents import blocks_named, inspect_document

        return await inspect_document(services.database, document), await blocks_named(services.database, document)

    inspected, made_of = with_services(launch, work)
    found, past = inspected.document, inspected.versions
    if json:
        from headwater.shapes.archive import blocks_as_dict, document_as_dict, version_as_dict

        told_past = {"versions": [version_as_dict(one) for one in past]} if versions else {}
        told_blocks = blocks_as_dict(made_of) if blocks or markdown else {}
        show_json(document_as_dict(inspected) | told_past | told_blocks)
        return
    if markdown:
        show_markdown(made_of)
        return
    for line in document_lines(inspected):
        show(line)
    if versions:
        show_versions(past)
    show("")
    if blocks:
        show_blocks(made_of)
        return
    for line in found.text.splitlines():
        # Code has its indentation.
        show(f"{' ' * (len(line) - len(line.lstrip(' ')))}{inert(line)}")


def show_markdown(made_of: "StoredBlocks") -> None:
    from headwater.blocks.markdown import markdown_of

    for line in markdown_of(made_of.blocks).splitlines():
        show(f"{' ' * (len(line) - len(line.lstrip(' ')))}{inert(line)}")


def show_blocks(made_of: "StoredBlocks") -> None:
    """A line each, with as much of it as a line holds."""
    from headwater.blocks.block import json_of

    rows = []
    for block in made_of.blocks:
        said = json_of(block)
        told = said.get("text") or " | ".join(block.rows[0] if block.rows else ()) or block.caption or block.url
        facts = [f"{name} {said[name]}" for name in _FACTS if name in said]
        facts += [f"{len(block.rows)} rows"] if block.rows else []
        rows.append((str(block.kind), ", ".join(facts), shorten(told, WIDEST_TITLE)))
    show_table(("kind", "", "text"), rows)


async def _body(services: "Services", document: str) -> "KeptBody":
    from headwater.reports.documents import body_of

    return await body_of(services.database, document, services.stores)


def document_lines(inspected: "Inspected") -> list[str]:
    found, source = inspected.document, inspected.source
    parts = ", ".join(f"{name} {points}" for name, points in found.quality_parts.items())
    dates = {
        "published": found.published_at,
        "updated": found.updated_at,
        "first seen": found.first_seen_at,
        "changed": found.changed_at,
    }
    facts = (found.page_type, found.language, quantity(found.word_count, "word"), found.section)
    deleted = f"deleted {found.deleted_at:%Y-%m-%d %H:%M}: {inert(found.deleted_reason)}" if found.deleted_at else ""
    lines = (
        inert(found.url),
        f"by {inert(found.author)}, {inert(source)}" if found.author else inert(source),
        ", ".join(f"{name} {at:%Y-%m-%d %H:%M}" for name, at in dates.items() if at),
        ", ".join(inert(fact) for fact in facts if fact),
        "" if found.quality is None else f"quality {found.quality} of 100: {inert(parts)}",
        *rights_lines(found.rights),
        f"read by {inert(reader_in_words(found.produced_by))}",
        f"{quantity(len(inspected.versions), 'version')}, id {found.key.url_hash.hex()}",
        in_words(inspected.claim) if inspected.claim else "",
        *(f"{RELATIONS[one.relation]} {inert(one.url)}" for one in inspected.relatives),
        deleted,
    )
    return [inert(found.title) or "(no title)", *(f"  {line}" for line in lines if line)]


def rights_lines(rights: "Mapping[str, Any]") -> list[str]:
    """The answers about use, and under them who said what; nothing where nothing was said."""
    if not rights["statements"]:
        return []
    answers = ", ".join(f"{use} {rights[use]}" for use in PageUse)
    return [f"rights: {answers}", *(f"  {one['place']}: {inert(one['said'])}" for one in rights["statements"])]


def in_words(claim: "Claim") -> str:
    belief = f"not believed, because {inert(claim.why_not)}" if claim.why_not else "believed"
    return f"calls {inert(claim.url)} canonical; {belief}"


def show_versions(past: "Sequence[StoredVersion]") -> None:
    show("")
    rows = [
        (
            str(one.version),
            f"{one.changed_at:%Y-%m-%d %H:%M}",
            f"{one.replaced_at:%Y-%m-%d %H:%M}" if one.replaced_at else "now",
            str(one.word_count),
            shorten(one.title, WIDEST_TITLE),
        )
        for one in past
    ]
    show_table(("version", "from", "until", "words", "title"), rows)


def write_bytes(body: bytes, output: Path | None) -> None:
    if output is None and sys.stdout.isatty():
        raise UsageError(
            "A page may hold anything and is not written to a terminal.", fix="Add -o FILE, or send it into a pipe."
        )
    if output is None:
        show_bytes(body)
        return
    if why := why_unwritten(output, [body]):
        raise UsageError(f"{output} cannot be written: {why}.")
    say(f"Wrote {quantity(len(body), 'byte')} to {output}")
