"""Looking into the archive: one document, and what it was before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from headwater.archive.documents import key_in, to_unsigned
from headwater.blocks.block import BodyBlock, unpack_blocks
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.rights.record import rights_as_dict
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.archive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`canonical_url` is the one it claims, `claimed_url`, where that is believed; else its own."""

    key: DocumentKey
    source_id: UUID
    url: str
    canonical_url: str
    title: str
    summary: str
    author: str
    authors: list[str]
    published_at: datetime | None
    language: str
    word_count: int
    page_type: str
    quality: int | None
    version: int
    first_seen_at: datetime
    changed_at: datetime
    duplicate_of: DocumentKey | None
    near_duplicate_of: DocumentKey | None
    text: str
    claimed_url: str | None
    is_claim_believed: bool
    updated_at: datetime | None
    section: str
    keywords: list[str]
    images: list[str]
    quality_parts: Mapping[str, int]
    content_hash: bytes
    simhash: int | None
    produced_by: str
    metadata: Mapping[str, Any]
    crawled_at: datetime
    deleted_at: datetime | None
    deleted_reason: str | None
    rights: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """`replaced_at` None: it is what the document says now."""

    version: int
    title: str
    text: str
    content_hash: bytes
    word_count: int
    crawled_at: datetime
    changed_at: datetime
    replaced_at: datetime | None
    rights: Mapping[str, Any]


async def read_document(database: Connection | Database, key: DocumentKey) -> Document | None:
    """Also one that was deleted: it says so itself."""
    row = await database.fetchrow(queries.read_document, *key)
    return _document(row) if row else None


async def find_document(database: Connection | Database, url_hash: bytes) -> Document | None:
    """By its id alone, wherever its host's bucket is."""
    row = await database.fetchrow(queries.find_document, url_hash)
    return _document(row) if row else None


@dataclass(frozen=True, slots=True)
class StoredBlocks:
    """The structure of one version of a document."""

    version: int
    blocks: tuple[BodyBlock, ...]


async def read_blocks(
    database: Connection | Database, key: DocumentKey, version: int | None = None
) -> StoredBlocks | None:
    """Of the present version, unless another is asked for."""
    row = await database.fetchrow(queries.blocks_of_document, *key, version)
    return StoredBlocks(row["version"], unpack_blocks(row["blocks"], row["text"])) if row else None


async def versions_of(database: Connection | Database, key: DocumentKey) -> list[StoredVersion]:
    """Newest first, beginning with what stands now."""
    rows = await database.fetch(queries.versions_of_document, *key)
    return [_version(row) for row in rows]


async def versions_in_short(
    database: Connection | Database, key: DocumentKey, before: int, limit: int
) -> list[StoredVersion]:
    """A page of them, newest first, without their texts."""
    rows = await database.fetch(queries.versions_in_short, *key, before, limit)
    return [_version({"text": "", **row}) for row in rows]


async def read_version(database: Connection | Database, key: DocumentKey, version: int) -> StoredVersion | None:
    row = await database.fetchrow(queries.version_of_document, *key, version)
    return _version(row) if row else None


def _version(row: Any) -> StoredVersion:
    told = {name: row[name] for name in StoredVersion.__slots__ if name != "rights"}
    return StoredVersion(**told, rights=_rights(row))


def _document(row: Any) -> Document:
    keys = {
        "key": DocumentKey(row["bucket"], row["url_hash"]),
        "duplicate_of": key_in(row, "duplicate_bucket", "duplicate_of"),
        "near_duplicate_of": key_in(row, "near_bucket", "near_duplicate_of"),
    }
    made = keys | {"simhash": to_unsigned(row["simhash"]), "rights": _rights(row)}
    told = {name: row[name] for name in Document.__dataclass_fields__ if name not in made}
    return Document(**told | made)


def _rights(row: Any) -> dict[str, Any]:
    return rights_as_dict(row["rights"], row["rights_statements"])
