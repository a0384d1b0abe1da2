"""Values of hosts.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, NotRequired, TypedDict


class HostShape(TypedDict):
    """A host as it stands, with everything that has a say in its pace."""

    host: str
    delay_ms: int
    penalty_ms: int
    in_flight: int
    max_concurrency: int


class HostList(TypedDict):
    hosts: list[HostShape]
    cursor: str | None


class PolicyFields(TypedDict):
    """What a person sets for a host; what is not given stays.

    `max_concurrency`: Requests under way at once.
    `burst`: Requests that may start at once after a pause.
    `max_pages`: Pages of one run.
    `allow_js`: Whether pages are rendered in a browser.
    """

    max_concurrency: NotRequired[int | None]
    min_request_interval_ms: NotRequired[int | None]
    burst: NotRequired[int | None]
    max_pages: NotRequired[int | None]
    max_kb_per_page: NotRequired[int | None]
    allow_js: NotRequired[bool | None]


class PolicyShape(TypedDict):
    """The policy of a host with the defaults that hold where nothing was set; `own` is what was."""

    host: str
    max_concurrency: int
    min_request_interval_ms: int
    max_pages: int
    max_kb_per_page: int
    allow_js: bool
    burst: int
    last_seen_status: int | None
    updated_at: str | None
    own: dict[str, Any]
    effective_delay_ms: float
    decided_by: str


class RobotsShape(TypedDict):
    """The robots.txt of a host: of its usual origin, and of each one. `check` says what decides about a URL."""

    host: str
    robots_txt: str
    fetched_at: str | None
    crawl_delay_ms: int | None
    disallow: list[str]
    robots: list[dict[str, Any]]
    check: dict[str, Any] | None


class RuleFields(TypedDict):
    """Which URLs of a host are one page; what is not given stays.

    `keep_slash`: Whether `/a` and `/a/` are two pages.
    `keep`: Parameters that tell pages apart.
    `strip`: Parameters that say nothing of the page.
    """

    keep_slash: NotRequired[bool | None]
    keep: NotRequired[list[str] | None]
    strip: NotRequired[list[str] | None]


class RulesShape(TypedDict):
    """Its fields:

    `is_applied`: Whether stored entries follow already.
    """

    host: str
    keep_slash: bool
    keep: list[str]
    strip: list[str]
    is_applied: bool


class RulesList(TypedDict):
    rules: list[RulesShape]


class WholeHost(TypedDict):
    """Its fields:

    `effective_delay_ms`: Time between two requests, as it holds now.
    `closures`: Each reason for which it is closed now, with its end.
    """

    host: str
    delay_ms: int
    penalty_ms: int
    in_flight: int
    max_concurrency: int
    effective_delay_ms: float
    decided_by: str
    closures: list[dict[str, Any]]
