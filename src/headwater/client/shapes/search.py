"""Values of search.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import NotRequired, TypedDict

from headwater.client.shapes.shared import DocumentHit, JobHit, RecordKind


class SearchResults(TypedDict):
    """The best first; without words the newest. One of the two lists is empty: a search is for one kind."""

    cursor: str | None
    has_more: bool
    is_complete: bool
    engine: str
    took_ms: float
    kind: RecordKind
    documents: NotRequired[list[DocumentHit]]
    jobs: NotRequired[list[JobHit]]
