"""Values of changes.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, Literal, NotRequired, TypedDict


class ChangeShape(TypedDict):
    """A line of the log. `remove`: the record is not, or no longer, for this reader, who removes it if it is held.

    `at`: When it came into the log.
    `op`: upsert or remove.
    `kind`: document or job.
    `id`: 64 hex digits.
    `record`: The record as it is now, where it was asked for.
    """

    position: int
    at: str
    changed_at: str
    op: str
    kind: str
    id: str
    version: int
    record: NotRequired[dict[str, Any] | None]


class ChangeList(TypedDict):
    """Its fields:

    `next`: The last position that was examined: `after` of the next request.
    `more`: There is more already: ask again at once.
    """

    changes: list[ChangeShape]
    next: int
    more: bool


Include = Literal["fields", "document"]
