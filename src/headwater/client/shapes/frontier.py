"""Values of frontier.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Literal, NotRequired, TypedDict

EntryOrder = Literal["priority", "next_fetch_at", "created_at"]


EntryOrigin = Literal["feed", "sitemap", "spider", "manual", "api"]


EntryStatus = Literal["pending", "fetching", "fetched", "failed", "dead"]


class EntryShape(TypedDict):
    """A URL of the queue. `next_fetch_at` of one that is fetched or dead means nothing.

    `url_hash`: SHA-256 of its canonical key, 64 hex digits.
    `held`: paused or suspect: set aside for now.
    `reason`: Why it failed or died.
    """

    id: str
    url: str
    url_hash: str
    host: str
    source_id: str
    origin: str
    parent_url: str | None
    depth: int
    priority: int
    status: EntryStatus
    held: str | None
    next_fetch_at: str
    retry_count: int
    fetch_count: int
    reason: str | None
    last_error: str | None
    last_status: int | None
    etag: str | None
    last_modified: str | None
    content_hash: str | None
    last_fetched_at: str | None
    discovered_at: str
    created_at: str
    updated_at: str


class EntryList(TypedDict):
    """Its fields:

    `total`: How many match; at least so many where it is capped.
    `total_is_capped`: Not all URLs were looked at to count them.
    """

    urls: list[EntryShape]
    total: int
    total_is_capped: bool
    cursor: str | None


class FailureClassShape(TypedDict):
    """URLs that failed (and are tried again) or are dead for one reason. `said` and `url` are of one of them.

    `is_capped`: There are more than were counted.
    """

    status: EntryStatus
    reason: str
    entries: int
    is_capped: bool
    said: str
    url: str


class FailureClassList(TypedDict):
    failures: list[FailureClassShape]


class HostsShape(TypedDict):
    """Hosts with something to fetch: open now, within their delay, being asked, and not answering so far."""

    open: int
    waiting: int
    busy: int
    doubted: int


class FrontierStatsShape(TypedDict):
    """Its fields:

    `by_source`: Of a page of sources, by name.
    `oldest_due_at`: Since when the host that waits longest could be asked.
    """

    total: int
    total_pending: int
    total_fetching: int
    total_fetched: int
    total_failed: int
    total_dead: int
    by_status: dict[str, int]
    by_source: dict[str, dict[str, int]]
    hosts: HostsShape
    oldest_due_at: str | None
    cursor: str | None


class KillReason(TypedDict):
    """Its fields:

    `because`: Why, for those who wonder later.
    """

    because: NotRequired[str]


class KillWish(TypedDict):
    """Its fields:

    `because`: Why, for those who wonder later.
    `reason`: Only those that ended so, such as not_found.
    `prefix`: Only URLs that begin so.
    """

    because: NotRequired[str]
    status: Literal["pending", "failed", "dead", "fetched"]
    host: NotRequired[str | None]
    reason: NotRequired[str | None]
    source_id: NotRequired[str | None]
    origin: NotRequired[EntryOrigin | None]
    prefix: NotRequired[str | None]


class ManyWish(TypedDict):
    """Which URLs: by their status, and by one thing more at least.

    `reason`: Only those that ended so, such as not_found.
    `prefix`: Only URLs that begin so.
    """

    status: Literal["pending", "failed", "dead", "fetched"]
    host: NotRequired[str | None]
    reason: NotRequired[str | None]
    source_id: NotRequired[str | None]
    origin: NotRequired[EntryOrigin | None]
    prefix: NotRequired[str | None]


class RetryWish(TypedDict):
    """Its fields:

    `status`: Of fetched ones a host, a source, a reason or a prefix is needed as well.
    `reason`: Only those that ended so, such as max_retries.
    `prefix`: Only URLs that begin so.
    """

    status: Literal["failed", "dead", "fetched"]
    host: NotRequired[str | None]
    reason: NotRequired[str | None]
    source_id: NotRequired[str | None]
    prefix: NotRequired[str | None]


class Submission(TypedDict):
    """Its fields:

    `url`: To fetch.
    `source_id`: The id, address, host or name of the source; nothing: the one of all by hand.
    `origin`: How it was found; traps are looked for unless by hand.
    `priority`: 1 to 10; nothing: that of the source.
    """

    url: str
    source_id: NotRequired[str | None]
    origin: NotRequired[EntryOrigin]
    priority: NotRequired[int | None]


class SubmissionItem(TypedDict):
    """Its fields:

    `priority`: 1 to 10; nothing: that of the source.
    """

    url: str
    priority: NotRequired[int | None]


class BulkSubmission(TypedDict):
    """URLs alone, or items that say more of each.

    `source_id`: The id, address, host or name of the source; nothing: the one of all by hand.
    `dry_run`: Only say what would become of each; nothing is changed.
    """

    urls: NotRequired[list[str]]
    items: NotRequired[list[SubmissionItem]]
    source_id: NotRequired[str | None]
    origin: NotRequired[EntryOrigin]
    dry_run: NotRequired[bool]


class SubmittedEntry(TypedDict):
    """Its fields:

    `url_hash`: SHA-256 of its canonical key, 64 hex digits.
    `held`: paused or suspect: set aside for now.
    `reason`: Why it failed or died.
    `outcome`: queued, duplicate, raised, revisit or taken_over.
    `has_effects`: It looks as if fetching it did something: log out, delete, buy.
    """

    id: str
    url: str
    url_hash: str
    host: str
    source_id: str
    origin: str
    parent_url: str | None
    depth: int
    priority: int
    status: EntryStatus
    held: str | None
    next_fetch_at: str
    retry_count: int
    fetch_count: int
    reason: str | None
    last_error: str | None
    last_status: int | None
    etag: str | None
    last_modified: str | None
    content_hash: str | None
    last_fetched_at: str | None
    discovered_at: str
    created_at: str
    updated_at: str
    outcome: str
    has_effects: bool


class SubmittedUrl(TypedDict):
    """Its fields:

    `outcome`: queued, duplicate, raised, revisit, taken_over or rejected.
    `reason`: Why it was rejected.
    """

    url: str
    outcome: str
    reason: str
    id: str | None
    has_effects: bool


class BulkAnswer(TypedDict):
    """Its fields:

    `counts`: By outcome.
    """

    answers: list[SubmittedUrl]
    counts: dict[str, int]
