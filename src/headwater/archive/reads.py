"""Looking into the archive: one document, what it was before, and lists by key that cost the same on every page."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.archive.document import DocumentKey, to_unsigned
from headwater.archive.documents import key_in
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError

queries = load_queries("headwater.archive")

LARGEST_PAGE = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE = struct.Struct(">qB32s")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSummary:
    """A document in a list: all that does not lie apart."""

    key: DocumentKey
    source_id: UUID
    url: str
    canonical_url: str
    title: str
    summary: str
    author: str
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(DocumentSummary):
    """`canonical_url` is the one it claims, `claimed_url`, where that is believed; else its own."""

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


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """`replaced_at` None: it is what the document says now."""

    version: int
    title: str
    text: str
    content_hash: bytes
    word_count: int
    crawled_at: datetime
    changed_at: datetime
    replaced_at: datetime | None


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """`since` and `until` are about when we first saw a document; `until` is not included."""

    source_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    duplicates: bool = False


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """`cursor` None: this was the end."""

    documents: list[DocumentSummary]
    cursor: str | None


async def read_document(database: Connection | Database, key: DocumentKey) -> Document | None:
    """Also one that was deleted: it says so itself."""
    row = await database.fetchrow(queries.read_document, *key)
    return _document(row) if row else None


async def find_document(database: Connection | Database, url_hash: bytes) -> Document | None:
    """By its id alone, wherever its host's bucket is."""
    row = await database.fetchrow(queries.find_document, url_hash)
    return _document(row) if row else None


async def list_documents(
    database: Database, wanted: DocumentFilter, *, limit: int = 50, cursor: str | None = None
) -> DocumentPage:
    """Newest first, without what was deleted."""
    if not 1 <= limit <= LARGEST_PAGE:
        raise UsageError(f"A page of {limit} documents is not possible.", fix=f"Ask for 1 to {LARGEST_PAGE}.")
    at, after = place_of(cursor) if cursor else (wanted.until, DocumentKey(-1, b""))
    values: dict[str, Any] = {
        "at": at,
        "bucket": after.bucket,
        "url_hash": after.url_hash,
        "since": wanted.since,
        "duplicates": wanted.duplicates,
        "limit": limit,
    }
    if wanted.source_id:
        rows = await database.fetch(*queries.list_documents_of_source(**values, source_id=wanted.source_id))
    else:
        rows = await database.fetch(*queries.list_documents(**values))
    found = [DocumentSummary(**_fields(row, DocumentSummary)) for row in rows]
    return DocumentPage(found, cursor_after(found[-1].first_seen_at, found[-1].key) if len(found) == limit else None)


async def versions_of(database: Connection | Database, key: DocumentKey) -> list[DocumentVersion]:
    """Newest first, beginning with what stands now."""
    rows = await database.fetch(queries.versions_of_document, *key)
    return [DocumentVersion(**{name: row[name] for name in DocumentVersion.__slots__}) for row in rows]


def cursor_after(at: datetime, key: DocumentKey) -> str:
    return _PLACE.pack((at - _EPOCH) // timedelta(microseconds=1), *key).hex()


def place_of(cursor: str) -> tuple[datetime, DocumentKey]:
    try:
        microseconds, bucket, url_hash = _PLACE.unpack(bytes.fromhex(cursor))
        return _EPOCH + timedelta(microseconds=microseconds), DocumentKey(bucket, url_hash)
    except (ValueError, struct.error, OverflowError) as error:
        raise UsageError("This cursor was not made by a listing.", fix="Start again without one.") from error


def _document(row: Any) -> Document:
    return Document(**_fields(row, Document) | {"simhash": to_unsigned(row["simhash"])})


def _fields(row: Any, shape: type[DocumentSummary]) -> dict[str, Any]:
    keys = {
        "key": DocumentKey(row["bucket"], row["url_hash"]),
        "duplicate_of": key_in(row, "duplicate_bucket", "duplicate_of"),
        "near_duplicate_of": key_in(row, "near_bucket", "near_duplicate_of"),
    }
    return {name: row[name] for name in shape.__dataclass_fields__ if name not in keys} | keys
