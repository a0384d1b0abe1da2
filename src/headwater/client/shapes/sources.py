"""Values of sources.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, Literal, NotRequired, TypedDict

from headwater.client.shapes.shared import ChannelShape, ProblemShape


class AddressToLookAt(TypedDict):
    """A site to look at; nothing is stored.

    `org_name`: The same as name.
    `type`: A kind, a source_type, or another word, which is kept as a tag.
    `interval`: Of polls, such as 15m; null learns its rhythm.
    `poll_every`: The same as interval.
    `rate_limit`: Time between two requests: "1s", or seconds.
    `max_depth`: -1 is without limit.
    `time`: Of older programs; not kept, like the following.
    `url`: The site, or a feed of it.
    `careers_url`: The same as url.
    """

    name: NotRequired[str | None]
    org_name: NotRequired[str | None]
    feed_url: NotRequired[str | None]
    sitemap_url: NotRequired[str | None]
    more_sitemaps: NotRequired[list[str] | None]
    kind: NotRequired[Literal["news", "jobs", "docs"] | None]
    type: NotRequired[str | None]
    source_type: NotRequired[Literal["html", "rss", "api"] | None]
    ingestion_mode: NotRequired[Literal["feed", "spider", "both"] | None]
    status: NotRequired[Literal["active", "paused", "blocked"] | None]
    enabled: NotRequired[bool | None]
    disable_reason: NotRequired[str | None]
    disabled_at: NotRequired[str | None]
    feed_disabled_at: NotRequired[str | None]
    feed_disable_reason: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    priority: NotRequired[int | None]
    interval: NotRequired[str | None]
    poll_every: NotRequired[str | None]
    feed_poll_interval_minutes: NotRequired[int | None]
    rate_limit: NotRequired[str | float | None]
    rate_limit_ms: NotRequired[int | None]
    max_depth: NotRequired[int | None]
    max_pages: NotRequired[int | None]
    timezone: NotRequired[str | None]
    country: NotRequired[str | None]
    org_type: NotRequired[str | None]
    parser_hint: NotRequired[str | dict[str, Any] | None]
    crawl_frequency_days: NotRequired[float | None]
    time_window: NotRequired[str | None]
    policy: NotRequired[Literal["adaptive", "tiers", "frequency", "fixed"] | None]
    revisit_every: NotRequired[str | None]
    start_urls: NotRequired[list[str] | None]
    allowed_domains: NotRequired[list[str] | None]
    include_paths: NotRequired[list[str] | None]
    exclude_paths: NotRequired[list[str] | None]
    allow_external: NotRequired[bool | None]
    article_patterns: NotRequired[list[str] | None]
    article_url_patterns: NotRequired[list[str] | None]
    selectors: NotRequired[dict[str, Any] | None]
    skips_tdmrep: NotRequired[bool | None]
    speaks_for: NotRequired[list[str] | None]
    external_ids: NotRequired[list[str] | None]
    identity_key: NotRequired[str | None]
    render_mode: NotRequired[Literal["static", "dynamic"] | None]
    time: NotRequired[list[str] | None]
    allow_source_discovery: NotRequired[bool | None]
    extraction_profile: NotRequired[dict[str, Any] | None]
    template_hint: NotRequired[str | None]
    indigenous_region: NotRequired[str | None]
    data_format: NotRequired[str | None]
    update_frequency: NotRequired[str | None]
    license_type: NotRequired[str | None]
    attribution_text: NotRequired[str | None]
    url: NotRequired[str | None]
    careers_url: NotRequired[str | None]


class BatchOutcome(TypedDict):
    """Of one source of a batch.

    `outcome`: added, known or failed.
    """

    index: int
    outcome: str
    id: str | None
    url: str | None
    error: str | None


class BatchAnswer(TypedDict):
    added: int
    known: int
    failed: int
    results: list[BatchOutcome]


BulkAction = Literal["run", "pause", "resume", "set_interval", "set_policy", "tag", "clear_errors", "delete"]


class ChangedSource(TypedDict):
    """Its fields:

    `org_name`: The same as name.
    `type`: A kind, a source_type, or another word, which is kept as a tag.
    `interval`: Of polls, such as 15m; null learns its rhythm.
    `poll_every`: The same as interval.
    `rate_limit`: Time between two requests: "1s", or seconds.
    `max_depth`: -1 is without limit.
    `time`: Of older programs; not kept, like the following.
    `url`: Only the address that it has; another site is another source.
    """

    name: NotRequired[str | None]
    org_name: NotRequired[str | None]
    feed_url: NotRequired[str | None]
    sitemap_url: NotRequired[str | None]
    more_sitemaps: NotRequired[list[str] | None]
    kind: NotRequired[Literal["news", "jobs", "docs"] | None]
    type: NotRequired[str | None]
    source_type: NotRequired[Literal["html", "rss", "api"] | None]
    ingestion_mode: NotRequired[Literal["feed", "spider", "both"] | None]
    status: NotRequired[Literal["active", "paused", "blocked"] | None]
    enabled: NotRequired[bool | None]
    disable_reason: NotRequired[str | None]
    disabled_at: NotRequired[str | None]
    feed_disabled_at: NotRequired[str | None]
    feed_disable_reason: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    priority: NotRequired[int | None]
    interval: NotRequired[str | None]
    poll_every: NotRequired[str | None]
    feed_poll_interval_minutes: NotRequired[int | None]
    rate_limit: NotRequired[str | float | None]
    rate_limit_ms: NotRequired[int | None]
    max_depth: NotRequired[int | None]
    max_pages: NotRequired[int | None]
    timezone: NotRequired[str | None]
    country: NotRequired[str | None]
    org_type: NotRequired[str | None]
    parser_hint: NotRequired[str | dict[str, Any] | None]
    crawl_frequency_days: NotRequired[float | None]
    time_window: NotRequired[str | None]
    policy: NotRequired[Literal["adaptive", "tiers", "frequency", "fixed"] | None]
    revisit_every: NotRequired[str | None]
    start_urls: NotRequired[list[str] | None]
    allowed_domains: NotRequired[list[str] | None]
    include_paths: NotRequired[list[str] | None]
    exclude_paths: NotRequired[list[str] | None]
    allow_external: NotRequired[bool | None]
    article_patterns: NotRequired[list[str] | None]
    article_url_patterns: NotRequired[list[str] | None]
    selectors: NotRequired[dict[str, Any] | None]
    skips_tdmrep: NotRequired[bool | None]
    speaks_for: NotRequired[list[str] | None]
    external_ids: NotRequired[list[str] | None]
    identity_key: NotRequired[str | None]
    render_mode: NotRequired[Literal["static", "dynamic"] | None]
    time: NotRequired[list[str] | None]
    allow_source_discovery: NotRequired[bool | None]
    extraction_profile: NotRequired[dict[str, Any] | None]
    template_hint: NotRequired[str | None]
    indigenous_region: NotRequired[str | None]
    data_format: NotRequired[str | None]
    update_frequency: NotRequired[str | None]
    license_type: NotRequired[str | None]
    attribution_text: NotRequired[str | None]
    url: NotRequired[str | None]
    careers_url: NotRequired[str | None]


ListFormat = Literal["opml", "csv", "urls", "jsonl"]


ListOrder = Literal["name", "added", "-added", "next", "-errors"]


class NewSource(TypedDict):
    """Its fields:

    `org_name`: The same as name.
    `type`: A kind, a source_type, or another word, which is kept as a tag.
    `interval`: Of polls, such as 15m; null learns its rhythm.
    `poll_every`: The same as interval.
    `rate_limit`: Time between two requests: "1s", or seconds.
    `max_depth`: -1 is without limit.
    `time`: Of older programs; not kept, like the following.
    `url`: The site, or a feed of it.
    `careers_url`: The same as url.
    """

    name: NotRequired[str | None]
    org_name: NotRequired[str | None]
    feed_url: NotRequired[str | None]
    sitemap_url: NotRequired[str | None]
    more_sitemaps: NotRequired[list[str] | None]
    kind: NotRequired[Literal["news", "jobs", "docs"] | None]
    type: NotRequired[str | None]
    source_type: NotRequired[Literal["html", "rss", "api"] | None]
    ingestion_mode: NotRequired[Literal["feed", "spider", "both"] | None]
    status: NotRequired[Literal["active", "paused", "blocked"] | None]
    enabled: NotRequired[bool | None]
    disable_reason: NotRequired[str | None]
    disabled_at: NotRequired[str | None]
    feed_disabled_at: NotRequired[str | None]
    feed_disable_reason: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    priority: NotRequired[int | None]
    interval: NotRequired[str | None]
    poll_every: NotRequired[str | None]
    feed_poll_interval_minutes: NotRequired[int | None]
    rate_limit: NotRequired[str | float | None]
    rate_limit_ms: NotRequired[int | None]
    max_depth: NotRequired[int | None]
    max_pages: NotRequired[int | None]
    timezone: NotRequired[str | None]
    country: NotRequired[str | None]
    org_type: NotRequired[str | None]
    parser_hint: NotRequired[str | dict[str, Any] | None]
    crawl_frequency_days: NotRequired[float | None]
    time_window: NotRequired[str | None]
    policy: NotRequired[Literal["adaptive", "tiers", "frequency", "fixed"] | None]
    revisit_every: NotRequired[str | None]
    start_urls: NotRequired[list[str] | None]
    allowed_domains: NotRequired[list[str] | None]
    include_paths: NotRequired[list[str] | None]
    exclude_paths: NotRequired[list[str] | None]
    allow_external: NotRequired[bool | None]
    article_patterns: NotRequired[list[str] | None]
    article_url_patterns: NotRequired[list[str] | None]
    selectors: NotRequired[dict[str, Any] | None]
    skips_tdmrep: NotRequired[bool | None]
    speaks_for: NotRequired[list[str] | None]
    external_ids: NotRequired[list[str] | None]
    identity_key: NotRequired[str | None]
    render_mode: NotRequired[Literal["static", "dynamic"] | None]
    time: NotRequired[list[str] | None]
    allow_source_discovery: NotRequired[bool | None]
    extraction_profile: NotRequired[dict[str, Any] | None]
    template_hint: NotRequired[str | None]
    indigenous_region: NotRequired[str | None]
    data_format: NotRequired[str | None]
    update_frequency: NotRequired[str | None]
    license_type: NotRequired[str | None]
    attribution_text: NotRequired[str | None]
    url: NotRequired[str | None]
    careers_url: NotRequired[str | None]


class NewSources(TypedDict):
    """Its fields:

    `sources`: Each as POST /sources takes it.
    """

    sources: list[dict[str, Any]]


class PageMeta(TypedDict):
    """Its fields:

    `count`: All pages of the crawl, whatever their status.
    """

    count: int


class CrawledPages(TypedDict):
    """How far the crawl of a site has got, and a page of its pages.

    `pages`: How many, by status.
    """

    state: str
    reason: str
    pages: dict[str, int]
    limits_reached: list[str]
    data: list[dict[str, Any]]
    meta: PageMeta
    cursor: str | None


Policy = Literal["adaptive", "tiers", "frequency", "fixed"]


class Reason(TypedDict):
    """Why; shown with the source."""

    reason: NotRequired[str]


class SeenSiteShape(TypedDict):
    """What a site has; `followed` false says by `against` and `reason` why it would not be followed."""

    followed: bool
    against: str | None
    reason: str | None
    url: str | None
    name: str | None
    feed_url: str | None
    sitemap_url: str | None
    ingestion_mode: str | None
    found: list[dict[str, Any]]
    channels: list[dict[str, Any]]


class SimulatedSource(TypedDict):
    """The items that each channel would bring; `jobs` are the first vacancies among them."""

    channels: list[dict[str, Any]]
    pages: list[dict[str, Any]]
    jobs: list[dict[str, Any]]


SourceKind = Literal["news", "jobs", "docs"]


class BulkFilter(TypedDict):
    """As the list takes it. An empty one means every source that was not deleted; it deletes none.

    `status`: active, paused, blocked, deleted, failing, silent, overdue or idle.
    `text`: The beginning of a name.
    """

    status: NotRequired[str | None]
    kind: NotRequired[SourceKind | None]
    tag: NotRequired[str | None]
    text: NotRequired[str | None]


class BulkRequest(TypedDict):
    """One action, and the sources: by `ids` or by `filter`.

    `ids`: Ids, addresses, hosts or names.
    `interval`: For set_interval, such as 15m; null learns the rhythm again.
    `policy`: For set_policy; null takes it back to the usual one.
    `tags`: For tag: added to those that a source has.
    `reason`: For pause and delete; shown with the source.
    """

    action: BulkAction
    ids: NotRequired[list[str] | None]
    filter: NotRequired[BulkFilter | None]
    interval: NotRequired[str | None]
    policy: NotRequired[Policy | None]
    tags: NotRequired[list[str] | None]
    reason: NotRequired[str]


SourceOrder = Literal["name", "url", "enabled", "created_at"]


class SourceShape(TypedDict):
    """A source: our fields, and those that programs of the systems before this one read.

    `parser_hint`: A CSS selector or the recipe of an API; null for callers unknown.
    `skips_tdmrep`: Whether origins of its pages are never asked for tdmrep.json.
    `scope`: Which pages are wanted, in words.
    `external_ids`: Its ids in other systems.
    `edition`: What people set of it, in short: a change that sends it as If-Match is safe.
    `rate_limit`: Time between two requests, as older programs write it.
    `identity_key`: The first of its ids in other systems.
    `type`: A tag that older programs know as a type, or else its kind.
    `source_type`: Kind of its first channel.
    `time`: Not kept; always empty. So are the following.
    """

    id: str
    url: str
    name: str
    kind: str
    priority: int
    tags: list[str]
    org_type: str | None
    timezone: str | None
    country: str | None
    ingestion_mode: str
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
    parser_hint: str | None
    rate_limit_ms: int | None
    revisit_every_seconds: list[int]
    skips_tdmrep: bool
    speaks_for: list[str]
    scope: str
    feed_url: str | None
    sitemap_url: str | None
    feed_poll_interval_minutes: int | None
    status: str
    status_reason: str | None
    health: str
    health_reason: str
    problems: list[ProblemShape]
    consecutive_failures: int
    next_run_at: str | None
    next_reason: str | None
    last_crawled_at: str | None
    last_crawl_status: str | None
    last_crawl_message: str | None
    created_at: str
    updated_at: str
    channels: list[ChannelShape]
    external_ids: list[str]
    edition: str
    rate_limit: str
    enabled: bool
    disabled_at: str | None
    disable_reason: str | None
    feed_disabled_at: str | None
    feed_disable_reason: str | None
    identity_key: str | None
    render_mode: str
    type: str
    source_type: str
    org_name: str
    careers_url: str
    article_url_patterns: list[str]
    time: list[str]
    allow_source_discovery: bool
    extraction_profile: dict[str, Any] | None
    template_hint: str | None
    indigenous_region: str | None
    data_format: str | None
    update_frequency: str | None
    license_type: str | None
    attribution_text: str | None


class SourceList(TypedDict):
    """By name; `total` is counted up to a cap and is null where the filter is a health, which is computed."""

    sources: list[SourceShape]
    cursor: str | None
    total: int | None
    total_is_capped: bool


class SourceStoryShape(TypedDict):
    """A source with the limits it has reached, and what happened to it.

    `parser_hint`: A CSS selector or the recipe of an API; null for callers unknown.
    `skips_tdmrep`: Whether origins of its pages are never asked for tdmrep.json.
    `scope`: Which pages are wanted, in words.
    `external_ids`: Its ids in other systems.
    `edition`: What people set of it, in short: a change that sends it as If-Match is safe.
    `rate_limit`: Time between two requests, as older programs write it.
    `identity_key`: The first of its ids in other systems.
    `type`: A tag that older programs know as a type, or else its kind.
    `source_type`: Kind of its first channel.
    `time`: Not kept; always empty. So are the following.
    `crowded_hosts`: Hosts of its channels that have no room for all polls.
    `freshness`: Delays to discovery and to each sink, and what polls brought.
    `crawl_pause`: Since when everything is paused, and by whom; or null.
    `limits_reached`: Sentences: which limit keeps pages out.
    `events`: The last lines of its trail, newest first.
    """

    id: str
    url: str
    name: str
    kind: str
    priority: int
    tags: list[str]
    org_type: str | None
    timezone: str | None
    country: str | None
    ingestion_mode: str
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
    parser_hint: str | None
    rate_limit_ms: int | None
    revisit_every_seconds: list[int]
    skips_tdmrep: bool
    speaks_for: list[str]
    scope: str
    feed_url: str | None
    sitemap_url: str | None
    feed_poll_interval_minutes: int | None
    status: str
    status_reason: str | None
    health: str
    health_reason: str
    problems: list[ProblemShape]
    consecutive_failures: int
    next_run_at: str | None
    next_reason: str | None
    last_crawled_at: str | None
    last_crawl_status: str | None
    last_crawl_message: str | None
    created_at: str
    updated_at: str
    channels: list[ChannelShape]
    external_ids: list[str]
    edition: str
    rate_limit: str
    enabled: bool
    disabled_at: str | None
    disable_reason: str | None
    feed_disabled_at: str | None
    feed_disable_reason: str | None
    identity_key: str | None
    render_mode: str
    type: str
    source_type: str
    org_name: str
    careers_url: str
    article_url_patterns: list[str]
    time: list[str]
    allow_source_discovery: bool
    extraction_profile: dict[str, Any] | None
    template_hint: str | None
    indigenous_region: str | None
    data_format: str | None
    update_frequency: str | None
    license_type: str | None
    attribution_text: str | None
    crowded_hosts: list[dict[str, Any]]
    freshness: dict[str, Any]
    crawl_pause: dict[str, Any] | None
    limits_reached: list[str]
    events: list[dict[str, Any]]


class TriedChannel(TypedDict):
    """The answer of one channel: what a person needs of its head, never raw headers."""

    kind: str
    url: str
    status: int | None
    size_bytes: int | None
    took_ms: int | None
    etag: str | None
    last_modified: str | None
    problem: str | None


class TestedSource(TypedDict):
    """Every channel, asked once; beside them the first one, as older programs read it."""

    channels: list[TriedChannel]
    status: int | None
    size: int | None
    etag: str | None
    last_modified: str | None
