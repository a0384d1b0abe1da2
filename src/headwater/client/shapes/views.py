"""Values of views.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import NotRequired, TypedDict

from headwater.client.shapes.shared import RecordKind


class NewView(TypedDict):
    """Its fields:

    `query`: Words, as a search takes them.
    `kinds`: document or job; nothing means both.
    `sources`: Ids, addresses, hosts or names of sources.
    `tags`: Tags of sources.
    `languages`: By their two letters.
    `countries`: By name or two letters.
    `min_quality`: Only documents of this quality at least.
    `rights`: What publishers say about use; all must hold: train=allowed.
    `name`: Small letters, digits, - and _.
    """

    query: NotRequired[str | None]
    kinds: NotRequired[list[RecordKind] | None]
    sources: NotRequired[list[str] | None]
    tags: NotRequired[list[str] | None]
    languages: NotRequired[list[str] | None]
    countries: NotRequired[list[str] | None]
    min_quality: NotRequired[int | None]
    rights: NotRequired[list[str] | None]
    name: str


class PreviewCount(TypedDict):
    """How many of the newest records are in the view; `is_all`: no more than those there are."""

    kind: str
    found: int
    looked: int
    is_all: bool


class PreviewedRecord(TypedDict):
    kind: str
    id: str
    title: str
    url: str
    source_id: str
    language: str | None
    first_seen_at: str


class ViewFilters(TypedDict):
    """What is in a view; several values of one filter: any of them.

    `query`: Words, as a search takes them.
    `kinds`: document or job; nothing means both.
    `sources`: Ids, addresses, hosts or names of sources.
    `tags`: Tags of sources.
    `languages`: By their two letters.
    `countries`: By name or two letters.
    `min_quality`: Only documents of this quality at least.
    `rights`: What publishers say about use; all must hold: train=allowed.
    """

    query: NotRequired[str | None]
    kinds: NotRequired[list[RecordKind] | None]
    sources: NotRequired[list[str] | None]
    tags: NotRequired[list[str] | None]
    languages: NotRequired[list[str] | None]
    countries: NotRequired[list[str] | None]
    min_quality: NotRequired[int | None]
    rights: NotRequired[list[str] | None]


class ViewPreviewShape(TypedDict):
    name: str
    counts: list[PreviewCount]
    records: list[PreviewedRecord]


class ViewShape(TypedDict):
    """A named filter. Empty lists and an empty query filter nothing.

    `sources`: Names of its sources.
    `sinks`: Names of the sinks that deliver it.
    `edition`: All of it, in short: a change that sends it as If-Match is safe.
    """

    id: str
    name: str
    query: str
    kinds: list[str]
    source_ids: list[str]
    sources: list[str]
    tags: list[str]
    languages: list[str]
    countries: list[str]
    min_quality: int | None
    rights: list[str]
    sinks: list[str]
    edition: str


class ViewList(TypedDict):
    views: list[ViewShape]
