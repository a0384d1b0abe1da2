"""What a file of sources holds, line by line: a row to follow, or a line nobody can."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

LONGEST_TEXT = 200

# Controls, lone surrogates and the two characters XML forbids: no name needs them, and a terminal may obey them.
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Row:
    """One source as a person describes it. Empty and None mean that the file does not say."""

    line: int
    url: str
    name: str = ""
    feed_url: str = ""
    sitemap_url: str = ""
    kind: str = ""  # news, jobs, docs
    source_type: str = ""  # html, rss, api
    ingestion_mode: str = ""  # feed, spider, both
    status: str = ""  # active, paused
    tags: tuple[str, ...] = ()
    priority: int | None = None
    interval: timedelta | None = None
    rate_limit: timedelta | None = None
    max_depth: int | None = None  # -1 is without limit
    timezone: str = ""
    org_type: str = ""
    parser_hint: str = ""
    crawl_frequency_days: float | None = None
    time_window: str = ""
    more_sitemaps: tuple[str, ...] = ()
    country: str = ""
    policy: str = ""  # adaptive, tiers, frequency, fixed
    revisit_every: timedelta | None = None
    max_pages: int | None = None
    start_urls: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    allow_external: bool = False
    article_patterns: tuple[str, ...] = ()
    selectors: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BadLine:
    """`text` is what was found there, safe to print and cut short; `reason` is for people."""

    line: int
    text: str
    reason: str


def bad_line(line: int, text: str, reason: str) -> BadLine:
    # Cut before cleaning: a line may be as long as the file.
    shown = one_line(text[: LONGEST_TEXT * 2])
    return BadLine(line, shown if len(shown) <= LONGEST_TEXT else f"{shown[: LONGEST_TEXT - 1]}…", reason)


def one_line(text: str) -> str:
    return " ".join(_UNWANTED.sub(" ", text).split())
