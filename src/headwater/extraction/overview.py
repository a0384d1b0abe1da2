"""Everything a page says about itself, read from one parse before its text is touched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.canonical import canonical_links, canonical_url
from headwater.extraction.elements import Elements, attribute
from headwater.extraction.linked_data import LinkedData, linked_data_of
from headwater.extraction.linked_values import texts
from headwater.extraction.links import Anchors, absolute, anchors_of, base_of
from headwater.extraction.metadata import Metadata, first_of_each, keywords_in, metadata_from, metas_of
from headwater.extraction.page import Page
from headwater.extraction.page_type import Signs, signs_of
from headwater.extraction.rights import statements_in
from headwater.extraction.robots import PageRobots, robots_of
from headwater.extraction.selectors import selected_value
from headwater.extraction.site_names import SiteNames, site_names
from headwater.extraction.templates.guide import template_in
from headwater.extraction.text import comparable, page_line
from headwater.extraction.title import best_title, headline_in, is_said_alone, surroundings, without_surroundings
from headwater.rights.record import UseStatement

_LONGEST_TITLE = 500
_MOST_HOME_LINKS, _LONGEST_NAME = 3, 40
_MOST_IMAGES, _MOST_ALIKE = 20, 20
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
    metas: Sequence[tuple[str, str]]
    metadata: Metadata
    linked_data: LinkedData
    robots: PageRobots
    anchors: Anchors
    signs: Signs
    title: str
    titles: frozenset[str]
    page_title: str
    site_names: SiteNames
    base: str
    canonical_url: str
    has_canonical: bool
    section: str
    description: str
    keywords: tuple[str, ...]
    images: tuple[str, ...]
    languages: tuple[str, ...]
    rights: tuple[UseStatement, ...]

    def said_of(self, name: str) -> list[str]:
        """All that <meta> elements of this name say."""
        return _all(self.metas, name)[:_MOST_ALIKE]


def overview_of(elements: Elements, page: Page, now: datetime) -> Overview:
    tree = elements.tree
    metas = metas_of(elements)
    said = first_of_each(metas) | _selected_metas(tree, page)
    metadata, linked = metadata_from(said), linked_data_of(elements, page.url, page.zone())
    base = base_of(elements, page.url)
    anchors = anchors_of(elements, base)
    names = _site_names(page, said, linked, anchors)
    titles = _titles(elements, page, said, linked, names, anchors)
    canonicals = [selected_value(tree, page.selectors, "canonical")] if "canonical" in page.selectors.fields else []
    written = [href for href in (canonicals or canonical_links(elements)) if href]
    return Overview(
        said=said,
        metas=metas,
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
        site_names=names,
        base=base,
        page_title=_first_line(elements.named("title")),
        canonical_url=canonical_url(page.url, base, written),
        has_canonical=bool(written),
        section=metadata.article_section or linked.article_section,
        description=metadata.meta_description or metadata.og_description or linked.description,
        keywords=keywords_in([metadata.meta_keywords, *linked.keywords, *_all(metas, "article:tag")]),
        images=_images(tree, page, metadata, linked, base),
        rights=statements_in(elements, metas, base, page.robots_name),
        languages=(_html_lang(tree), linked.language, said.get("og:locale", ""), page.hints.language),
    )


def _selected_metas(tree: LexborHTMLParser, page: Page) -> dict[str, str]:
    values = {name: selected_value(tree, page.selectors, *fields) for name, fields in _SELECTED_METAS.items()}
    return {name: value for name, value in values.items() if value}


def _titles(
    elements: Elements, page: Page, said: Mapping[str, str], linked: LinkedData, names: SiteNames, anchors: Anchors
) -> tuple[str, ...]:
    """Best first. The feed's, written to be read alone, comes before a page's own that stands in one place only."""
    page_title, heading = _first_line(elements.named("title")), _first_line(elements.named("h1"))
    shared, headline = said.get("og:title", ""), linked.headline if linked.is_about_this_page else ""
    sections = said.get("article:section", ""), linked.article_section
    around = surroundings(names, sections, lambda: anchors.texts)
    plain_heading, plain_title = without_surroundings(heading, around), headline_in(page_title, heading, around)
    declared = without_surroundings(headline, around, heading), without_surroundings(shared, around, heading)
    name = without_surroundings(next(iter(texts(linked.raw or {}, "name")), ""), around, heading)
    meta = without_surroundings(said.get("title", ""), around, heading)
    best = best_title(*declared, plain_heading, plain_title, name, meta, is_named=plain_title != page_title)
    selected = selected_value(elements.tree, page.selectors, "title")
    is_sure = not names.has(best) and is_said_alone(best, page.hints.title, (*declared, plain_heading, plain_title))
    shown = (
        *((selected, best, page.hints.title) if is_sure else (page.hints.title, selected, best)),
        plain_title,
        plain_heading,
        *declared,
        headline,
        heading,
        shared,
        page_title,
    )
    return tuple(page_line(title, _LONGEST_TITLE) for title in shown)


def _site_names(page: Page, said: Mapping[str, str], linked: LinkedData, anchors: Anchors) -> SiteNames:
    handle = said.get("twitter:site", "").removeprefix("@")
    declared = (said.get("og:site_name", ""), said.get("application-name", ""), linked.publisher_name, handle)
    named = (*declared, *_names_that_lead_home(page.url, anchors))
    template = template_in(page.guide) if page.guide else None
    return site_names(page.url, named, template.house_names if template else ())


def _names_that_lead_home(url: str, anchors: Anchors) -> Iterator[str]:
    """A site's name, or the word on its picture, is what a reader presses to come to its front page."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    roots = {"", f"{scheme}://{host}", f"//{host}"}
    leading = (one.node for one in anchors.found if one.href and one.href.rstrip("/") in roots)
    for node in islice(leading, _MOST_HOME_LINKS):
        picture = node.css_first("img")
        said = node.text(separator=" ") or (attribute(picture, "alt") if picture else "")
        if 0 < len(name := page_line(said, _LONGEST_NAME + 1)) <= _LONGEST_NAME:
            yield name


def _first_line(nodes: Sequence[LexborNode]) -> str:
    lines = (page_line(node.text(separator=" "), _LONGEST_TITLE) for node in nodes[:3])
    return next((line for line in lines if line), "")


def _all(metas: Sequence[tuple[str, str]], name: str) -> list[str]:
    return [content for said, content in metas if said == name]


def _images(tree: LexborHTMLParser, page: Page, metadata: Metadata, linked: LinkedData, base: str) -> tuple[str, ...]:
    written = (selected_value(tree, page.selectors, "image"), metadata.og_image, *linked.images)
    found = dict.fromkeys(url for one in written[:_MOST_IMAGES] if (url := absolute(one, base)))
    return tuple(found)


def _html_lang(tree: LexborHTMLParser) -> str:
    node = tree.css_first("html[lang]")
    return (node.attributes.get("lang") if node else "") or ""
