"""The links of an HTML page: articles it lists, and further listings to follow. Nothing here touches anything."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from headwater.discover.feeds.dates import moment
from headwater.discover.items import HubLinks, Item, Reading
from headwater.errors import UrlRejected, UsageError
from headwater.extraction.hidden import remove_hidden
from headwater.extraction.markup_cost import ATTRIBUTE, TAG, is_costly
from headwater.net.charset import CharsetKind, decode
from headwater.urls.articles import Patterns, is_article_url, leads_to_articles
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.scope import Placement, Scope, placement_of
from headwater.urls.traps import trap_in

Html = bytes | str | LexborHTMLParser

MOST_LINKS = 2_000
_MOST_NODES = 20_000
_LONGEST_TITLE = 500
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NODES_READ = ",".join(("a[href]", "area[href]", "time[datetime]", *_HEADINGS))
_USUAL_CARDS = "article, li, tr, .article-card, .card, .post, .teaser"
_SAYS_NOTHING = frozenset(
    {
        *("more", "read more", "read", "continue reading", "learn more", "details", "view", "view details", "apply"),
        *("mehr", "weiterlesen", "mehr lesen", "weiter", "lire la suite", "en savoir plus", "leer más", "ver más"),
        *("ler mais", "leia mais", "leggi tutto", "lees meer", "läs mer", "czytaj więcej", "подробнее", "далее"),
    }
)

_LONGEST_SELECTOR = 200
_MOST_STEPS = 2
# A space or a tilde between two parts makes the matcher climb back: every further one multiplies by the page's depth.
_IN_BRACKETS = re.compile(r"\[[^\]]*\]")
_STEP = re.compile(r"(?<![\s>+~,])\s*~\s*|(?<![\s>+~,])\s+(?![\s>+~,])")

_MOST_CARDS = 4
_MOST_INSIDE = 200
_HIGHEST = 100
_LONGEST_LANGUAGE = 35

_MOST_TAGS = 30_000
# Taken out before anything is counted or parsed: to a counter, `a<b` in a script is a tag that never ends.
_UNREAD = re.compile(
    rf"<!--(?:-?>|.*?(?:--!?>|\Z))|<(script|style)(?=[\s/>])(?:{ATTRIBUTE.pattern})*+.*?(?:</\1(?=[\s/>])[^>]*+>|\Z)",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ListSelectors:
    """A source's own CSS selectors. Raises UsageError for one that is no selector, or too costly a one."""

    container: str = ""
    article_cards: str = ""
    article_list: str = ""
    exclude_from_list: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for selector in (self.container, self.article_cards, self.article_list, *self.exclude_from_list):
            if selector:
                _require_selector(selector)

    @property
    def cards(self) -> str:
        return ", ".join(filter(None, (self.article_cards, self.article_list)))


def list_selectors(selectors: Mapping[str, Any]) -> ListSelectors:
    """The part of a source's selectors that is about lists."""
    given = selectors.get("list") or {}
    excluded = given.get("exclude_from_list") or ()
    texts = {name: str(given.get(name) or "") for name in ("container", "article_cards", "article_list")}
    return ListSelectors(**texts, exclude_from_list=tuple(excluded))


@dataclass(frozen=True, slots=True)
class ListingRules:
    """Rules for the links of a page; `depth` is the page's own, and -1 as `max_depth` means no limit."""

    scope: Scope
    patterns: Patterns | None = None
    selectors: ListSelectors = field(default_factory=ListSelectors)
    depth: int = 0
    max_depth: int = 2
    product_token: str = ""

    @property
    def goes_deeper(self) -> bool:
        return self.max_depth < 0 or self.depth < self.max_depth


@dataclass(frozen=True, slots=True)
class Listing:
    """`follow` are pages of the same scope that are no articles themselves."""

    reading: Reading
    follow: tuple[str, ...] = ()


def read_listing(html: Html, base_url: str, rules: ListingRules, now: datetime) -> Listing:
    tree = parse_page(html)
    if tree is None:
        return Listing(Reading((), notes=("The page is too entangled to be read.",)))
    if _asks_not_to_follow(tree, rules.product_token):
        return Listing(Reading((), notes=("The page asks robots not to follow its links.",)))
    return _ListingReader(tree, base_url, rules, now).listing()


def _require_selector(selector: str) -> None:
    steps = max(len(_STEP.findall(part.strip())) for part in _IN_BRACKETS.sub("[]", selector).split(","))
    if len(selector) > _LONGEST_SELECTOR or ":has(" in selector.lower() or steps > _MOST_STEPS:
        raise UsageError(
            f"The selector {selector[:_LONGEST_SELECTOR]!r} is too costly to match.",
            fix=f"Use at most {_LONGEST_SELECTOR} characters, {_MOST_STEPS} spaces between parts, and no :has().",
        )
    try:
        LexborHTMLParser("").css(selector)
    except SelectolaxError:
        raise UsageError(f"{selector!r} is not a CSS selector.") from None


