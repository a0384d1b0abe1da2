"""The authors of a page."""

from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.author_names import authors_in, is_only_site, persons_among
from headwater.extraction.overview import Overview
from headwater.extraction.page import Page
from headwater.extraction.selectors import selected_value
from headwater.extraction.text import page_line

_LONGEST = 300
# Longer than this, the element holds a biography rather than names.
_LONGEST_SHOWN = 200
_METAS = (
    "author", "article:author", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator",
    "cxenseparse:author", "byl", "citation_author",
)  # fmt: skip
# Surest first: said to be the author, what holds the whole line, a name in it.
_SHOWN = (
    "[itemprop=author] [itemprop=name], [itemprop=author]",
    "[class*=byline], [class*=Byline]",
    "[class*=author], [class*=Author], a[rel~=author]",
)
_LONGEST_LOOK = 5


def authors_of(tree: LexborHTMLParser, page: Page, seen: Overview) -> tuple[str, ...]:
    """Persons first, then whoever else is declared; where that is only the site, what is shown may name a person."""
    declared = [authors for authors in _declared(tree, page, seen) if authors]
    linked = seen.linked_data
    for authors in declared:
        if persons := persons_among(authors, seen.site_names, linked.people, linked.organisations):
            return persons
    others = [one for one in declared if not is_only_site(one, seen.site_names)]
    if others:
        return others[0]
    shown = next((persons for authors in _shown(tree) if (persons := persons_among(authors, seen.site_names))), ())
    return shown or next(iter(declared), ())


def _declared(tree: LexborHTMLParser, page: Page, seen: Overview) -> Iterator[tuple[str, ...]]:
    yield authors_in([selected_value(tree, page.selectors, "author", "byline_name", "byline")])
    yield authors_in(seen.linked_data.authors)
    for name in _METAS:
        yield authors_in([said for said in seen.said_of(name) if "://" not in said])
    yield authors_in([page.hints.author])


def _shown(tree: LexborHTMLParser) -> Iterator[tuple[str, ...]]:
    """Looked for only where no person is declared: that walks through the whole page."""
    for css in _SHOWN:
        for node in islice(tree.css(css), _LONGEST_LOOK):
            yield authors_in(_lines_of(node), is_shown=True)


def _lines_of(node: LexborNode) -> list[str]:
    said = node.attributes.get("content") if node.tag == "meta" else node.text(separator="\n")
    text = (said or "")[: _LONGEST_SHOWN * 4]
    lines = [line for part in text.split("\n") if (line := page_line(part, _LONGEST))]
    return lines if sum(map(len, lines)) <= _LONGEST_SHOWN else []
