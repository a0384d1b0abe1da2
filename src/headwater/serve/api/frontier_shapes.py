"""What is said to and by /api/v1/frontier."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from headwater.frontier.entry import EntryOrigin, EntryStatus

MOST_URLS = 10_000
# Longer ones are refused with their reason, URL by URL.
Address = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]
Priority = Annotated[int | None, Field(ge=1, le=10, description="1 to 10; nothing: that of the source.")]
SourceName = Annotated[
    str | None,
    Field(
        max_length=2_083, description="The id, address, host or name of the source; nothing: the one of all by hand."
    ),
]


class EntryShape(BaseModel):
    """A URL of the queue. `next_fetch_at` of one that is fetched or dead means nothing."""

    id: UUID
    url: str
    url_hash: str = Field(description="SHA-256 of its canonical key, 64 hex digits.")
    host: str
    source_id: UUID
    origin: str
    parent_url: str | None
    depth: int
    priority: int
    status: EntryStatus
    held: str | None = Field(description="paused or suspect: set aside for now.")
    next_fetch_at: datetime
    retry_count: int
    fetch_count: int
    reason: str | None = Field(description="Why it failed or died.", examples=["not_found"])
    last_error: str | None
    last_status: int | None
    etag: str | None
    last_modified: str | None
    content_hash: str | None
    last_fetched_at: datetime | None
    discovered_at: datetime
    created_at: datetime
    updated_at: datetime


class EntryList(BaseModel):
    urls: list[EntryShape]
    total: int = Field(description="How many match; at least so many where it is capped.")
    total_is_capped: bool = Field(description="Not all URLs were looked at to count them.")
    cursor: str | None


class HostsShape(BaseModel):
    """Hosts with something to fetch: open now, within their delay, being asked, and not answering so far."""

    open: int
    waiting: int
    busy: int
    doubted: int


class FrontierStatsShape(BaseModel):
    total: int
    total_pending: int
    total_fetching: int
    total_fetched: int
    total_failed: int
    total_dead: int
    by_status: dict[EntryStatus, int]
    by_source: dict[UUID, dict[EntryStatus, int]] = Field(description="Of a page of sources, by name.")
    hosts: HostsShape
    oldest_due_at: datetime | None = Field(description="Since when the host that waits longest could be asked.")
    cursor: str | None


class Submission(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Address = Field(description="To fetch.", examples=["https://example.org/story"])
    source_id: SourceName = None
    origin: EntryOrigin = Field(
        EntryOrigin.MANUAL, description="How it was found; traps are looked for unless by hand."
    )
    priority: Priority = None


class SubmissionItem(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Address
    priority: Priority = None


class BulkSubmission(BaseModel):
    """URLs alone, or items that say more of each."""

    model_config = ConfigDict(extra="forbid")

    urls: list[Address] = Field(default_factory=list, max_length=MOST_URLS)
    items: list[SubmissionItem] = Field(default_factory=list, max_length=MOST_URLS)
    source_id: SourceName = None
    origin: EntryOrigin = EntryOrigin.MANUAL
    dry_run: bool = Field(False, description="Only say what would become of each; nothing is changed.")

    @model_validator(mode="after")
    def _has_some(self) -> Self:
        if not 1 <= len(self.urls) + len(self.items) <= MOST_URLS:
            raise ValueError(f"give 1 to {MOST_URLS:,} URLs, as urls or as items")
        return self

    @property
    def every_item(self) -> list[SubmissionItem]:
        return [*(SubmissionItem(url=one) for one in self.urls), *self.items]


class SubmittedEntry(EntryShape):
    outcome: str = Field(description="queued, duplicate, raised, revisit or taken_over.", examples=["queued"])
    has_effects: bool = Field(description="It looks as if fetching it did something: log out, delete, buy.")


class SubmittedUrl(BaseModel):
    url: str
    outcome: str = Field(description="queued, duplicate, raised, revisit, taken_over or rejected.")
    reason: str = Field(description="Why it was rejected.")
    id: UUID | None
    has_effects: bool


class BulkAnswer(BaseModel):
    answers: list[SubmittedUrl]
    counts: dict[str, int] = Field(description="By outcome.")


class FailureClassShape(BaseModel):
    """URLs that failed (and are tried again) or are dead for one reason. `said` and `url` are of one of them."""

    status: EntryStatus
    reason: str
    entries: int
    is_capped: bool = Field(description="There are more than were counted.")
    said: str
    url: str


class FailureClassList(BaseModel):
    failures: list[FailureClassShape]


class KillReason(BaseModel):
    model_config = ConfigDict(extra="forbid")

    because: str = Field("", max_length=500, description="Why, for those who wonder later.")


class ManyWish(BaseModel):
    """Which URLs: by their status, and by one thing more at least."""

    model_config = ConfigDict(extra="forbid")

    status: Literal[EntryStatus.PENDING, EntryStatus.FAILED, EntryStatus.DEAD, EntryStatus.FETCHED]
    host: str | None = Field(None, max_length=255)
    reason: str | None = Field(None, max_length=200, description="Only those that ended so, such as not_found.")
    source_id: str | None = Field(None, max_length=2_083)
    origin: EntryOrigin | None = None
    prefix: str | None = Field(None, max_length=2_083, description="Only URLs that begin so.")


class KillWish(ManyWish, KillReason):
    pass


class RetryWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    status: Literal[EntryStatus.FAILED, EntryStatus.DEAD, EntryStatus.FETCHED] = Field(
        description="Of fetched ones a host, a source, a reason or a prefix is needed as well."
    )
    host: str | None = Field(None, max_length=255)
    reason: str | None = Field(None, max_length=200, description="Only those that ended so, such as max_retries.")
    source_id: str | None = Field(None, max_length=2_083)
    prefix: str | None = Field(None, max_length=2_083, description="Only URLs that begin so.")
