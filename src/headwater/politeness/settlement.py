"""How a request went, and the row that ends it in the database."""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

# What a request says of its host: it answered well, nothing, it asked us to slow down, it could not be reached.
HOST_OK, HOST_UNJUDGED, HOST_SAID_SLOW_DOWN, HOST_UNREACHABLE = -1, 0, 1, 2


# Not frozen, though nobody changes one: every request makes one, and a frozen one costs three times as much to make.
@dataclass(slots=True)
class Visit:
    """The request itself, for the fetch log."""

    started_after: timedelta | None = None  # after the grant; None: it never began
    duration: timedelta | None = None
    status: int | None = None
    body_bytes: int | None = None
    kind: str | None = None  # page, robots, feed …; None: what the slot was given for
    address: str | None = None  # of its machine, where it is known

    @property
    def milliseconds(self) -> int | None:
        return None if self.duration is None else round(self.duration.total_seconds() * 1000)


class Settlement(NamedTuple):
    """One row for the database's `settle_requests`; the order of fields is that of its type `settlement`."""

    bucket: int
    token: UUID
    host: str
    verdict: str
    status: str | None = None
    next_fetch_in: timedelta | None = None
    counts_as_failure: bool = False
    reason: str | None = None
    last_error: str | None = None
    http_status: int | None = None
    body_bytes: int | None = None
    started_after: timedelta | None = None
    duration_ms: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    content_hash: bytes | None = None
    fetch_url: str | None = None
    resume_url: str | None = None
    hops: int | None = None
    moved_to: str | None = None
    revisit_in: timedelta | None = None
    close_for: timedelta | None = None
    close_reason: str | None = None
    host_feedback: int = HOST_UNJUDGED
    kind: str | None = None
    address: str | None = None
