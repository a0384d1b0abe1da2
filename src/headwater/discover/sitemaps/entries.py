"""What a sitemap lists, as it is written: read from XML or from plain text, bounded, not yet believed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from headwater.sources.exchange.markup import MarkupListener, ParseStopped, read_markup

MOST_URLS = 50_000
_LONGEST_VALUE = 4_096
_TOO_MANY = f"It lists more than {MOST_URLS:,} URLs; the rest was left out."

_LINE = re.compile(r"\S[^\r\n]*")
_FEEDS = frozenset({"rss", "feed", "RDF"})
_ROOTS = MappingProxyType({"urlset": "url", "sitemapindex": "sitemap"})
# By the element around it, not by namespace: many sites get theirs wrong, and `image:loc` stands in `image:image`.
_WANTED = MappingProxyType(
    {
        ("url", "loc"): "loc",
        ("url", "lastmod"): "lastmod",
        ("sitemap", "loc"): "loc",
        ("sitemap", "lastmod"): "lastmod",
        ("news", "title"): "title",
        ("news", "publication_date"): "published",
        ("publication", "language"): "language",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    loc: str = ""
    lastmod: str = ""
    title: str = ""
    published: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class SitemapListing:
    """`trouble` is a sentence: why not all of it was read."""

    entries: list[Entry]
    is_index: bool = False
    trouble: str = ""


def entries_in_text(text: str) -> SitemapListing:
    """One URL a line."""
    lines = islice((found[0] for found in _LINE.finditer(text)), MOST_URLS + 1)
    entries = [Entry(line[:_LONGEST_VALUE].strip()) for line in lines]
    return SitemapListing(entries[:MOST_URLS], trouble=_TOO_MANY if len(entries) > MOST_URLS else "")


def entries_in_xml(text: str) -> SitemapListing:
    heard, ending = read_markup(text, _Entries)
    return SitemapListing(heard.entries, heard.root == "sitemapindex", ending.why)


class _Entries(MarkupListener):
    def __init__(self) -> None:
        super().__init__()
        self.root = ""
        self.entries: list[Entry] = []
        self._values: dict[str, str] = {}
        self._field: str | None = None
        self._text: list[str] = []
        self._length = 0

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path:
            self._require_sitemap(name)
            return
        self._field = _WANTED.get((self.path[-1], name))
        self._text.clear()
        self._length = 0

    def data(self, text: str) -> None:
        if self._field and self._length < _LONGEST_VALUE:
            self._text.append(text[: _LONGEST_VALUE - self._length])
            self._length += len(text)

    def closed(self, name: str) -> None:
        if self._field:
            self._values[self._field] = "".join(self._text).strip()
            self._field = None
        elif len(self.path) == 1 and name == _ROOTS[self.root]:
            self._keep()

    def _require_sitemap(self, name: str) -> None:
        if name in _FEEDS:
            raise ParseStopped(f"It is a feed (<{name}>), not a sitemap.")
        if name.lower() == "html":
            raise ParseStopped("It is a web page.")
        if name not in _ROOTS:
            raise ParseStopped("Its outermost element is neither <urlset> nor <sitemapindex>.")
        self.root = name

    def _keep(self) -> None:
        if len(self.entries) >= MOST_URLS:
            raise ParseStopped(_TOO_MANY)
        self.entries.append(Entry(**self._values))
        self._values = {}
