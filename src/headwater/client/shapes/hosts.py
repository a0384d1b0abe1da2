"""Values of hosts.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, Literal, NotRequired, TypedDict

from headwater.client.shapes.shared import HealthStatus


class HostShape(TypedDict):
    """A host as it stands, with everything that has a say in its pace.

    `health`: The worst of its last answer and of why it is closed.
    """

    host: str
    delay_ms: int
    penalty_ms: int
    in_flight: int
    max_concurrency: int
    health: HealthStatus


class HostList(TypedDict):
    hosts: list[HostShape]
    cursor: str | None


HostState = Literal["open", "waiting", "asked", "closed", "doubted", "slowed", "policy", "crawl_delay", "idle"]


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
    """The policy of a host with the defaults that hold where nothing was set; `own` is what was.

    `edition`: Of what was set, in short: a change that sends it as If-Match is safe.
    """

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
    edition: str
    effective_delay_ms: float
    decided_by: str


class RefetchShape(TypedDict):
    """Origins that were asked for their robots.txt now, and those that could not be: each before its next request.

    `wait_seconds`: Until the host may be asked again.
    `robots`: As it is known now.
    """

    asked: list[str]
    left: list[str]
    wait_seconds: float | None
    robots: list[dict[str, Any]]


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

    `health`: The worst of its last answer and of why it is closed.
    `effective_delay_ms`: Time between two requests, as it holds now.
    `closures`: Each reason for which it is closed now, with its end.
    """

    host: str
    delay_ms: int
    penalty_ms: int
    in_flight: int
    max_concurrency: int
    health: HealthStatus
    effective_delay_ms: float
    decided_by: str
    closures: list[dict[str, Any]]
