"""An entry of the frontier: its states, its reasons, and the lease to work on it."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from headwater.errors import UrlRejected
from headwater.politeness.slots import StartWindow
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import entry_id


class EntryStatus(StrEnum):
    PENDING = "pending"
    FETCHING = "fetching"
    FETCHED = "fetched"
    FAILED = "failed"  # will be retried
    DEAD = "dead"  # will not, unless a person revives it


class EntryOrigin(StrEnum):
    FEED = "feed"
    SITEMAP = "sitemap"
    SPIDER = "spider"
    MANUAL = "manual"
    API = "api"


class DeadReason(StrEnum):
    NOT_FOUND = "not_found"
    GONE = "gone"
    ROBOTS_BLOCKED = "robots_blocked"
    REDIRECT = "redirect"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    FORBIDDEN = "forbidden"
    PAYMENT_REQUIRED = "payment_required"
    LEGAL = "legal"
    UNSUPPORTED_CONTENT_TYPE = "unsupported_content_type"
    BINARY_URL = "binary_url"
    TOO_LARGE = "too_large"
    EXTRACT_FAILED = "extract_failed"
    MAX_RETRIES = "max_retries"
    UNREACHABLE = "unreachable"
    TAKEDOWN = "takedown"
    BLOCKED_ADDRESS = "blocked_address"
    TRAP = "trap"
    POISON = "poison"
    KILLED = "killed"  # by a person, who alone revives it


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one entry. Settling names the token; a stale one changes nothing."""

    token: UUID
    bucket: int
    url_hash: bytes
    host: str
    url: str
    source_id: UUID
    origin: EntryOrigin
    depth: int
    priority: int
    retry_count: int
    fetch_count: int
    hops: int
    resume_url: str | None
    etag: str | None
    last_modified: str | None
    content_hash: bytes | None
    window: StartWindow
    domain: str | None = None  # registrable, of its host
    found_by: UUID | None = None  # the source that found its host
    is_doubted: bool = False  # its host has not answered yet, or did not at the last try

    @property
    def id(self) -> UUID:
        return entry_id(self.bucket, self.url_hash)

    @property
    def site(self) -> str:
        """Its host and port; a row written by hand may have an unreadable address."""
        try:
            return canonicalise(self.url).site
        except UrlRejected:
            return self.host
