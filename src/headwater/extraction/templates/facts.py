"""Statements of a page about itself: features that mark a host's articles, and where title, author and date stand."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import orjson

from headwater.extraction.dates import moment_from
from headwater.extraction.elements import Elements, attribute
from headwater.extraction.linked_data import linked_scripts
from headwater.extraction.linked_values import Node, names, texts
from headwater.extraction.templates.blocks import Block
from headwater.extraction.templates.steps import tag_of
from headwater.extraction.text import comparable, page_line, unescape_line
from headwater.extraction.title import without_site_name
from headwater.languages import BY, fold

_LIVE = "LiveBlogPosting"
_ARTICLE = ("Article", "BlogPosting", _LIVE, "Report", "PressRelease")
# More articles than this in a page's linked data are a list of others.
_MOST_ARTICLES = 2
_MOST_ELEMENTS, _MOST_NODES = 1_000, 5_000
_LONGEST_URL = 500
_STORY_WORDS = 3
_STORY_NUMBER = re.compile(r"\d{5}|/\d{4}/\d\d?/|/\d{4}-\d\d-\d\d")
_WORD = re.compile(r"[^\W_]+")
_TYPE = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"([^"]{1,100})"')
_BY = frozenset(map(fold, BY))
_LONGEST_NAME = 100
_AUTHORS = ("author", "article:author", "parsely-author", "sailthru.author", "dc.creator")
_DATES = ("article:published_time", "datepublished", "parsely-pub-date", "sailthru.date", "pubdate", "date", "dc.date")


class LinkedArticle(NamedTuple):
    node: Node
    by_id: Mapping[str, Node]


@dataclass
class Facts:
    """Read from a page only where asked for: linked data costs half as much as the walk, and few templates need it."""

    elements: Elements
    blocks: Sequence[Block]
    zone: tzinfo = UTC

    @cached_property
    def said(self) -> Mapping[str, str]:
        """The <meta> elements as written: only few are looked at, so only those are cleaned."""
        said: dict[str, str] = {}
        for node in self.elements.named("meta")[:_MOST_ELEMENTS]:
            attributes = node.attributes
            name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
            if name and (content := attributes.get("content")):
                said.setdefault(name.lower(), content)
        return said

    def meta(self, name: str) -> str:
        return unescape_line(self.said.get(name, ""))

    @cached_property
    def article(self) -> LinkedArticle:
        """The page's own in its linked data, or an empty one."""
        nodes = list(islice(self._nodes(), _MOST_NODES))
        best = next((node for node in nodes if _is_article(node)), {})
        return LinkedArticle(
            best, {name: node for node in nodes if isinstance(name := node.get("@id"), str) and len(node) > 1}
        )

    @cached_property
    def article_types(self) -> list[str]:
        """Of the articles in the linked data; looked up in its text, as reading it whole costs ten times as much."""
        found = (kind for script in self._scripts for kind in _TYPE.findall(script))
        return [kind for kind in found if kind.endswith(_ARTICLE)]

    @cached_property
    def _scripts(self) -> list[str]:
        return list(linked_scripts(self.elements))

    def _nodes(self) -> Iterator[Node]:
        """Every object of every script, outer before inner, in the order written."""
        waiting = [_parsed(script) for script in reversed(self._scripts)]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                yield value
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            waiting.extend(reversed([one for one in inner if isinstance(one, dict | list)]))

    @property
    def is_live(self) -> bool:
        return any(kind.endswith(_LIVE) for kind in self.article_types)

    @cached_property
    def heading(self) -> str:
        return next((block.text for block in self.blocks if tag_of(block.path[-1]) == "h1"), "")

    @cached_property
    def page_title(self) -> str:
        titles = self.elements.named("title")
        return page_line(titles[0].text()) if titles else ""

    def without_site_name(self, title: str) -> str:
        return without_site_name(title, self.meta("og:url"), self.meta("og:site_name"))

    @cached_property
    def titles(self) -> frozenset[str]:
        """Everything that may stand above the text again, as `comparable` writes it."""
        said = (self.heading, self.meta("og:title"), self.page_title)
        forms = (form for title in said if title for form in (title, self.without_site_name(title)))
        return frozenset(map(comparable, forms))


# A feature is asked for by name, so a template that does not require linked data never reads it.
FEATURES: Mapping[str, Callable[[Facts], bool]] = {
    "og:article": lambda facts: "article" in facts.said.get("og:type", "").lower(),
    "linked:article": lambda facts: 0 < len(facts.article_types) <= _MOST_ARTICLES,
    "og:story": lambda facts: _names_a_story(facts.said.get("og:url", "")),
    "published": lambda facts: any(name in facts.said for name in _DATES) or "datePublished" in facts.article.node,
}


def has_feature(facts: Facts, name: str) -> bool:
    return FEATURES[name](facts)


def value_at(facts: Facts, place: str) -> str:
    """`linked:headline`, `meta:author`, `block:p.byline`, `h1`, `title` or `time`; nothing where nothing stands."""
    kind, _, name = place.partition(":")
    match kind:
        case "linked":
            return _linked_value(facts.article, name)
        case "meta":
            return facts.without_site_name(facts.meta(name))
        case "block":
            return next((_without_by(block.text) for block in facts.blocks if block.path[-1] == name), "")
        case "time":
            times = (node for node in facts.elements.named("time") if "datetime" in node.attributes)
            return next((attribute(node, "datetime") for node in times), "")
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


def _names_a_story(url: str) -> bool:
    """By several words at its end, a number or a date. A section's or a topic's front page has none of them."""
    end = url[:_LONGEST_URL].partition("?")[0].rstrip("/").rpartition("/")[2]
    return len(_WORD.findall(end)) >= _STORY_WORDS or bool(_STORY_NUMBER.search(url[:_LONGEST_URL]))


def _parsed(script: str) -> Any:
    try:
        return orjson.loads(script)
    except ValueError:
        return None


def _is_article(node: Node) -> bool:
    said = node.get("@type")
    return any(isinstance(one, str) and one.endswith(_ARTICLE) for one in (said if isinstance(said, list) else [said]))


def _linked_value(article: LinkedArticle, name: str) -> str:
    if name == "author":
        return ", ".join(names(article.node, article.by_id, "author", "creator"))
    return next(iter(texts(article.node, "headline" if name == "headline" else "datePublished")), "")


def _without_by(text: str) -> str:
    first, _, rest = text.partition(" ")
    return rest if fold(first).rstrip(":") in _BY else text