@dataclass(frozen=True, slots=True)
class _LinkPlace:
    """Where on the page a node stands; its cards nearest first."""

    cards: tuple[int, ...]
    is_listed: bool


class _Map:
    """The page's containers, cards and excluded parts, asked about one node at a time."""

    def __init__(self, tree: LexborHTMLParser, selectors: ListSelectors) -> None:
        self._excluded = _ids(tree, ", ".join(selectors.exclude_from_list))
        self._containers = _ids(tree, selectors.container)
        declared = _ids(tree, selectors.cards)
        self.has_declared_cards = bool(declared)
        self._cards = declared or _ids(tree, _USUAL_CARDS)
        self.missing = tuple(
            name
            for name, selector, found in (
                ("container", selectors.container, self._containers),
                ("card", selectors.cards, declared),
            )
            if selector and not found
        )

    def place_of(self, node: LexborNode) -> _LinkPlace | None:
        """None inside an element that the source excludes."""
        above = [ancestor.mem_id for ancestor in islice(_upwards(node), _HIGHEST)]
        if not self._excluded.isdisjoint(above):
            return None
        cards = tuple(islice(filter(self._cards.__contains__, above), _MOST_CARDS))
        in_container = not self._containers or not self._containers.isdisjoint(above)
        return _LinkPlace(cards, in_container and (bool(cards) or not self.has_declared_cards))


@dataclass(slots=True)
class _Card:
    heading: str = ""
    published_at: datetime | None = None
    articles: set[bytes] = field(default_factory=set)


class _ListingReader:
    """One pass over the page's links, headings and times, in their order."""

    def __init__(self, tree: LexborHTMLParser, page_url: str, rules: ListingRules, now: datetime) -> None:
        self._tree, self._rules, self._now = tree, rules, now
        self._base = base_of(tree, page_url)
        self._page = canonicalise(page_url).url_hash
        self._map = _Map(tree, rules.selectors)
        self._items: dict[bytes, Item] = {}
        self._follow: dict[bytes, str] = {}
        self._cards: defaultdict[int, _Card] = defaultdict(_Card)
        self._cards_of: defaultdict[bytes, list[int]] = defaultdict(list)
        self._left_out: Counter[str] = Counter()
        self._links = 0

    def listing(self) -> Listing:
        nodes = self._tree.css(_NODES_READ)
        for node in islice(nodes, _MOST_NODES):
            self._take(node)
        is_cut = len(nodes) > _MOST_NODES or self._links > MOST_LINKS
        cut = f"Only the first {MOST_LINKS:,} links were read." if is_cut else ""
        reading = Reading(
            tuple(self._with_card(key, item) for key, item in self._items.items()),
            title=text_of(self._tree.css_first("title")),
            language=attribute(self._tree.css_first("html"), "lang")[:_LONGEST_LANGUAGE],
            notes=tuple(filter(None, self._notes(cut))),
            damage=cut,
        )
        return Listing(reading, tuple(self._follow.values()))

    def _take(self, node: LexborNode) -> None:
        is_link = node.tag in ("a", "area")
        self._links += is_link
        if self._links > MOST_LINKS:
            return
        place = self._map.place_of(node)
        if place is None:
            return
        if is_link:
            self._take_link(node, place)
        else:
            self._take_fact(node, place)

    def _take_fact(self, node: LexborNode, place: _LinkPlace) -> None:
        heading = text_of(node) if node.tag in _HEADINGS else ""
        published_at = moment(attribute(node, "datetime"), self._now)
        for card in map(self._cards.__getitem__, place.cards):
            card.heading = card.heading or heading
            card.published_at = card.published_at or published_at

    def _take_link(self, node: LexborNode, place: _LinkPlace) -> None:
        url = followable(node, self._base)
        if url is None or url.url_hash == self._page:
            return
        placement = placement_of(url, self._rules.scope)
        if not placement.is_followed:
            return
        if trap := trap_in(url, today=self._now.date()):
            self._left_out[trap.value] += 1
        elif place.is_listed and self._is_article(url, place):
            self._add(url, node, place, is_external=placement is Placement.EXTERNAL)
        elif self._is_worth_following(url, placement):
            self._follow.setdefault(url.url_hash, url.url)

    def _is_article(self, url: CanonicalUrl, place: _LinkPlace) -> bool:
        if self._rules.patterns or is_article_url(url):
            return is_article_url(url, self._rules.patterns)
        # A page that declares cards says that each is an article, however its URL is spelt.
        is_main = self._map.has_declared_cards and not self._cards[place.cards[0]].articles
        return is_main and leads_to_articles(url)

    def _is_worth_following(self, url: CanonicalUrl, placement: Placement) -> bool:
        is_ours = placement is Placement.INSIDE and self._rules.goes_deeper
        return is_ours and not is_article_url(url, self._rules.patterns) and leads_to_articles(url)

    def _add(self, url: CanonicalUrl, node: LexborNode, place: _LinkPlace, *, is_external: bool) -> None:
        key = url.url_hash
        new = Item(url.url, depth=self._rules.depth + 1, is_external=is_external)
        item = self._items.setdefault(key, new)
        if not item.title:
            self._items[key] = replace(item, title=_title_of(node))
        for card in place.cards:
            self._cards[card].articles.add(key)
            self._cards_of[key].append(card)

    def _with_card(self, key: bytes, item: Item) -> Item:
        """A card with one article speaks of that article; with several, nobody knows of which."""
        for card in map(self._cards.__getitem__, self._cards_of[key]):
            if len(card.articles) == 1:
                item = replace(
                    item,
                    title=item.title or card.heading,
                    published_at=item.published_at or card.published_at,
                )
        return item

    def _notes(self, cut: str) -> Iterator[str]:
        for name in self._map.missing:
            yield f"The {name} selector of the source matched nothing; the whole page was read."
        yield cut
        for reason, count in sorted(self._left_out.items()):
            yield f"{count} links were left out as traps: {reason}."


