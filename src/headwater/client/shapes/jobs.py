"""Values of jobs.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, TypedDict

from headwater.client.shapes.shared import JobHit


class JobList(TypedDict):
    cursor: str | None
    has_more: bool
    is_complete: bool
    engine: str
    took_ms: float
    jobs: list[JobHit]


class SightingShape(TypedDict):
    url: str
    last_seen_at: str


class JobShape(TypedDict):
    """A vacancy with all its columns, named as in the table `jobs`; sightings are by sources without a say in it.

    `status`: active, expired or deleted.
    `ending`: Since when and why it is over.
    """

    id: str
    canonical_hash: str
    document_hash: str | None
    title: str
    org_name: str
    apply_url: str
    status: str
    version: int
    sightings: list[SightingShape]
    ending: dict[str, Any] | None
