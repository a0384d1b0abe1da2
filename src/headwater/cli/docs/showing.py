"""`headwater docs show`: one document, as people read it, as programs want it, or as it was sent."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.docs.group import WIDEST_TITLE, Flag
from headwater.cli.files import why_unwritten
from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import say, show, show_bytes, show_json, show_table
from headwater.cli.serving import with_services
from headwater.cli.words import counted, inert, shortened
from headwater.errors import NotFound, UsageError
from headwater.reports.template_words import reader_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.archive.document import Key
    from headwater.archive.raw import KeptBody
    from headwater.archive.reads import Document, Version
    from headwater.reports.archive import Claim, Relative
    from headwater.services import Services

ID_LENGTH = 64
RELATIONS = {"duplicate_of": "says the same as", "near": "says nearly the same as", "duplicate": "is copied by"}
# Why a document was withdrawn -> in place of its title.
WORDLESS = {"takedown": "(taken down)", "too_old": "(removed for its age)"}


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a document: documents like it, and the page it calls canonical."""

    relatives: "Sequence[Relative]"
    claim: "Claim | None"

    @property
    def why_not(self) -> str | None:
        return self.claim.why_not or None if self.claim else None


def show_document(
    document: str,
    *,
    versions: Flag = False,
    raw: Flag = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], help="A file for --raw.")] = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Show a document: what it says, where it comes from, how good it is, what it was before.

    Parameters
    ----------
    document
        Its URL in any spelling, or its id.
    versions
        What it said before, too.
    raw
        The page as it was sent, byte for byte: into a file or a pipe, never to a terminal.
    """
    if raw:
        write_bytes(with_services(launch, lambda services: body_of(services, document)).raw.body, output)
        return

    async def work(services: "Services") -> "tuple[Document, str, Around, list[Version]]":
        from headwater.archive.reads import versions_of
        from headwater.reports.archive import claim_of, relatives_of
        from headwater.reports.frontier import source_names

        found = await document_named(services, document)
        names = await source_names(services.database, [found.source_id])
        source = names.get(found.source_id, str(found.source_id))
        past = await versions_of(services.database, found.key)
        around = Around(await relatives_of(services.database, found.key), await claim_of(services.database, found.key))
        return found, source, around, past

    found, source, around, past = with_services(launch, work)
    if json:
        related = [{"relation": one.relation, "id": one.hash.hex(), "url": one.url} for one in around.relatives]
        told = told_of(found) | {"source": source, "relatives": related, "why_not_canonical": around.why_not}
        show_json(told | ({"versions": [told_of(one) for one in past]} if versions else {}))
        return
    for line in described(found, source, around, len(past)):
        show(line)
    if versions:
        show_versions(past)
    show("")
    for line in found.text.splitlines():
        # Code has its indentation.
        show(f"{' ' * (len(line) - len(line.lstrip(' ')))}{inert(line)}")


def described(found: "Document", source: str, around: Around, versions: int) -> list[str]:
    parts = ", ".join(f"{name} {points}" for name, points in found.quality_parts.items())
    dates = {
        "published": found.published_at,
        "updated": found.updated_at,
        "first seen": found.first_seen_at,
        "changed": found.changed_at,
    }
    facts = (found.page_type, found.language, counted(found.word_count, "word"), found.section)
    deleted = f"deleted {found.deleted_at:%Y-%m-%d %H:%M}: {inert(found.deleted_reason)}" if found.deleted_at else ""
    lines = (
        inert(found.url),
        f"by {inert(found.author)}, {inert(source)}" if found.author else inert(source),
        ", ".join(f"{name} {at:%Y-%m-%d %H:%M}" for name, at in dates.items() if at),
        ", ".join(inert(fact) for fact in facts if fact),
        "" if found.quality is None else f"quality {found.quality} of 100: {inert(parts)}",
        f"read by {inert(reader_in_words(found.produced_by))}",
        f"{counted(versions, 'version')}, id {found.key.url_hash.hex()}",
        in_words(around.claim) if around.claim else "",
        *(f"{RELATIONS[one.relation]} {inert(one.url)}" for one in around.relatives),
        deleted,
    )
    return [inert(found.title) or "(no title)", *(f"  {line}" for line in lines if line)]


def in_words(claim: "Claim") -> str:
    belief = f"not believed, because {inert(claim.why_not)}" if claim.why_not else "believed"
    return f"calls {inert(claim.url)} canonical; {belief}"


def show_versions(past: "Sequence[Version]") -> None:
    show("")
    rows = [
        (
            str(one.version),
            f"{one.changed_at:%Y-%m-%d %H:%M}",
            f"{one.replaced_at:%Y-%m-%d %H:%M}" if one.replaced_at else "now",
            str(one.word_count),
            shortened(one.title, WIDEST_TITLE),
        )
        for one in past
    ]
    show_table(("version", "from", "until", "words", "title"), rows)


def told_of(record: Any) -> dict[str, Any]:
    """For programs: hashes in hex, keys as the ids of documents."""
    from headwater.archive.document import Key

    def plain(value: Any) -> Any:
        match value:
            case Key():
                return value.url_hash.hex()
            case bytes():
                return value.hex()
        return value

    fields = {name: getattr(record, name) for name in record.__dataclass_fields__}
    told = {name: plain(value) for name, value in fields.items()}
    return ({"id": told.pop("key")} if "key" in told else {}) | told


async def document_named(services: "Services", text: str) -> "Document":
    from headwater.archive.reads import find_document, read_document

    url_hash = _id_in(text)
    if url_hash is not None:
        found = await find_document(services.database, url_hash)
    else:
        found = await read_document(services.database, _key_of(text))
    if found is None and url_hash is None:
        raise await no_document(services, text)
    if found is None:
        raise NotFound(f"There is no document {text}.", fix="Search for it: headwater docs search WORDS")
    title = WORDLESS.get(found.deleted_reason or "")
    return without_words(found, title) if title else found


async def no_document(services: "Services", text: str) -> NotFound:
    """With the reason, as `headwater explain` tells it."""
    from headwater.reports.pages import story_of
    from headwater.urls.canonical import canonicalise

    story = await story_of(services.database, canonicalise(text))
    why = story.document.removeprefix("none").removeprefix(": ").removeprefix(" yet: ").strip()
    status = story.why if story.status in ("unknown", "dead", "failed") else story.status
    told = f" {status}; {why}" if why else f" {status}"
    return NotFound(f"There is no document {text}:{told}.", fix=f"Next: {story.next}")


def without_words(found: "Document", title: str) -> "Document":
    """It is shown what became of it, and nothing of what it said."""
    return replace(found, title=title, text="", summary="", author="", keywords=[], images=[], metadata={})


async def body_of(services: "Services", text: str) -> "KeptBody":
    """Of a page that never became a document, too: somebody may want to see why."""
    from headwater.archive.raw import newest_body

    body = None if _id_in(text) else await newest_body(services.database, _key_of(text))
    if body is None:
        page = (await document_named(services, text)).url
        body = await newest_body(services.database, _key_of(page))
    if body is None:
        raise NotFound(f"No body is kept for {text}.", fix="Bodies are kept for keep.raw_days days after a fetch.")
    return body


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
    say(f"Wrote {counted(len(body), 'byte')} to {output}")


def _id_in(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) if len(text) == ID_LENGTH else None
    except ValueError:
        return None


def _key_of(text: str) -> "Key":
    from headwater.archive.document import Key
    from headwater.urls.canonical import canonicalise

    if "://" not in text:
        raise UsageError(f"{text!r} is neither a URL nor an id of a document.", fix="A URL begins with https://")
    address = canonicalise(text)
    return Key(address.bucket, address.url_hash)
