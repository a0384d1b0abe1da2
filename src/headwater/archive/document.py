"""A document on its way into the archive, what stands there already, and what becomes of the two."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from headwater.archive.storable import storable
from headwater.errors import UsageError

# Shorter texts are alike by chance: "Page not found", a cookie notice.
FEWEST_WORDS_TO_COMPARE = 50

# What a reader would call a change, beside the text. Not tracked is what pages shuffle at every visit: dates of
# modification, signed addresses of images, metadata of the kind that carries a nonce.
TRACKED = (
    "canonical_url",
    "title",
    "summary",
    "author",
    "published_at",
    "language",
    "section",
    "keywords",
    "page_type",
)


class Key(NamedTuple):
    bucket: int
    url_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """`simhash` None: nothing to compare. `metadata` is whatever the page said that has no field of its own."""

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

    def __post_init__(self) -> None:
        if len(self.url_hash) != 32 or len(self.content_hash) != 32:
            raise UsageError(f"A hash of {self.url} does not have 32 bytes.")

    @property
    def key(self) -> Key:
        return Key(self.bucket, self.url_hash)

    @property
    def is_comparable(self) -> bool:
        return self.word_count >= FEWEST_WORDS_TO_COMPARE

    @property
    def tracked(self) -> dict[str, Any]:
        return {name: storable(getattr(self, name)) for name in TRACKED}


@dataclass(frozen=True, slots=True)
class Standing:
    """A document as the archive has it, as far as deciding needs it."""

    version: int
    content_hash: bytes
    word_count: int
    is_deleted: bool
    duplicate_of: Key | None
    tracked: dict[str, Any]

    @property
    def is_delivered(self) -> bool:
        """Whether sinks are to have it."""
        return not self.is_deleted and self.duplicate_of is None

    @property
    def may_have_duplicates(self) -> bool:
        return self.is_delivered and self.word_count >= FEWEST_WORDS_TO_COMPARE

    def says_the_same_as(self, new: NewDocument) -> bool:
        return self.content_hash == new.content_hash and self.tracked == new.tracked


class Op(StrEnum):
    UPSERT = "upsert"
    DELETE = "delete"


def op_between(*, was_delivered: bool, is_delivered: bool) -> Op | None:
    """What sinks have to be told of a document that changed."""
    if is_delivered:
        return Op.UPSERT
    return Op.DELETE if was_delivered else None


@dataclass(frozen=True, slots=True)
class Stored:
    """Delivered. `near` is an older document that says nearly the same."""

    version: int
    is_new: bool
    near: Key | None = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing was written."""

    version: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Kept, and not delivered: the same text stands under an older address."""

    version: int
    of: Key


Kept = Stored | Unchanged | Duplicate


def signed(simhash: int | None) -> int | None:
    """PostgreSQL knows 64 bits with a sign only."""
    return None if simhash is None else (simhash + 2**63) % 2**64 - 2**63


def unsigned(simhash: int | None) -> int | None:
    return None if simhash is None else simhash % 2**64
