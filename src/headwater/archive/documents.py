"""Documents and their outlinks, kept in the caller's transaction: new, changed, the same again, a copy, gone.

All of it happens in the database's own `keep_document` and `tombstone_documents`, which also say what they lock and in
which order. A transaction keeps one document, after it has locked the hosts and entries it settles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import zstandard

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.rights.record import NOTHING_SAID, Rights
from headwater.storable import storable, storable_json
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.archive")

# What is a change, beside the text and the statements on its use: what the database's `says_the_same` compares.
TRACKED = (
    "source_id",
    "claimed_url",
    "title",
    "summary",
    "author",
    "published_at",
    "language",
    "section",
    "keywords",
    "page_type",
)

# What belongs to a text and may be read anew from it without a new version of it. Blocks do, too.
RENEWED = ("authors", "images", "updated_at", "quality", "quality_parts", "metadata")

_NOWHERE = (None, None)
MOST_OUTLINKS = 1_000
_LEVEL = 1
# As many addresses as there can be, each as long as it can be.
_LARGEST_BYTES = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """`simhash` None: nothing to compare. `metadata` is whatever the page said that has no field of its own.
    `author` holds the `authors` in one line.

    `blocks` are packed with the text. It stands under the address it was read from. `claimed` is another page that
    this one calls canonical, with the address `canonical_url`: a claim, which the archive believes or not.
    """

    bucket: int
    url_hash: bytes
    source_id: UUID
    url: str
    canonical_url: str
    title: str
    text: str
    word_count: int
    content_hash: bytes
    summary: str = ""
    author: str = ""
    published_at: datetime | None = None
    updated_at: datetime | None = None
    language: str = ""
    section: str = ""
    keywords: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    page_type: str = ""
    quality: int | None = None
    quality_parts: Mapping[str, int] = field(default_factory=dict)
    simhash: int | None = None
    produced_by: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    claimed: DocumentKey | None = None
    rights: Rights = NOTHING_SAID
    authors: tuple[str, ...] = ()
    blocks: bytes | None = None

    def __post_init__(self) -> None:
        if len(self.url_hash) != 32 or len(self.content_hash) != 32:
            raise UsageError(f"A hash of {self.url} does not have 32 bytes.")

    @property
    def key(self) -> DocumentKey:
        return DocumentKey(self.bucket, self.url_hash)

    @property
    def claimed_url(self) -> str | None:
        return self.canonical_url if self.claimed else None


_AS_THEY_ARE = tuple(
    name for name in NewDocument.__dataclass_fields__ if name not in ("claimed", "rights", "authors", "blocks")
)


class Op(StrEnum):
    UPSERT = "upsert"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Stored:
    """Delivered. `near` is a document that said nearly the same before."""

    version: int
    is_new: bool
    near: DocumentKey | None = None


@dataclass(frozen=True, slots=True)
class UnchangedDocument:
    """Nothing was written."""

    version: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Kept, and not delivered: another page told the same before, or is the one that this page calls canonical."""

    version: int
    of: DocumentKey


Kept = Stored | UnchangedDocument | Duplicate


def to_signed(simhash: int | None) -> int | None:
    """PostgreSQL knows 64 bits with a sign only."""
    return None if simhash is None else (simhash + 2**63) % 2**64 - 2**63


def to_unsigned(simhash: int | None) -> int | None:
    return None if simhash is None else simhash % 2**64


async def keep_document(connection: Connection, new: NewDocument, now: datetime) -> Kept:
    """Store it if it says anything new."""
    row = await connection.fetchrow(queries.keep_document, document_row(new), now)
    assert row is not None
    other = key_in(row, "other_bucket", "other_hash")
    if row["outcome"] == "unchanged":
        return UnchangedDocument(row["version"])
    if row["outcome"] == "stored":
        return Stored(row["version"], row["is_new"], other)
    assert other is not None
    return Duplicate(row["version"], other)


async def renew_parts(connection: Connection, new: NewDocument, now: datetime) -> int | None:
    """Of a document whose text is as it was: all that is `RENEWED`. Answers with its version."""
    version: int | None = await connection.fetchval(queries.renew_parts, document_row(new), now)
    return version


async def tombstone(connection: Connection, bucket: int, url_hash: bytes, reason: str, now: datetime) -> bool:
    """Take it from search and sinks; what it was stays readable. False: there was nothing to take."""
    taken = await connection.fetchval(queries.tombstone_documents, [bucket], [url_hash], storable(reason), now)
    connection.after_commit(queries.wake_deliverers)
    return bool(taken)


def document_row(new: NewDocument) -> tuple[Any, ...]:
    """As the database's type `new_document` has it."""
    special = {
        "quality_parts": storable_json(new.quality_parts),
        "metadata": storable_json(new.metadata),
        "simhash": to_signed(new.simhash),
    }
    values = [special[name] if name in special else storable(getattr(new, name)) for name in _AS_THEY_ARE]
    said = (new.rights.marks, stored_statements(new.rights))
    return (*values, *(new.claimed or _NOWHERE), *said, storable(new.authors), new.blocks)


def stored_statements(rights: Rights) -> str | None:
    """As JSON; None where nothing was said."""
    return storable_json(rights.said) if rights.statements else None


async def stated_rights(database: Connection | Database, key: DocumentKey) -> list[Mapping[str, Any]] | None:
    """The statements that stand with a document; None: it has none, or there is no document."""
    found: list[Mapping[str, Any]] | None = await database.fetchval(queries.stated_rights, *key)
    return found


async def restate_rights(connection: Connection, key: DocumentKey, rights: Rights) -> bool:
    """About the use of a page that is as it was something else is said now: a version of its own."""
    said = rights.said if rights.statements else None
    return bool(await connection.fetchval(queries.restate_rights, *key, rights.marks, said))


def key_in(row: Any, bucket: str, url_hash: str) -> DocumentKey | None:
    return None if row[url_hash] is None else DocumentKey(row[bucket], row[url_hash])


async def keep_outlinks(connection: Connection, key: DocumentKey, targets: Sequence[str]) -> None:
    """Replaces the outlinks stored before."""
    await connection.execute(queries.keep_outlinks, *key, pack_outlinks(targets))


def pack_outlinks(targets: Sequence[str]) -> bytes:
    """The first so many distinct ones, in page order: one a line, compressed. An address has no line breaks."""
    lines = "\n".join(list(dict.fromkeys(targets))[:MOST_OUTLINKS])
    return zstandard.compress(lines.encode(errors="replace"), _LEVEL)


async def outlinks_of(database: Connection | Database, key: DocumentKey) -> list[str]:
    packed: bytes | None = await database.fetchval(queries.outlinks_of, *key)
    return unpack_outlinks(packed) if packed else []


def unpack_outlinks(packed: bytes) -> list[str]:
    lines = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_LARGEST_BYTES)
    return lines.decode().split("\n") if lines else []
