"""Everything a page says about itself, read from one parse before its text is touched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.canonical import canonical_links, canonical_url
from headwater.extraction.elements import Elements
from headwater.extraction.linked_data import LinkedData, linked_data_of
from headwater.extraction.links import Anchors, absolute, anchors_of, base_of
from headwater.extraction.metadata import Metadata, first_of_each, keywords_in, metadata_from, metas_of
from headwater.extraction.page import Page
from headwater.extraction.page_type import Signs, signs_of
from headwater.extraction.robots import PageRobots, robots_of
from headwater.extraction.selectors import selected_value
from headwater.extraction.text import comparable, page_line
from headwater.extraction.title import headline_in, without_site_name

_LONGEST_TITLE = 500
_MOST_IMAGES = 20
# A source's selector speaks in the place of the element it replaces.
_SELECTED_METAS = {
    "og:title": ("og_title",),
    "og:description": ("og_description",),
    "og:image": ("og_image",),
    "og:url": ("og_url",),
    "og:type": ("og_type",),
    "og:site_name": ("og_site_name",),
    "description": ("description",),
    "keywords": ("keywords", "tags"),
    "article:section": ("section", "category"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """`said` are the page's <meta> elements by name; `titles` everything that may stand above the text again."""

    said: Mapping[str, str]
    metadata: Metadata
    linked_data: LinkedData
    robots: PageRobots
    anchors: Anchors
    signs: Signs
    title: str
    titles: frozenset[str]
    canonical_url: str
    has_canonical: bool
    section: str
    description: str
    keywords: tuple[str, ...]
    images: tuple[str, ...]
    languages: tuple[str, ...]
    base: str


def overview_of(elements: Elements, page: Page, now: datetime) -> Overview:
    tree = elements.tree
    metas = metas_of(elements)
    said = first_of_each(metas) | _selected_metas(tree, page)
    metadata, linked = metadata_from(said), linked_data_of(elements, page.url, page.zone())
    base = base_of(elements, page.url)
    anchors = anchors_of(elements, base)
    titles = _titles(elements, page, metadata, linked)
    canonicals = [selected_value(tree, page.selectors, "canonical")] if "canonical" in page.selectors.fields else []
    written = [href for href in (canonicals or canonical_links(elements)) if href]
    return Overview(
        said=said,
        metadata=metadata,
        linked_data=linked,
        robots=robots_of(metas, page.robots_headers, page.robots_name, page.zone(), now),
        anchors=anchors,
        signs=signs_of(
            elements,
            links=anchors.count,
            is_article_by_linked_data=linked.is_about_this_page,
            is_article_by_og=metadata.og_type.lower() == "article",
        ),
        title=next((title for title in titles if title), ""),
        titles=frozenset(comparable(title) for title in titles if title),
        canonical_url=canonical_url(page.url, base, written),
        has_canonical=bool(written),
        section=metadata.article_section or linked.article_section,
        description=metadata.meta_description or metadata.og_description or linked.description,
        keywords=keywords_in([metadata.meta_keywords, *linked.keywords, *_all(metas, "article:tag")]),
        images=_images(tree, page, metadata, linked, base),
        base=base,
        languages=(_html_lang(tree), linked.language, said.get("og:locale", ""), page.hints.language),
    )


def _selected_metas(tree: LexborHTMLParser, page: Page) -> dict[str, str]:
    values = {name: selected_value(tree, page.selectors, *fields) for name, fields in _SELECTED_METAS.items()}
    return {name: value for name, value in values.items() if value}


def _titles(elements: Elements, page: Page, metadata: Metadata, linked: LinkedData) -> tuple[str, ...]:
    """Best first. The feed's comes before the page's own: it was written to be read alone."""
    page_title, heading = _first_line(elements.named("title")), _first_line(elements.named("h1"))
    names = (metadata.og_site_name, linked.publisher_name)
    shown = (
        page.hints.title,
        selected_value(elements.tree, page.selectors, "title"),
        linked.headline if linked.is_about_this_page else "",
        without_site_name(metadata.og_title, names),
        headline_in(page_title, heading, names),
        heading,
        metadata.og_title,
        page_title,
    )
    return tuple(page_line(title, _LONGEST_TITLE) for title in shown)


def _first_line(nodes: Sequence[LexborNode]) -> str:
    lines = (page_line(node.text(separator=" "), _LONGEST_TITLE) for node in nodes[:3])
    return next((line for line in lines if line), "")


def _all(metas: list[tuple[str, str]], name: str) -> list[str]:
    return [content for said, content in metas if said == name]


def _images(tree: LexborHTMLParser, page: Page, metadata: Metadata, linked: LinkedData, base: str) -> tuple[str, ...]:
    written = (selected_value(tree, page.selectors, "image"), metadata.og_image, *linked.images)
    found = dict.fromkeys(url for one in written[:_MOST_IMAGES] if (url := absolute(one, base)))
    return tuple(found)


def _html_lang(tree: LexborHTMLParser) -> str:
    node = tree.css_first("html[lang]")
    return (node.attributes.get("lang") if node else "") or ""
