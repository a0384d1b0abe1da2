"""One document with everything that stands around it, by what a person types."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwater.archive.documents import outlinks_of
from headwater.archive.raw import KeptBody, newest_body
from headwater.archive.reads import (
    Document,
    StoredBlocks,
    StoredVersion,
    find_document,
    read_blocks,
    read_document,
    read_version,
    versions_in_short,
    versions_of,
)
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.database.pool import Database
from headwater.errors import NotFound, UsageError
from headwater.reports.archive import Claim, Relative, claim_of, relatives_of
from headwater.reports.frontier import source_names
from headwater.reports.pages import story_of
from headwater.reports.paging import ListPage, page_of
from headwater.rights.record import rights_as_dict
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

ID_LENGTH = 64
NOT_TOLD = rights_as_dict([], None)
# Why a document was withdrawn -> in place of its title.
WORDLESS = {"takedown": "(taken down)", "too_old": "(removed for its age)"}


@dataclass(frozen=True, slots=True)
class Inspected:
    """`relatives` are documents like it; `claim` is the page it calls canonical."""

    document: Document
    source: str
    versions: Sequence[StoredVersion]
    relatives: Sequence[Relative]
    claim: Claim | None

    @property
    def why_not_canonical(self) -> str | None:
        return self.claim.why_not or None if self.claim else None


async def inspect_document(database: Database, text: str) -> Inspected:
    """By its URL in any spelling, or by its id."""
    found = await document_named(database, text)
    names = await source_names(database, [found.source_id])
    return Inspected(
        document=found,
        source=names.get(found.source_id, str(found.source_id)),
        versions=await versions_of(database, found.key),
        relatives=await relatives_of(database, found.key),
        claim=await claim_of(database, found.key),
    )


async def page_of_versions(database: Database, named: str, limit: int, before: int) -> ListPage[StoredVersion]:
    """Newest first, without their texts; of a document that was taken down there are none."""
    found = await document_named(database, named)
    is_wordless = found.deleted_reason in WORDLESS
    versions = [] if is_wordless else await versions_in_short(database, found.key, before, limit + 1)
    return page_of(versions, limit, lambda one: str(one.version))


async def version_named(database: Database, named: str, version: int) -> StoredVersion:
    found = await document_named(database, named)
    one = None if found.deleted_reason in WORDLESS else await read_version(database, found.key, version)
    if one is None:
        raise NotFound(f"There is no version {version} of this document.", fix="GET …/versions lists those there are.")
    return one


async def blocks_named(database: Database, named: str, version: int | None = None) -> StoredBlocks:
    """The structure of a document, or of what it was; of one that was taken down there is none."""
    found = await document_named(database, named)
    one = None if found.deleted_reason in WORDLESS else await read_blocks(database, found.key, version)
    if one is None and version is not None:
        raise NotFound(f"There is no version {version} of this document.", fix="GET …/versions lists those there are.")
    return one or StoredBlocks(found.version, ())


async def outlinks_named(database: Database, named: str) -> list[str]:
    """Where its page points, as far as that is kept."""
    found = await document_named(database, named)
    return [] if found.deleted_reason in WORDLESS else await outlinks_of(database, found.key)


async def document_named(database: Database, text: str) -> Document:
    url_hash = _id_in(text)
    if url_hash is not None:
        found = await find_document(database, url_hash)
    else:
        found = await read_document(database, _key_of(text))
    if found is None and url_hash is None:
        raise await no_document(database, text)
    if found is None:
        raise NotFound(f"There is no document {text}.", fix="Search for it: headwater docs search WORDS")
    title = WORDLESS.get(found.deleted_reason or "")
    return without_words(found, title) if title else found


async def no_document(database: Database, text: str) -> NotFound:
    """With the reason, as `headwater explain` tells it."""
    story = await story_of(database, canonicalise(text))
    why = story.document.removeprefix("none").removeprefix(": ").removeprefix(" yet: ").strip()
    status = story.why if story.status in ("unknown", "dead", "failed") else story.status
    told = f" {status}; {why}" if why else f" {status}"
    return NotFound(f"There is no document {text}:{told}.", fix=f"Next: {story.next}")


def without_words(found: Document, title: str) -> Document:
    """The fate of a withdrawn document, and no word of its text."""
    emptied = replace(found, title=title, text="", summary="", author="", authors=[], keywords=[])
    return replace(emptied, images=[], metadata={}, rights=NOT_TOLD)


async def body_of(database: Database, text: str, stores: BodyStores = NO_STORES) -> KeptBody:
    """Of a page that never became a document, too: a person may want to see why."""
    body = None if _id_in(text) else await newest_body(database, _key_of(text), stores)
    if body is None:
        page = (await document_named(database, text)).url
        body = await newest_body(database, _key_of(page), stores)
    if body is None:
        raise NotFound(f"No body is kept for {text}.", fix="Bodies are kept for keep.raw_days days after a fetch.")
    return body


def _id_in(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) if len(text) == ID_LENGTH else None
    except ValueError:
        return None


def _key_of(text: str) -> DocumentKey:
    if "://" not in text:
        raise UsageError(f"{text!r} is neither a URL nor an id of a document.", fix="A URL begins with https://")
    address = canonicalise(text)
    return DocumentKey(address.bucket, address.url_hash)
