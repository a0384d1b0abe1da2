"""A publisher that is followed: its profile as a person sets it, and as it is stored."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from headwater.errors import UrlRejected, UsageError
from headwater.settings.durations import format_duration
from headwater.storable import one_line
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import is_public_suffix
from headwater.urls.scope import Scope

DEFAULT_PRIORITY = 5
DEFAULT_DEPTH = 2
LONGEST_NAME = 200
MOST_TAGS = 50
LONGEST_TAG = 100
# In one text: those of several rows with the same address are joined, and then counted.
MOST_TAGS_SAID = 100
SHORTEST_POLL = timedelta(minutes=1)
LONGEST_POLL = timedelta(days=365)
SHORTEST_REVISIT = timedelta(minutes=1)
LONGEST_REVISIT = timedelta(days=3650)
MOST_REVISITS = 10
_TAG_SEPARATOR = re.compile(r"[,;|]")
COUNTRY = re.compile(r"[A-Za-z]{2}")
WINDOW = re.compile(r"([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d")


class SourceKind(StrEnum):
    NEWS = "news"
    JOBS = "jobs"
    DOCS = "docs"


class SourceStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    BLOCKED = "blocked"
    DELETED = "deleted"


class SourceMode(StrEnum):
    """Whether its feeds are polled, its pages looked through, or both."""

    FEED = "feed"
    SPIDER = "spider"
    BOTH = "both"


class Policy(StrEnum):
    ADAPTIVE = "adaptive"
    TIERS = "tiers"
    FREQUENCY = "frequency"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Profile:
    """A person's description of a source. Making one raises UsageError for each flaw that it can have."""

    url: str
    name: str = ""
    kind: SourceKind = SourceKind.NEWS
    priority: int = DEFAULT_PRIORITY
    tags: tuple[str, ...] = ()
    org_type: str | None = None
    timezone: str | None = None
    country: str | None = None
    ingestion_mode: SourceMode = SourceMode.SPIDER
    policy: Policy | None = None
    poll_every: timedelta | None = None
    crawl_frequency_days: float | None = None
    time_window: str | None = None
    max_depth: int = DEFAULT_DEPTH
    max_pages: int | None = None
    allowed_domains: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    allow_external: bool = False
    start_urls: tuple[str, ...] = ()
    article_patterns: tuple[str, ...] = ()
    selectors: dict[str, Any] = field(default_factory=dict)
    parser_hint: str | None = None
    rate_limit_ms: int | None = None
    revisit_every: tuple[timedelta, ...] = ()  # of a page, one after the other; the last one over and over
    skips_tdmrep: bool = False  # the origins of its pages are never asked for tdmrep.json
    speaks_for: tuple[str, ...] = ()  # hosts beyond the domains of its channels, of which its word counts

    def __post_init__(self) -> None:
        # Names and tags are shown in many places: none of them may start a line or move a cursor there.
        object.__setattr__(self, "name", one_line(self.name) or self.address.site)
        object.__setattr__(self, "tags", tuple(tag for tag in map(one_line, self.tags) if tag))
        for why in problems_of(self):
            raise UsageError(why)

    @property
    def address(self) -> CanonicalUrl:
        return canonicalise(self.url)

    @property
    def scope(self) -> Scope:
        """Where its pages lie: its own host, and the hosts and domains named beside it."""
        hosts = {self.address.site, *(canonicalise(url).site for url in self.start_urls)}
        return Scope(
            frozenset(hosts),
            frozenset(self.allowed_domains),
            self.include_paths,
            self.exclude_paths,
            self.allow_external,
            frozenset(canonicalise(url).key for url in (self.url, *self.start_urls)),
        )

    @property
    def paths(self) -> Scope | None:
        """For pages that may lie on any host, as items of a feed: on its own hosts the paths hold. None: any path."""
        return replace(self.scope, allow_external=True) if self.include_paths or self.exclude_paths else None

    @property
    def redirects(self) -> Scope | None:
        """Where its pages may be redirected to: a manual has its place, news and vacancies may be told anywhere."""
        return self.scope if self.kind is SourceKind.DOCS else self.paths


def tags_from(text: str) -> tuple[str, ...]:
    """As people write them. No tag holds a separator, so every format can carry every tag.

    Raises ValueError with the end of a sentence.
    """
    found = (one_line(part).strip("/# ") for part in _TAG_SEPARATOR.split(text))
    tags = tuple(dict.fromkeys(tag for tag in found if tag))
    if len(tags) > MOST_TAGS_SAID or any(len(tag) > LONGEST_TAG for tag in tags):
        raise ValueError(f"should be at most {MOST_TAGS_SAID} tags of at most {LONGEST_TAG} characters")
    return tags


