"""Sitemaps: plain, news, indexes, lists of URLs, packed or not. Pure: entries are bounded, then judged."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from headwater.discover.feeds.dates import FURTHEST_AHEAD
from headwater.discover.items import Item, Reading, Unreadable
from headwater.errors import UrlRejected
from headwater.net.charset import CharsetKind, decode
from headwater.net.unpacking import UNPACK_ERRORS, UNPACKERS
from headwater.sources.exchange.markup import MarkupListener, ParseStopped, read_markup
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.rejection import Rejection
from headwater.urls.scope import Placement, Scope, placement_of, without_www

_DAY_OR_MORE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\S{1,40}", re.ASCII)
_SPANS = {4: timedelta(days=366), 7: timedelta(days=31), 10: timedelta(days=1)}
_FILLINGS = {4: "-01-01", 7: "-01", 10: ""}
# Kept away from the ends of the calendar, where adding a span or changing the zone would overflow.
_FIRST_YEAR, _LAST_YEAR = 2, 9990

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

MAX_BYTES = 50 * 1024 * 1024

_GZIP = b"\x1f\x8b"
_TOO_LARGE = f"It is larger than {MAX_BYTES // 2**20} MB; the rest was left out."
# So many pages did not change within one minute: the date is when the file was made.
_STAMPED_ITEMS = 10
_STAMP_WIDTH = timedelta(minutes=1)
_STAMPED = "Every page carries the same date, so it says nothing about any of them."

_ITSELF, _OTHER_HOST, _OUT_OF_SCOPE, _TOO_OLD = "itself", "other_host", "out_of_scope", "too_old"
_SENTENCES = {
    _ITSELF: "Left out because it is the sitemap's own URL",
    _OTHER_HOST: "Left out because they are on other hosts",
    _OUT_OF_SCOPE: "Left out because of their paths",
    _TOO_OLD: "Left out because they did not change lately",
}
_REFUSALS = frozenset(Rejection)
NOBODY = Scope()


class Span(NamedTuple):
    """The time a date stands for; a moment begins and ends at once."""

    begins: datetime
    ends: datetime


def span_of(text: str) -> Span | None:
    """A text that cannot be read is no date. Without a zone, UTC."""
    text = text.strip()
    is_partial = _DAY_OR_MORE.fullmatch(text) is not None
    if not is_partial and not _MOMENT.fullmatch(text):
        return None
    try:
        begins = datetime.fromisoformat(text + _FILLINGS[len(text)] if is_partial else text)
    except ValueError:
        return None
    if not _FIRST_YEAR <= begins.year <= _LAST_YEAR:
        return None
    begins = begins.astimezone(UTC) if begins.tzinfo else begins.replace(tzinfo=UTC)
    return Span(begins, begins + _SPANS[len(text)] if is_partial else begins)


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


@dataclass(frozen=True, slots=True)
class _SitemapBelief:
    """The limits of belief in a sitemap at `home`: which hosts, and how far back."""

    home: CanonicalUrl
    scope: Scope
    now: datetime
    oldest: datetime | None


def read_sitemap(
    body: bytes, base_url: str, now: datetime, newer_than: timedelta | None, whose: Scope = NOBODY
) -> Reading | Unreadable:
    """Pages that changed within `newer_than`, or cannot be dated. The children of an index are in `more`.

    `base_url` is where the sitemap was found: it may list its own host and the hosts below, and those of `whose` it is.
    """
    plain, trouble = _unpacked(body)
    text = decode(plain, CharsetKind.XML).text.lstrip("\ufeff \t\r\n")
    listing = entries_in_xml(text) if text.startswith("<") else entries_in_text(text)
    troubles = tuple(why for why in (trouble, listing.trouble) if why)
    if not listing.entries and (listing.trouble or not text):
        return Unreadable(" ".join(troubles) or "It is empty.")
    # An index lies where it likes: paths are about pages.
    bounds = _bounds(base_url, now, newer_than, Scope(whose.hosts, whose.domains) if listing.is_index else whose)
    judged = [_judged(entry, bounds) for entry in listing.entries]
    if judged and all(isinstance(one, str) and one in _REFUSALS for one in judged):
        return Unreadable("It lists no URL that could be fetched.")
    notes = (*troubles, *_notes(judged))
    found = _index(judged, notes) if listing.is_index else _urls(judged, notes)
    return replace(found, damage=" ".join(troubles))


def _bounds(base_url: str, now: datetime, newer_than: timedelta | None, whose: Scope) -> _SitemapBelief:
    home = canonicalise(base_url)
    scope = replace(whose, domains=whose.domains | {without_www(home.site)}, allow_external=False)
    # An age of nothing is no filter.
    return _SitemapBelief(home, scope, now, now - newer_than if newer_than else None)


def _unpacked(body: bytes) -> tuple[bytes, str]:
    """The body without its gzip, and a sentence if not all of it could be had."""
    if not body.startswith(_GZIP):
        return body[:MAX_BYTES], _TOO_LARGE if len(body) > MAX_BYTES else ""
    plain = bytearray()
    unpacker = UNPACKERS["gzip"]()
    try:
        for piece in unpacker.pieces(body):
            plain += piece
            if len(plain) > MAX_BYTES:
                return bytes(plain[:MAX_BYTES]), _TOO_LARGE
    except UNPACK_ERRORS:
        return bytes(plain), "Its gzip is broken; only the start could be read."
    return bytes(plain), "" if unpacker.is_at_end else "Its gzip is cut off; only the start could be read."


def _index(judged: Sequence[Item | str], notes: tuple[str, ...]) -> Reading:
    return Reading((), more=tuple(dict.fromkeys(one.url for one in judged if isinstance(one, Item))), notes=notes)


def _urls(judged: Sequence[Item | str], notes: tuple[str, ...]) -> Reading:
    items = tuple(one for one in judged if isinstance(one, Item))
    if not _is_stamped(items):
        return Reading(items, notes=notes)
    return Reading(tuple(replace(item, updated_at=None) for item in items), notes=(*notes, _STAMPED))


def _judged(entry: Entry, bounds: _SitemapBelief) -> Item | str:
    """The item, or the word for why it is left out."""
    try:
        # Absolute or nothing, as the protocol wants it: any line of any text could be a relative URL.
        url = canonicalise(entry.loc)
    except UrlRejected as refusal:
        return refusal.reason
    if url.key == bounds.home.key:
        return _ITSELF
    placement = placement_of(url, bounds.scope)
    if placement is not Placement.INSIDE:
        return _OTHER_HOST if placement is Placement.OTHER_HOST else _OUT_OF_SCOPE
    changed, published = span_of(entry.lastmod), span_of(entry.published)
    if _ended_before(bounds.oldest, changed or published):
        return _TOO_OLD
    return Item(
        url.url,
        title=" ".join(entry.title.split()),
        published_at=_publication(published, bounds.now),
        updated_at=_change(changed, bounds.now),
        language=entry.language,
    )


def _ended_before(oldest: datetime | None, dated: Span | None) -> bool:
    # A day counts until it is over: a page of that day may be as young as that.
    return oldest is not None and dated is not None and dated.ends < oldest


def _publication(dated: Span | None, now: datetime) -> datetime | None:
    return min(dated.begins, now) if dated and dated.begins <= now + FURTHEST_AHEAD else None


def _change(dated: Span | None, now: datetime) -> datetime | None:
    """When it changed at the earliest, so that a day or a date to come does not ask for a visit at every poll."""
    return dated.begins if dated and dated.begins <= now else None


def _is_stamped(items: Sequence[Item]) -> bool:
    dates = [item.updated_at for item in items if item.updated_at]
    return len(items) >= _STAMPED_ITEMS and len(dates) == len(items) and max(dates) - min(dates) <= _STAMP_WIDTH


def _notes(judged: Iterable[Item | str]) -> Iterator[str]:
    words = Counter(one for one in judged if isinstance(one, str))
    for word, sentence in _SENTENCES.items():
        if count := words.pop(word, 0):
            yield f"{sentence}: {count:,}."
    if words:
        refused = ", ".join(f"{word} {count:,}" for word, count in words.most_common())
        yield f"Left out because they will never be fetched: {refused}."
