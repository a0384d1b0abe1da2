"""Sources and channels as the API answers with them, and as programs describe them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from headwater.serve.bodies import KeptText, StrictBody

Word = Annotated[KeptText, Field(max_length=500)]
Words = Annotated[list[Word], Field(max_length=100)]
Address = Annotated[KeptText, Field(max_length=2_083)]
Addresses = Annotated[list[Address], Field(max_length=100)]


class PushShape(BaseModel):
    """A channel's subscription at its hub, and how the hub has kept its word."""

    word: str = Field(
        description="wanted, pending, subscribed, proving, pushed, silent, lapsed, denied or failed.",
        examples=["pushed"],
    )
    says: str = Field(description="The same in words.", examples=["pushed 3 min ago"])
    protocol: str = Field(description="websub or rsscloud.", examples=["websub"])
    hub: str
    topic: str = Field(description="The address that is subscribed to.")
    reason: str | None = Field(description="Why it is denied or failed.")
    since: datetime | None = Field(description="When the hub confirmed it first, without a lapse since.")
    lease_until: datetime | None
    proofs: int = Field(description="Pushes in a row that brought something new in time.")
    needed: int = Field(description="So many of them earn trust.")
    pushes: int = Field(description="Those that brought something new.")
    missed: int = Field(description="Items that came late, or that polls found first.")
    last_push_at: datetime | None


class ChannelShape(BaseModel):
    """One polled thing of a source."""

    model_config = ConfigDict(extra="allow")

    id: UUID
    source_id: UUID
    kind: str = Field(description="feed, sitemap, listing, api, crawl, search or backfill.", examples=["feed"])
    url: str
    title: str | None
    is_enabled: bool = Field(description="As a person or Headwater set it.")
    disabled_reason: str | None
    is_active: bool = Field(description="Enabled, and its source is active too: it is polled.")
    next_poll_at: datetime | None
    next_reason: str = Field(description="Why it is polled then.")
    poll_interval_seconds: int | None
    is_running: bool
    last_polled_at: datetime | None
    last_ok_at: datetime | None
    last_new_at: datetime | None
    last_item_count: int
    consecutive_errors: int
    last_error: str | None
    push: PushShape | None = Field(description="How things stand with the hub that it names; None where it names none.")


class ProblemShape(BaseModel):
    """Something that is wrong, since when, and what to do about it."""

    kind: str
    grade: str = Field(examples=["error", "warning"])
    what: str
    fix: str
    since: datetime | None
    about: str
    source_id: UUID | None
    channel_id: UUID | None


class SourceShape(BaseModel):
    """A source: our fields, and those that programs of the systems before this one read."""

    model_config = ConfigDict(extra="allow")

    id: UUID
    url: str
    name: str
    kind: str = Field(examples=["news", "jobs", "docs"])
    priority: int
    tags: list[str]
    org_type: str | None
    timezone: str | None
    country: str | None
    ingestion_mode: str = Field(examples=["feed", "spider", "both"])
    policy: str | None
    poll_every_seconds: int | None
    crawl_frequency_days: float | None
    time_window: str | None
    max_depth: int
    max_pages: int | None
    allowed_domains: list[str]
    include_paths: list[str]
    exclude_paths: list[str]
    allow_external: bool
    start_urls: list[str]
    article_patterns: list[str]
    selectors: dict[str, Any]
    parser_hint: str | None = Field(description="A CSS selector or the recipe of an API; null for callers unknown.")
    rate_limit_ms: int | None
    revisit_every_seconds: list[int]
    skips_tdmrep: bool = Field(description="Whether origins of its pages are never asked for tdmrep.json.")
    speaks_for: list[str]
    scope: str = Field(description="Which pages are wanted, in words.")
    feed_url: str | None
    sitemap_url: str | None
    feed_poll_interval_minutes: int | None
    status: str = Field(examples=["active", "paused", "blocked", "deleted"])
    status_reason: str | None
    health: str = Field(examples=["ok", "warning", "struggling", "silent"])
    health_reason: str
    problems: list[ProblemShape]
    consecutive_failures: int
    next_run_at: datetime | None
    next_reason: str | None
    last_crawled_at: datetime | None
    last_crawl_status: str | None
    last_crawl_message: str | None
    created_at: datetime
    updated_at: datetime
    channels: list[ChannelShape]
    external_ids: list[str] = Field(description="Its ids in other systems.")
    edition: str = Field(description="What people set of it, in short: a change that sends it as If-Match is safe.")
    rate_limit: str = Field(description="Time between two requests, as older programs write it.", examples=["1s"])
    enabled: bool
    disabled_at: datetime | None
    disable_reason: str | None
    feed_disabled_at: datetime | None
    feed_disable_reason: str | None
    identity_key: str | None = Field(description="The first of its ids in other systems.")
    render_mode: str = Field(examples=["static", "dynamic"])
    type: str = Field(description="A tag that older programs know as a type, or else its kind.", examples=["news"])
    source_type: str = Field(description="Kind of its first channel.", examples=["rss", "html", "api"])
    org_name: str
    careers_url: str
    article_url_patterns: list[str]
    time: list[str] = Field(description="Not kept; always empty. So are the following.")
    allow_source_discovery: bool
    extraction_profile: dict[str, Any] | None
    template_hint: str | None
    indigenous_region: str | None
    data_format: str | None
    update_frequency: str | None
    license_type: str | None
    attribution_text: str | None


