"""Names other systems used for our settings. Accepted for good; a `HEADWATER_…` name beats them.

Each alias says which setting it means and how its value is read. A reading may answer None: "use the default".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from headwater.settings.durations import parse_duration

FASTEST_RATE = 1_000

ValueReading = Callable[[str], str | None]


def as_is(value: str) -> str | None:
    return value


def opposite(value: str) -> str | None:
    """`DISABLE_X=true` means x is off."""
    words = {"true": "false", "1": "false", "yes": "false", "on": "false"}
    words |= {"false": "true", "0": "true", "no": "true", "off": "true", "": "true"}
    if value.strip().lower() not in words:
        raise ValueError("should be true or false")
    return words[value.strip().lower()]


def zero_means_default(value: str) -> str | None:
    return value if parse_duration(value) else None


def negative_means_default(value: str) -> str | None:
    return None if float(value) < 0 else value


def delay_from_rate(value: str) -> str | None:
    """Requests per second become the time between two of them."""
    rate = float(value)
    if not 0 < rate <= FASTEST_RATE:
        raise ValueError(f"should be above 0 requests per second, and at most {FASTEST_RATE:,}")
    return f"{1 / rate:.6f}s"


def minutes(value: str) -> str | None:
    return f"{float(value)}m"


def hours(value: str) -> str | None:
    return f"{float(value)}h"


def contact_of_address(value: str) -> str | None:
    return value if value.startswith(("mailto:", "http")) or not value else f"mailto:{value}"


@dataclass(frozen=True, slots=True)
class Alias:
    name: str
    setting: str
    place: Literal["environment", "file"]
    read: ValueReading = as_is
    rule: str = ""  # how the value is read, in words, for the documentation


_ZERO = "0 means the default"
_NEGATIVE = "0 means unlimited, a negative value the default"
_INVERTED = "inverted"

ALIASES: tuple[Alias, ...] = (
    Alias("FRONTIER_DB_URL", "database.url", "environment"),
    Alias("FETCHER_DATABASE_URL", "database.url", "environment"),
    Alias("ELASTICSEARCH_URL", "deliver.elasticsearch_url", "environment"),
    Alias("FETCHER_ELASTICSEARCH_URL", "deliver.elasticsearch_url", "environment"),
    Alias("MEILI_URL", "deliver.meili_url", "environment"),
    Alias("MEILI_HOST", "deliver.meili_url", "environment"),
    Alias("MEILI_API_KEY", "deliver.meili_key", "environment"),
    Alias("MEILI_MASTER_KEY", "deliver.meili_key", "environment"),
    Alias("MEILI_JOBS_INDEX", "deliver.meili_jobs_index", "environment"),
    Alias("WORKER_COUNT", "fetch.concurrency", "environment"),
    Alias("FETCHER_WORKER_COUNT", "fetch.concurrency", "environment"),
    Alias("INGESTION_CONCURRENCY", "fetch.concurrency", "environment"),
    Alias("USER_AGENT", "fetch.user_agent", "environment"),
    Alias("FETCHER_USER_AGENT", "fetch.user_agent", "environment"),
    Alias("AIDJOBS_CRAWLER_UA", "fetch.user_agent", "environment"),
    Alias(
        "AIDJOBS_CONTACT_EMAIL",
        "fetch.contact",
        "environment",
        contact_of_address,
        "an address gets `mailto:`",
    ),
    Alias("REQUEST_TIMEOUT", "fetch.total_timeout", "environment", zero_means_default, _ZERO),
    Alias("FETCHER_REQUEST_TIMEOUT", "fetch.total_timeout", "environment", zero_means_default, _ZERO),
    Alias("CLAIM_RETRY_DELAY", "fetch.claim_retry_delay", "environment"),
    Alias("FETCHER_CLAIM_RETRY_DELAY", "fetch.claim_retry_delay", "environment"),
    Alias("MAX_RETRIES", "fetch.max_retries", "environment"),
    Alias("FETCHER_MAX_RETRIES", "fetch.max_retries", "environment"),
    Alias("FETCHER_MAX_REDIRECTS", "fetch.max_redirects", "environment"),
    Alias("FETCHER_STALE_TIMEOUT", "lease.duration", "environment"),
    Alias("FETCHER_STALE_CHECK_INTERVAL", "lease.sweep_every", "environment"),
    Alias("LOG_LEVEL", "log.level", "environment"),
    Alias("FETCHER_LOG_LEVEL", "log.level", "environment"),
    Alias("LOG_FORMAT", "log.format", "environment"),
    Alias("AIDJOBS_ENV", "service.mode", "environment"),
    Alias("AIDJOBS_DISABLE_SCHEDULER", "poll.enabled", "environment", opposite, _INVERTED),
    Alias("FEED_POLLER_ENABLED", "poll.enabled", "environment"),
    Alias("CRAWLER_FEED_POLL_ENABLED", "poll.enabled", "environment"),
    Alias("FEED_POLLER_POLL_INTERVAL", "poll.tick", "environment"),
    Alias("CRAWLER_FEED_POLL_INTERVAL_MINUTES", "poll.tick", "environment", minutes, "minutes"),
    Alias("FEED_POLLER_MAX_CONCURRENCY", "poll.concurrency", "environment"),
    Alias("CRAWLER_FEED_DISCOVERY_ENABLED", "poll.discovery", "environment"),
    Alias("CRAWLER_FEED_DISCOVERY_RETRY_HOURS", "poll.discovery_retry", "environment", hours, "hours"),
    Alias("max_idle_connections", "fetch.max_idle_connections", "file", negative_means_default, _NEGATIVE),
    Alias(
        "max_connections_per_host",
        "fetch.max_connections_per_host",
        "file",
        negative_means_default,
        _NEGATIVE,
    ),
    Alias("connection_timeout", "fetch.idle_timeout", "file", zero_means_default, _ZERO),
    Alias("http_timeout", "fetch.total_timeout", "file", zero_means_default, _ZERO),
    Alias("connect_timeout", "fetch.connect_timeout", "file", zero_means_default, _ZERO),
    Alias("read_timeout", "fetch.read_timeout", "file", zero_means_default, _ZERO),
    Alias("auto_update_redirects", "poll.update_redirects", "file"),
    Alias("enable_rate_limiting", "politeness.enabled", "file"),
    Alias("rate_limit_per_second", "politeness.delay", "file", delay_from_rate, "requests per second"),
    Alias("min_fetch_interval", "poll.min_interval", "file"),
    Alias("max_fetch_interval", "poll.max_interval", "file"),
    Alias("default_fetch_interval", "poll.default_interval", "file"),
    Alias("adaptive_scheduling", "poll.adaptive", "file"),
    Alias("respect_cache_control", "poll.respect_cache_control", "file"),
    Alias("jitter_percent", "poll.jitter_percent", "file"),
    Alias("planet.log_level", "log.level", "file"),
    Alias("planet.user_agent", "fetch.user_agent", "file"),
    Alias("planet.concurrent_fetches", "poll.concurrency", "file"),
    Alias("feed_poller.enabled", "poll.enabled", "file"),
    Alias("feed_poller.poll_interval", "poll.tick", "file"),
    Alias("feed_poller.max_concurrency", "poll.concurrency", "file"),
    Alias("logger.level", "log.level", "file"),
    Alias("app.environment", "service.mode", "file"),
)

# Sections of older files in which the names above may stand as well as at the top level.
SECTIONS = ("planet",)

# Accepted and without meaning here: name -> why.
IGNORED = {
    "SOURCE_MANAGER_URL": "sources live in Headwater's own database",
    "FETCHER_SOURCE_MANAGER_URL": "sources live in Headwater's own database",
}

_NO_PAGES = "Headwater makes no pages of what it reads"
_NO_BURST = "only a host's own policy allows a burst, see `headwater hosts policy set`"
_NO_API = "Headwater has no server of this kind"
# The same in the settings file; the name of a section stands for all in it that no alias names.
IGNORED_IN_FILE = {
    "planet": _NO_PAGES,
    "rate_limit_burst": _NO_BURST,
    "planet.rate_limit_burst": _NO_BURST,
    "database.path": "Headwater keeps everything in PostgreSQL, see database.url and service.data_dir",
    "app": "it names another program",
    "logger": "only its level has a meaning here",
    "server": _NO_API,
    "crawler": "a pace is set by politeness.delay, sources by `headwater sources add` and `import`",
    "elasticsearch": "its address is set by deliver.elasticsearch_url",
}
