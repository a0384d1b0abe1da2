"""What a page says about itself: the features that mark a host's articles, and where title, author and date stand."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extract.dates import moment_from
from headwater.extract.linked_data import LinkedData, linked_data_of
from headwater.extract.metadata import first_of_each, metas_of
from headwater.extract.templates.blocks import Block
from headwater.extract.templates.steps import tag_of
from headwater.extract.text import comparable, one_line
from headwater.extract.title import without_site_name

_LIVE = "LiveBlogPosting"
_ARTICLE = ("Article", "BlogPosting", _LIVE, "Report", "PressRelease")
# More articles than this in a page's linked data are a list of others.
_MOST_ARTICLES = 2
_MOST_SCRIPTS = 200
_TYPE = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"([^"]{1,100})"')
_BY = frozenset({"by", "von", "par", "por", "di", "от"})
_LONGEST_NAME = 100
_AUTHORS = ("author", "article:author", "parsely-author", "sailthru.author", "dc.creator")
_DATES = ("article:published_time", "datepublished", "parsely-pub-date", "sailthru.date", "pubdate", "date", "dc.date")


@dataclass
class Facts:
    """Read from a page only where asked for: linked data costs half as much as the walk, and few templates need it."""

    tree: LexborHTMLParser
    blocks: Sequence[Block]
    url: str
    zone: tzinfo = UTC

    @cached_property
    def said(self) -> Mapping[str, str]:
        return first_of_each(metas_of(self.tree))

    @cached_property
    def linked(self) -> LinkedData:
        return linked_data_of(self.tree, self.url, self.zone)

    @cached_property
    def article_types(self) -> list[str]:
        """Of the articles in the linked data; looked up in its text, as reading it whole costs ten times as much."""
        scripts = (node for node in self.tree.css("script")[:_MOST_SCRIPTS] if _is_linked_data(node))
        found = (kind for node in scripts for kind in _TYPE.findall(node.text()))
        return [kind for kind in found if kind.endswith(_ARTICLE)]

    @property
    def is_live(self) -> bool:
        return any(kind.endswith(_LIVE) for kind in self.article_types)

    @cached_property
    def heading(self) -> str:
        return next((block.text for block in self.blocks if tag_of(block.path[-1]) == "h1"), "")

    @cached_property
    def page_title(self) -> str:
        node = self.tree.css_first("title")
        return one_line(node.text()) if node else ""

    @cached_property
    def titles(self) -> frozenset[str]:
        """Everything that may stand above the text again, as `comparable` writes it."""
        said = (self.heading, self.said.get("og:title", ""), self.page_title)
        names = (self.said.get("og:site_name", ""),)
        forms = (form for title in said if title for form in (title, without_site_name(title, names)))
        return frozenset(map(comparable, forms))


# A feature is asked for by name, so a template that does not require linked data never reads it.
FEATURES: Mapping[str, Callable[[Facts], bool]] = {
    "og:article": lambda facts: "article" in facts.said.get("og:type", "").lower(),
    "linked:article": lambda facts: 0 < len(facts.article_types) <= _MOST_ARTICLES,
    "published": lambda facts: any(name in facts.said for name in _DATES) or facts.linked.date_published is not None,
}


def has_feature(facts: Facts, name: str) -> bool:
    return FEATURES[name](facts)


def value_at(facts: Facts, place: str) -> str:
    """`linked:headline`, `meta:author`, `block:p.byline`, `h1`, `title` or `time`; nothing where nothing stands."""
    kind, _, name = place.partition(":")
    match kind:
        case "linked":
            return _linked_value(facts.linked, name)
        case "meta":
            return without_site_name(facts.said.get(name, ""), (facts.said.get("og:site_name", ""),))
        case "block":
            return next((_without_by(block.text) for block in facts.blocks if block.path[-1] == name), "")
        case "time":
            node = facts.tree.css_first("time[datetime]")
            return (node.attributes.get("datetime") if node else "") or ""
    return facts.heading if kind == "h1" else facts.page_title


def moment_at(facts: Facts, place: str) -> datetime | None:
    return moment_from(value_at(facts, place), facts.zone) if place else None


def title_places(_: Facts, __: str) -> Iterator[str]:
    yield from ("meta:og:title", "h1", "linked:headline", "title")


def author_places(facts: Facts, author: str) -> Iterator[str]:
    """Where the page may name its author; elements only where the name we know stands in one."""
    yield from (f"meta:{name}" for name in _AUTHORS)
    yield "linked:author"
    wanted = comparable(author)
    for block in facts.blocks:
        short = len(block.text) <= _LONGEST_NAME
        if wanted and short and "." in block.path[-1] and comparable(_without_by(block.text)) == wanted:
            yield f"block:{block.path[-1]}"


def date_places(_: Facts, __: str) -> Iterator[str]:
    yield from (f"meta:{name}" for name in _DATES)
    yield from ("linked:published", "time")


def _is_linked_data(node: LexborNode) -> bool:
    return (node.attributes.get("type") or "").lower() == "application/ld+json"


def _linked_value(linked: LinkedData, name: str) -> str:
    if name == "published":
        return linked.date_published.isoformat() if linked.date_published else ""
    return linked.headline if name == "headline" else linked.author


def _without_by(text: str) -> str:
    first, _, rest = text.partition(" ")
    return rest if first.casefold().rstrip(":") in _BY else text
