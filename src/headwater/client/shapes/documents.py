"""Values of documents.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, NotRequired, TypedDict

from headwater.client.shapes.shared import DocumentHit


class DocumentList(TypedDict):
    cursor: str | None
    has_more: bool
    is_complete: bool
    engine: str
    took_ms: float
    documents: list[DocumentHit]


class OutlinkList(TypedDict):
    id: str
    outlinks: list[str]


class ReextractWish(TypedDict):
    """Its fields:

    `dry_run`: Tell the changes, and make none.
    """

    dry_run: NotRequired[bool]


class RelativeShape(TypedDict):
    """Its fields:

    `relation`: duplicate_of, near, or duplicate.
    """

    relation: str
    id: str
    url: str


class RightsStatement(TypedDict):
    """A publisher's statement about use. `said` are its own words.

    `convention`: content-usage, content-signal, tdmrep, rsl or noai.
    `place`: robots.txt, header, page, feed or /.well-known/tdmrep.json.
    """

    convention: str
    place: str
    said: str
    allowed: list[str]
    refused: list[str]
    licence: str


class RightsShape(TypedDict):
    """What the publisher says about use: allowed, refused or unknown; the strictest statement decides."""

    train: str
    input: str
    search: str
    tdm: str
    images: str
    licences: list[str]
    statements: list[RightsStatement]


class DocumentShape(TypedDict):
    """A document as it is kept. One that was taken down has no words.

    `claimed_url`: The page that it calls canonical.
    `author`: The authors in one line.
    `quality`: 0 to 100.
    """

    id: str
    source_id: str
    source: str
    url: str
    canonical_url: str
    claimed_url: str | None
    is_claim_believed: bool
    why_not_canonical: str | None
    title: str
    summary: str
    text: str
    author: str
    authors: list[str]
    section: str
    keywords: list[str]
    images: list[str]
    published_at: str | None
    updated_at: str | None
    language: str
    word_count: int
    page_type: str
    quality: int | None
    quality_parts: dict[str, int]
    version: int
    content_hash: str
    simhash: int | None
    produced_by: str
    metadata: dict[str, Any]
    rights: RightsShape
    first_seen_at: str
    crawled_at: str
    changed_at: str
    deleted_at: str | None
    deleted_reason: str | None
    duplicate_of: str | None
    near_duplicate_of: str | None
    relatives: list[RelativeShape]


class VersionInShort(TypedDict):
    """Its fields:

    `replaced_at`: null: it is what the document says now.
    """

    version: int
    title: str
    content_hash: str
    word_count: int
    crawled_at: str
    changed_at: str
    replaced_at: str | None
    rights: RightsShape


class VersionList(TypedDict):
    versions: list[VersionInShort]
    cursor: str | None


class VersionShape(TypedDict):
    """Its fields:

    `replaced_at`: null: it is what the document says now.
    """

    version: int
    title: str
    content_hash: str
    word_count: int
    crawled_at: str
    changed_at: str
    replaced_at: str | None
    rights: RightsShape
    text: str