class SourceStoryShape(SourceShape):
    """A source with the limits it has reached, and what happened to it."""

    crowded_hosts: list[dict[str, Any]] = Field(description="Hosts of its channels that have no room for all polls.")
    freshness: dict[str, Any] = Field(description="Delays to discovery and to each sink, and what polls brought.")
    crawl_pause: dict[str, Any] | None = Field(description="Since when everything is paused, and by whom; or null.")
    limits_reached: list[str] = Field(description="Sentences: which limit keeps pages out.")
    events: list[dict[str, Any]] = Field(description="The last lines of its trail, newest first.")


class SourceList(BaseModel):
    """By name; `total` is counted up to a cap and is null where the filter is a health, which is computed."""

    sources: list[SourceShape]
    cursor: str | None
    total: int | None
    total_is_capped: bool


class SourceFields(StrictBody):
    """Fields of a source, by our names or by those of the systems before this one. Null takes one back to its default.

    Fields that are only told, such as `health`, may stand here and change nothing: an answer can be sent back.
    """

    name: Word | None = Field(None, examples=["Harbour News"])
    org_name: Word | None = Field(None, description="The same as name.")
    feed_url: Address | None = Field(None, examples=["https://harbour.example/feed.xml"])
    sitemap_url: Address | None = None
    more_sitemaps: Addresses | None = None
    kind: Literal["news", "jobs", "docs"] | None = None
    type: Word | None = Field(None, description="A kind, a source_type, or another word, which is kept as a tag.")
    source_type: Literal["html", "rss", "api"] | None = None
    ingestion_mode: Literal["feed", "spider", "both"] | None = None
    status: Literal["active", "paused", "blocked"] | None = None
    enabled: bool | None = None
    disable_reason: Word | None = None
    disabled_at: Word | None = None
    feed_disabled_at: Word | None = None
    feed_disable_reason: Word | None = None
    tags: Words | None = None
    priority: int | None = Field(None, ge=1, le=10)
    interval: Word | None = Field(None, description="Of polls, such as 15m; null learns its rhythm.")
    poll_every: Word | None = Field(None, description="The same as interval.")
    feed_poll_interval_minutes: int | None = Field(None, ge=1, le=525_600)
    rate_limit: Word | float | None = Field(None, description='Time between two requests: "1s", or seconds.')
    rate_limit_ms: int | None = Field(None, ge=0, le=86_400_000)
    max_depth: int | None = Field(None, ge=-1, le=100, description="-1 is without limit.")
    max_pages: int | None = Field(None, ge=1, le=1_000_000)
    timezone: Word | None = None
    country: Word | None = None
    org_type: Word | None = None
    parser_hint: Annotated[KeptText, Field(max_length=20_000)] | dict[str, Any] | None = None
    crawl_frequency_days: float | None = Field(None, ge=0.04, le=365)
    time_window: Word | None = Field(None, examples=["22:00-05:00"])
    policy: Literal["adaptive", "tiers", "frequency", "fixed"] | None = None
    revisit_every: Word | None = Field(None, examples=["24h,7d"])
    start_urls: Addresses | None = None
    allowed_domains: Words | None = None
    include_paths: Words | None = None
    exclude_paths: Words | None = None
    allow_external: bool | None = None
    article_patterns: Words | None = None
    article_url_patterns: Words | None = None
    selectors: dict[str, Any] | None = None
    skips_tdmrep: bool | None = None
    speaks_for: Words | None = None
    external_ids: Words | None = None
    identity_key: Word | None = None
    render_mode: Literal["static", "dynamic"] | None = None
    time: Words | None = Field(None, description="Of older programs; not kept, like the following.")
    allow_source_discovery: bool | None = None
    extraction_profile: dict[str, Any] | None = None
    template_hint: Word | None = None
    indigenous_region: Word | None = None
    data_format: Word | None = None
    update_frequency: Word | None = None
    license_type: Word | None = None
    attribution_text: Word | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_told(cls, said: Any) -> Any:
        if not isinstance(said, dict):
            return said
        told = SourceStoryShape.model_fields.keys() - cls.model_fields.keys()
        return {name: value for name, value in said.items() if name not in told}

    @property
    def said(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class ChangedSource(SourceFields):
    url: Address | None = Field(None, description="Only the address that it has; another site is another source.")
    careers_url: Address | None = None


class NewSource(SourceFields):
    url: Address | None = Field(None, examples=["https://harbour.example/"], description="The site, or a feed of it.")
    careers_url: Address | None = Field(None, description="The same as url.")


class AddressToLookAt(NewSource):
    """A site to look at; nothing is stored."""