def hub_links_of(tree: LexborHTMLParser, page_url: str) -> HubLinks:
    """What the head of a page names as its hub, and as itself; the first of each."""
    base, found = base_of(tree, page_url), dict[str, str]()
    for link in tree.css("link[rel][href]"):
        place = None
        for role in {"hub", "self"}.intersection(attribute(link, "rel").lower().split()) - set(found):
            place = place or link_to(attribute(link, "href"), base)
            if place:
                found[role] = place.url
    return HubLinks(found.get("hub", ""), found.get("self", ""))


def followable(link: LexborNode, base: str) -> CanonicalUrl | None:
    """Where a link leads; None if robots are asked not to follow it, or if it leads nowhere we go."""
    if "nofollow" in attribute(link, "rel").lower().split():
        return None
    return link_to(attribute(link, "href"), base)


def link_to(href: str, base: str) -> CanonicalUrl | None:
    try:
        return canonicalise(href, base=base)
    except UrlRejected:
        return None


def base_of(tree: LexborHTMLParser, page_url: str) -> str:
    """The address that the page's links are relative to: its `<base href>`, if that is a URL."""
    declared = link_to(attribute(tree.css_first("base[href]"), "href"), page_url)
    return declared.url if declared else page_url


def text_of(node: LexborNode | None) -> str:
    """The text in it, in one line. Bounded, because links can be made to nest and share a text of megabytes."""
    if node is None:
        return ""
    inside = islice(node.traverse(include_text=True), _MOST_INSIDE)
    texts = (inner.text_content or "" for inner in inside if inner.is_text_node and _is_shown(inner))
    return shorten(" ".join(islice(texts, _MOST_INSIDE)))


def shorten(text: str) -> str:
    return " ".join(text[: 4 * _LONGEST_TITLE].replace("\x00", "").split())[:_LONGEST_TITLE]


def _is_shown(text: LexborNode) -> bool:
    return text.parent is None or text.parent.tag not in ("script", "style", "noscript", "template")


def _title_of(link: LexborNode) -> str:
    """Its heading where a link holds a whole card, else its text, else what it says to those who cannot see it."""
    inside = islice(link.traverse(), _MOST_INSIDE)
    heading = next((text_of(inner) for inner in inside if inner.tag in _HEADINGS), "")
    said = (heading, text_of(link), attribute(link, "title"), attribute(link, "aria-label"))
    return next((text for text in map(shorten, said) if text and text.lower().strip(" .…→»>") not in _SAYS_NOTHING), "")


def attribute(node: LexborNode | None, name: str) -> str:
    return ((node.attributes.get(name) if node else None) or "").strip()


def _upwards(node: LexborNode) -> Iterator[LexborNode]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _ids(tree: LexborHTMLParser, selector: str) -> frozenset[int]:
    return frozenset(node.mem_id for node in tree.css(selector)) if selector else frozenset()


def _asks_not_to_follow(tree: LexborHTMLParser, product_token: str) -> bool:
    names = {"robots", product_token.lower()}
    rules = (
        attribute(meta, "content").lower().replace(",", " ").split()
        for meta in tree.css("meta[name][content]")
        if attribute(meta, "name").lower() in names
    )
    return any("nofollow" in words or "none" in words for words in rules)


def parse_page(html: Html) -> LexborHTMLParser | None:
    """The page without scripts, up to its 30,000th tag; None for one made to keep the parser busy."""
    if isinstance(html, LexborHTMLParser):
        return html
    text = _UNREAD.sub("", html if isinstance(html, str) else decode(html, CharsetKind.HTML).text)
    end = next(islice(TAG.finditer(text), _MOST_TAGS, None), None)
    text = text[: end.start()] if end else text
    if is_costly(text):
        return None
    tree = LexborHTMLParser(text)
    remove_hidden(tree)
    return tree