def scope_in_words(profile: Profile, *, follows_links: bool) -> str:
    """The end of a sentence that says which pages are wanted, and how many."""
    scope = profile.scope
    places = [*sorted(scope.hosts), *(f"all of {name}" for name in sorted(scope.domains))]
    included = [] if "/" in scope.include_paths else list(profile.include_paths)
    told = f"pages of {_joined(places)}"
    told += f" below {_joined(included)}" if included else ""
    told += f", not {_joined(profile.exclude_paths)}" if profile.exclude_paths else ""
    told += ", and links to other sites" if profile.allow_external else ""
    depth = "to the end" if profile.max_depth < 0 else f"{profile.max_depth} deep"
    told += f"; links are followed {depth}" if follows_links else ""
    return told + (f"; at most {profile.max_pages:,} pages" if profile.max_pages else "")


def _joined(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def problems_of(profile: Profile) -> list[str]:
    """Sentences; empty is well."""
    told = [
        _in_range("priority", profile.priority, 1, 10),
        _in_range("max_depth", profile.max_depth, -1, 100),
        _in_range("max_pages", profile.max_pages, 1, 1_000_000),
        _in_range("rate_limit_ms", profile.rate_limit_ms, 0, 86_400_000),
        _in_range("crawl_frequency_days", profile.crawl_frequency_days, 0.04, 365),
        _in_range("poll_every", profile.poll_every, SHORTEST_POLL, LONGEST_POLL),
        *(_revisit(wait) for wait in profile.revisit_every),
        "" if len(profile.revisit_every) <= MOST_REVISITS else f"revisit_every has at most {MOST_REVISITS} times.",
        "" if len(profile.name) <= LONGEST_NAME else f"A name has at most {LONGEST_NAME} characters.",
        "" if len(profile.tags) <= MOST_TAGS else f"A source has at most {MOST_TAGS} tags.",
        _time_window(profile.time_window),
        _zone(profile.timezone),
        _country(profile.country),
        *(_domain(name) for name in (*profile.allowed_domains, *profile.speaks_for)),
        *(_owned(name) for name in profile.speaks_for),
        *(_start(url) for url in profile.start_urls),
    ]
    return [why for why in told if why]


def _in_range(name: str, value: Any, least: Any, most: Any) -> str:
    if value is None or least <= value <= most:
        return ""
    return f"{name} = {_written(value)} is not possible: give {_written(least)} to {_written(most)}."


def _revisit(wait: timedelta) -> str:
    refused = _in_range("revisit_every", wait, SHORTEST_REVISIT, LONGEST_REVISIT)
    return f"{refused.removesuffix('.')}, one time or several such as 24h,7d." if refused else ""


def _written(value: Any) -> str:
    return format_duration(value) if isinstance(value, timedelta) else str(value)


def _time_window(text: str | None) -> str:
    if text is None or WINDOW.fullmatch(text):
        return ""
    return f"{text!r} is no time window: write it as 22:00-05:00."


def _zone(name: str | None) -> str:
    if name is None:
        return ""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"There is no time zone {name!r}: write it as Europe/Paris."
    return ""


def _country(code: str | None) -> str:
    if code is None or COUNTRY.fullmatch(code):
        return ""
    return f"{code!r} is no country: write its two letters, such as FR."


def _domain(name: str) -> str:
    try:
        is_bare = canonicalise(f"https://{name}/").host == name.lower()
    except UrlRejected:
        is_bare = False
    return "" if is_bare else f"{name!r} is no domain: write it as example.org."


def _owned(name: str) -> str:
    return f"{name!r} is everybody's: name the domain of one publisher." if is_public_suffix(name) else ""


def _start(url: str) -> str:
    try:
        canonicalise(url)
    except UrlRejected as error:
        return f"{url!r} cannot be a start page. {error.what}"
    return ""


@dataclass(frozen=True, slots=True)
class Source:
    """A source as it is stored."""

    id: UUID
    profile: Profile
    status: SourceStatus
    status_reason: str | None
    consecutive_failures: int
    last_run_at: datetime | None
    last_run_status: str | None
    last_run_message: str | None
    created_at: datetime
    updated_at: datetime

    @property
    def name(self) -> str:
        return self.profile.name
