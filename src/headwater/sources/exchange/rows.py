"""What a file of sources holds, line by line: a row to follow, or a line nobody can."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

LONGEST_TEXT = 20_000

# Controls, lone surrogates and the two characters XML forbids: no name needs them, and a terminal may obey them.
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNWANTED_IN_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


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
    status: str = ""  # active, paused, blocked, deleted
    disable_reason: str = ""  # why it is not active
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
    revisit_every: tuple[timedelta, ...] = ()
    max_pages: int | None = None
    start_urls: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    allow_external: bool = False
    article_patterns: tuple[str, ...] = ()
    selectors: dict[str, Any] = field(default_factory=dict)
    speaks_for: tuple[str, ...] = ()
    external_ids: tuple[str, ...] = ()  # what other systems call it
    render_mode: str = ""  # static, dynamic: whether its pages need a browser
    feed_disable_reason: str = ""  # why its feed is not polled; nothing means that it is
    record: str = field(default="", compare=False, repr=False)  # as it stood in the file


@dataclass(frozen=True, slots=True)
class BadLine:
    """`text` is the record as it stood there, to be mended and brought again; `reason` is for people."""

    line: int
    text: str
    reason: str


def bad_line(line: int, text: str, reason: str) -> BadLine:
    # Cut before cleaning: a line may be as long as the file.
    return BadLine(line, cut(as_laid_out(text[: LONGEST_TEXT * 2]).strip("\n"), LONGEST_TEXT), reason)


def is_whole(bad: BadLine) -> bool:
    """Whether the record is all there, and was not cut."""
    return len(bad.text) < LONGEST_TEXT


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def as_laid_out(text: str) -> str:
    """Its lines and tabs stay, nothing else a terminal would obey does."""
    return _UNWANTED_IN_LINES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    return " ".join(_UNWANTED.sub(" ", text).split())
