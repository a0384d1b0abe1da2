"""JSON-LD: the node that describes the article, wherever a publisher hid it. Bounded, without recursion."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import islice
from typing import Any

import orjson

from headwater.extraction.elements import Elements, attribute
from headwater.extraction.linked_steps import STEP_TYPES, text_of_steps
from headwater.extraction.linked_values import Node, moment, names, number, texts, urls
from headwater.extraction.text import LONGEST_TEXT, storable
from headwater.languages import ROLES

_TYPE = "application/ld+json"
_MOST_SCRIPTS = 30
_LONGEST_SCRIPT = 2_000_000
_MOST_NODES = 5_000
_LARGEST_RAW_BYTES = 64_000
_MOST_ARTICLES = 2
_ARTICLE_TYPES = frozenset({"BlogPosting", "LiveBlogPosting", "PressRelease", "Event", "SpecialAnnouncement", "Report"})
_GALLERY_TYPES = frozenset({"ImageGallery", "MediaGallery"})
_OFFICES = frozenset(ROLES)
_CONTROL = re.compile(r"[\x00-\x1f]")
_WRAPPED = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*$")
# A NUL inside a string, but not the six characters that only look like one behind a backslash.
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedData:
    """The fields of `json_ld_data` without their prefix. Empty when a page has none.

    `published` is the date as it is written; `people` and `organisations` are those of the authors that say so,
    `offices` those whose account is named after an office (`/author/admin/`); `shows` is `video` or `gallery`;
    `steps` are those of the page's only recipe or instruction, where it describes no article.
    """

    schema_type: str = ""
    headline: str = ""
    description: str = ""
    article_section: str = ""
    author: str = ""
    authors: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    organisations: tuple[str, ...] = ()
    offices: tuple[str, ...] = ()
    publisher_name: str = ""
    url: str = ""
    image_url: str = ""
    images: tuple[str, ...] = ()
    date_published: datetime | None = None
    date_created: datetime | None = None
    date_modified: datetime | None = None
    published: str = ""
    word_count: int | None = None
    keywords: tuple[str, ...] = ()
    location: str = ""
    language: str = ""
    article_body: str = ""
    is_about_this_page: bool = False
    shows: str = ""
    steps: str = ""
    raw: dict[str, Any] | None = None

    @property
    def is_live(self) -> bool:
        """A page that grows by entries."""
        return self.is_about_this_page and self.schema_type == "LiveBlogPosting"


def linked_data_of(elements: Elements, page_url: str, zone: tzinfo) -> LinkedData:
    nodes = list(islice(_nodes(elements), _MOST_NODES))
    articles = [node for node in nodes if _is_article(node)]
    own = [node for node in articles if page_url in urls(node, "url", "mainEntityOfPage", "@id")]
    best = next(iter(own or articles), None)
    shows = _shown_by(nodes, best)
    if best is None:
        told = [node for node in nodes if STEP_TYPES.intersection(_types(node))]
        return LinkedData(shows=shows, steps=text_of_steps(told[0]) if len(told) == 1 else "")
    by_id = {name: node for node in nodes if isinstance(name := node.get("@id"), str) and len(node) > 1}
    # A front page describes every story it lists; none of them is the page.
    return _read(best, by_id, zone, is_about_this_page=bool(own) or len(articles) <= _MOST_ARTICLES, shows=shows)


def _read(node: Node, by_id: Mapping[str, Node], zone: tzinfo, *, is_about_this_page: bool, shows: str) -> LinkedData:
    images, authors = urls(node, "image", "thumbnailUrl"), names(node, by_id, "author", "creator")
    return LinkedData(
        schema_type=next(iter(_types(node)), ""),
        headline=next(iter(texts(node, "headline", "name")), ""),
        description=next(iter(texts(node, "description")), ""),
        article_section=", ".join(texts(node, "articleSection")),
        author=", ".join(authors),
        authors=authors,
        people=names(node, by_id, "author", "creator", of_type="Person"),
        organisations=names(node, by_id, "author", "creator", of_type="Organization"),
        offices=names(node, by_id, "author", "creator", at=_OFFICES),
        publisher_name=next(iter(names(node, by_id, "publisher", "organizer")), ""),
        url=next(iter(urls(node, "url", "mainEntityOfPage")), ""),
        image_url=next(iter(images), ""),
        images=images,
        date_published=moment(node, zone, "datePublished", "startDate"),
        date_created=moment(node, zone, "dateCreated"),
        date_modified=moment(node, zone, "dateModified"),
        published=next(iter(texts(node, "datePublished", "startDate")), ""),
        word_count=number(node, "wordCount"),
        keywords=texts(node, "keywords"),
        location=next(iter(names(node, by_id, "contentLocation", "locationCreated", "location")), ""),
        language=next(iter(texts(node, "inLanguage")), ""),
        article_body=_body(node),
        is_about_this_page=is_about_this_page,
        shows=shows,
        raw=_raw(node),
    )


def _shown_by(nodes: list[Node], article: Node | None) -> str:
    """`video` or `gallery`: what the page describes in the place of an article, or pictures beside one."""
    kinds = {kind for node in nodes for kind in _types(node)}
    if kinds & _GALLERY_TYPES:
        return "gallery"
    return "video" if article is None and "VideoObject" in kinds else ""


def linked_scripts(elements: Elements) -> Iterator[str]:
    scripts = (node for node in elements.named("script") if attribute(node, "type").lower() == _TYPE)
    return (node.text() for node in islice(scripts, _MOST_SCRIPTS))


def _nodes(elements: Elements) -> Iterator[Node]:
    """Every object of every script, outer before inner, in the order written."""
    for script in linked_scripts(elements):
        waiting: list[Any] = [_parsed(script)]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                yield value
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            waiting.extend(reversed([one for one in inner if isinstance(one, dict | list)]))


def _parsed(written: str) -> Any:
    # Cut off, a script that is too large is no JSON any more.
    text = storable(written, _LONGEST_SCRIPT)
    # As it stands, then without what publishers often wrap it in and the line breaks they leave inside strings.
    for attempt in (text, _CONTROL.sub(" ", _WRAPPED.sub("", text))):
        try:
            return orjson.loads(attempt)
        except ValueError:
            continue
    return None


def _types(node: Node) -> list[str]:
    said = node.get("@type")
    return [
        one.rpartition("/")[2][:100] for one in (said if isinstance(said, list) else [said]) if isinstance(one, str)
    ]


def _is_article(node: Node) -> bool:
    return any(name in _ARTICLE_TYPES or name.endswith("Article") for name in _types(node))


def _body(node: Node) -> str:
    said = node.get("articleBody")
    return storable(said, LONGEST_TEXT) if isinstance(said, str) else ""


def _raw(node: Node) -> dict[str, Any] | None:
    """The node as it can be stored; the text is left out, it would be there twice."""
    try:
        written = _NUL.sub(rb"\1", orjson.dumps({name: value for name, value in node.items() if name != "articleBody"}))
        kept: dict[str, Any] | None = orjson.loads(written) if len(written) <= _LARGEST_RAW_BYTES else None
    except (ValueError, TypeError):  # nested more deeply than orjson writes
        return None
    return kept
