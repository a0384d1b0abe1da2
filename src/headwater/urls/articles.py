"""Is a URL an article, a page that leads to articles, or neither? Told from its spelling alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from pydantic_core import SchemaError, SchemaValidator, core_schema

from headwater.errors import UrlRejected, UsageError
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.skip import why_skipped

MOST_PATTERNS = 100
LONGEST_PATTERN = 500
_MOST_REPETITIONS = 100
_COUNTED = re.compile(r"\{(\d*),?(\d*)\}")

_ARTICLE_WORDS = 4
_DATED = re.compile(r"/\d{4}/\d{2}(?:/\d{2})?/[^/]+")
# Nothing follows the date: the page lists a year, a month or a day.
_ARCHIVE = re.compile(r"(?:^|/)(?:19|20)\d\d(?:/\d{1,2}){0,2}/?$")
_BINARY = re.compile(
    r"\.(?:pdf|xml|json|css|js|png|jpe?g|gif|svg|ico|webp|woff2?|ttf|eot|zip|gz|tar|rar"
    r"|mp[34]|wav|ogg|avi|mov|docx?|xlsx?|pptx?)/?$"
)
_DOWNLOADS = ("downloadmp3", "download.php", "downloadfile")
_DOORS = frozenset(
    {
        *("login", "signin", "signup", "register", "account", "admin", "wp-admin", "cart", "checkout"),
        *("search", "contact", "about", "privacy", "terms", "feed", "rss", "sitemap"),
    }
)
_LISTS = frozenset({"tag", "category", "author", "page"})
_CONTENT = frozenset(
    {
        *("article", "articles", "story", "stories", "post", "posts", "blog", "news", "newsroom", "press", "media"),
        *("event", "events", "calendar", "alert", "alerts", "advisory", "advisories", "bulletin", "bulletins"),
        *("blotter", "blotters", "incidents", "arrests", "report", "reports", "investor", "investors", "updates"),
        *("obituaries", "recipe", "recipes", "food", "job", "jobs", "career", "careers", "vacancy", "vacancies"),
        *("rfp", "rfps", "tender", "tenders", "procurement", "solicitation", "solicitations", "bid", "bids"),
    }
)


@dataclass(frozen=True, slots=True)
class Patterns:
    """A source's own idea of its article URLs: any one that is found anywhere in the URL is enough."""

    texts: tuple[str, ...]
    _matchers: tuple[SchemaValidator, ...] = field(repr=False, compare=False)

    def match(self, url: str) -> bool:
        return any(matcher.isinstance_python(url) for matcher in self._matchers)


def patterns_from(texts: Iterable[str]) -> Patterns | None:
    """Raises UsageError for what is not a plain regular expression; no texts mean no opinion."""
    given = tuple(texts)
    if len(given) > MOST_PATTERNS:
        raise UsageError(f"There are {len(given)} URL patterns; at most {MOST_PATTERNS} are allowed.")
    return Patterns(given, tuple(map(_matcher, given))) if given else None


def _matcher(pattern: str) -> SchemaValidator:
    """Patterns come from people: the engine must be linear, and Python's backtracks. The one of pydantic does not."""
    _require_small(pattern)
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as refusal:
        why = str(refusal).strip().splitlines()[-1].removeprefix("error: ").strip()
        raise UsageError(f"The URL pattern {pattern!r} cannot be used: {why}") from None


def _require_small(pattern: str) -> None:
    if not pattern or len(pattern) > LONGEST_PATTERN:
        raise UsageError(f"A URL pattern has 1 to {LONGEST_PATTERN} characters; this one has {len(pattern)}.")
    # Linear in the URL, but also in the size of the automaton, and `(.{99}){99}` is one of ten thousand states.
    counts = (max(1, *(int(number or 0) for number in found.groups())) for found in _COUNTED.finditer(pattern))
    if prod(counts) > _MOST_REPETITIONS:
        raise UsageError(
            f"The URL pattern {pattern!r} repeats too much.",
            fix=f"The counts in braces, multiplied, may be at most {_MOST_REPETITIONS}; use + or * instead.",
        )


def is_article_url(url: CanonicalUrl | str, patterns: Patterns | None = None) -> bool:
    """Given patterns decide alone."""
    known = _canonical(url)
    if known is None:
        return False
    return patterns.match(known.url) if patterns else _looks_like_article(known)


def leads_to_articles(url: CanonicalUrl) -> bool:
    """Whether a page that is no article itself may list some: not a file, a shop, a form or a feed."""
    segments = url.path.lower().strip("/").split("/")
    return _DOORS.isdisjoint(segments) and not is_file(url) and why_skipped(url) is None


def is_file(url: CanonicalUrl) -> bool:
    path = url.path.lower()
    return _BINARY.search(path) is not None or any(part in path for part in _DOWNLOADS)


def _canonical(url: CanonicalUrl | str) -> CanonicalUrl | None:
    if isinstance(url, CanonicalUrl):
        return url
    try:
        return canonicalise(url)
    except UrlRejected:
        return None


def _looks_like_article(url: CanonicalUrl) -> bool:
    path = url.path.lower()
    segments = path.strip("/").split("/")
    if not leads_to_articles(url) or not _LISTS.isdisjoint(segments) or _ARCHIVE.search(path):
        return False
    return _DATED.search(path) is not None or _follows_content(segments) or any(map(_is_headline, segments))


def _follows_content(segments: list[str]) -> bool:
    return not _CONTENT.isdisjoint(segments[:-1])


def _is_headline(segment: str) -> bool:
    return sum(map(bool, segment.split("-"))) >= _ARTICLE_WORDS
