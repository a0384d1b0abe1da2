"""A document on its way into the archive, and what becomes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from headwater.errors import UsageError

# What is a change, beside the text: what the database's `says_the_same` compares.
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


class DocumentKey(NamedTuple):
    bucket: int
    url_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """`simhash` None: nothing to compare. `metadata` is whatever the page said that has no field of its own.

    It stands under the address it was read from. `claimed` is another page that this one calls canonical, with the
    address `canonical_url`: a claim, which the archive believes or not.
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

    def __post_init__(self) -> None:
        if len(self.url_hash) != 32 or len(self.content_hash) != 32:
            raise UsageError(f"A hash of {self.url} does not have 32 bytes.")

    @property
    def key(self) -> DocumentKey:
        return DocumentKey(self.bucket, self.url_hash)

    @property
    def claimed_url(self) -> str | None:
        return self.canonical_url if self.claimed else None


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
