"""The values that `import headwater` gives out: plain, frozen, stable. Nothing heavy is imported here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple, Required, TypedDict


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedPage:
    """A page as `headwater.extract` reads it.

    `why_not` says why a page is no article (`empty`, `too_short`, `challenge`); `text` is empty then. `links` are
    absolute, and none where the page asks not to be followed. `quality` goes from 0 to 100. `read_by` names the way
    its text was found; `notes` are sentences about plug-ins that failed.
    """

    url: str
    canonical_url: str
    title: str
    text: str = ""
    author: str = ""
    authors: tuple[str, ...] = ()
    description: str = ""
    language: str = ""
    section: str = ""
    keywords: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    published_at: datetime | None = None
    updated_at: datetime | None = None
    page_type: str = ""
    word_count: int = 0
    quality: int | None = None
    content_hash: str = ""
    read_by: str = ""
    why_not: str = ""
    noindex: bool = False
    nofollow: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_article(self) -> bool:
        return not self.why_not


class PageFields(TypedDict, total=False):
    """The answer of a plug-in in the group `headwater.extractors`: a field left out is read by Headwater itself."""

    text: str
    title: str
    author: str
    language: str
    published_at: datetime


class ItemFields(TypedDict, total=False):
    """An item in the answer of a plug-in in the group `headwater.readers`. All texts are plain, times have a zone.

    `guid` is the list's own name for the item, and stands in for `url` where that is missing and it is a URL itself.
    """

    url: Required[str]
    title: str
    guid: str
    author: str
    summary: str
    language: str
    published_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """`id` is the guid of the feed; `content` is the full text as HTML, where the feed carries it: hostile markup."""

    url: str
    title: str = ""
    id: str = ""
    author: str = ""
    summary: str = ""
    content: str = ""
    language: str = ""
    published_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """`ttl` is the wait that the publisher asks for between polls; `skip_hours` (UTC) and `skip_days` (Monday is 0) are
    times at which it publishes nothing. `notes` say what was repaired or left out; `is_partial`: it may list more.
    """

    title: str
    items: tuple[FeedItem, ...]
    language: str = ""
    hub: str = ""
    ttl: timedelta | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()
    next_pages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """`url` is what would be fetched, `key` what tells one page from another; `id` is the SHA-256 of the key, in hex:
    the id of its document. `domain` is the registrable one.
    """

    url: str
    key: str
    id: str
    host: str
    domain: str


class RobotsRule(NamedTuple):
    """The line of a robots.txt that decides; number 0 and an empty text: no line does, so it is allowed."""

    is_allowed: bool
    line_number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsRules:
    """A robots.txt as one agent has to read it, by RFC 9309."""

    agent: str
    crawl_delay: timedelta | None
    sitemaps: tuple[str, ...]
    _decide: Callable[[str], RobotsRule] = field(repr=False, compare=False)

    def allows(self, url: str) -> bool:
        """`url` whole, or its path and query. Raises UrlRejected where it is neither."""
        return self.rule_for(url).is_allowed

    def rule_for(self, url: str) -> RobotsRule:
        """As `allows`, with the line that decides."""
        return self._decide(url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacancy:
    """A vacancy of a page or of the archive; None and empty texts were not said. `id` only where it is stored."""

    title: str
    organisation: str
    apply_url: str
    location: str = ""
    city: str | None = None
    country: str | None = None
    country_code: str | None = None
    level: str | None = None
    work_modality: str | None = None
    contract_type: str | None = None
    deadline: date | None = None
    description: str = ""
    language: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocument:
    """A document in a list or a search; `snippet` marks matches as **so**, in plain text."""

    id: str
    url: str
    title: str
    source: str
    language: str
    published_at: datetime | None
    first_seen_at: datetime
    word_count: int
    is_duplicate: bool
    snippet: str = ""
    rank: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document of the archive, whole. `canonical_url` is the one that is believed."""

    id: str
    url: str
    canonical_url: str
    title: str
    text: str
    author: str
    authors: tuple[str, ...]
    description: str
    language: str
    section: str
    keywords: tuple[str, ...]
    images: tuple[str, ...]
    published_at: datetime | None
    updated_at: datetime | None
    first_seen_at: datetime
    changed_at: datetime
    page_type: str
    word_count: int
    quality: int | None
    version: int
    duplicate_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentVersion:
    """`replaced_at` None: what the document says now."""

    version: int
    title: str
    text: str
    changed_at: datetime
    replaced_at: datetime | None
