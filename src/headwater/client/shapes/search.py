"""Values of search.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Literal, NotRequired, TypedDict

from headwater.client.shapes.shared import DocumentHit, JobHit, RecordKind

Facet = Literal["source", "host", "language", "page_type", "author", "month", "day"]


class FacetValueShape(TypedDict):
    """A value as its filter takes it. `name` is for people: that of a source, whose value is its id."""

    value: str
    name: str
    count: int


class FacetCountsShape(TypedDict):
    """The ten values that most documents have, or the newest ten months or days.

    `others`: Documents with other values; one with several other authors once for each.
    `is_exact`: False: OpenSearch counted so many different values that a count may be too low.
    """

    facet: Facet
    values: list[FacetValueShape]
    others: int
    is_exact: bool


class FacetsShape(TypedDict):
    """Of the documents that match, on all pages, how many have each value.

    `counted`: So many documents were counted.
    `is_complete`: False: only the newest matches were counted, and there may be others.
    """

    counted: int
    is_complete: bool
    counts: list[FacetCountsShape]


class SearchResults(TypedDict):
    """The best first; without words the newest. One of the two lists is empty: a search is for one kind.

    `facets`: Where they are asked for.
    """

    cursor: str | None
    has_more: bool
    is_complete: bool
    engine: str
    took_ms: float
    kind: RecordKind
    documents: NotRequired[list[DocumentHit]]
    jobs: NotRequired[list[JobHit]]
    facets: NotRequired[FacetsShape | None]
