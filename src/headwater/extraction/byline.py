"""The authors of a page."""

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.author_names import (
    authors_in,
    is_account,
    is_byline,
    is_only_site,
    names_behind_by,
    persons_among,
)
from headwater.extraction.elements import Elements
from headwater.extraction.heading_lines import lines_beside_heading
from headwater.extraction.overview import Overview
from headwater.extraction.page import Page
from headwater.extraction.selectors import selected_value
from headwater.extraction.text import page_line
from headwater.languages import EDITED_BY, fold

_LONGEST = 300
# Longer than this, the element holds a biography rather than names.
_LONGEST_SHOWN = 200
_METAS = (
    "author", "article:author", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator",
    "cxenseparse:author", "byl", "citation_author", "article_author", "article.author", "articleauthor", "authors",
    "dable:author", "og:article:author",
)  # fmt: skip
# Surest first: said to be the author, what holds the whole line, a name in it.
_SHOWN = (
    "[itemprop=author] [itemprop=name], [itemprop=author]",
    "[class*=byline], [class*=Byline]",
    "[class*=author], [class*=Author], a[rel~=author]",
)
_LONGEST_LOOK = 5
# WordPress says it to those who share a link: what it says, then it.
_LABELLED = (("twitter:label1", "twitter:data1"), ("twitter:label2", "twitter:data2"))
_MOST_AUTHOR_LINKS, _SHARED_LEVELS = 6, 4
# A name alone in bold opens the text of papers that post under one account.
_MOST_OPENING, _PROSE_WORDS = 40, 25
_BOLD = "strong, b"
_MOST_TIMES_NAMED = 20
_TAGS = re.compile(r"<[^<>]{0,300}>|^[^<>]{0,300}>")


def authors_of(elements: Elements, page: Page, seen: Overview) -> tuple[str, ...]:
    """Persons first, then whoever else is declared; where that is only the site, what is shown may name a person.

    The name of an account gives way to a byline beside the heading.
    """
    declared = [authors for authors in _declared(elements.tree, page, seen) if authors]
    linked = seen.linked_data
    no_persons = (*linked.organisations, *linked.offices)
    found = [persons_among(authors, seen.site_names, linked.people, no_persons) for authors in declared]
    named = [persons for persons in found if persons and not all(map(is_account, persons))]
    if named:
        return _with_companions(_rather_than_editors(named[0], elements, page), seen)
    if accounts := next(filter(None, found), ()):
        beside = (persons_among(authors, seen.site_names, (), linked.offices) for authors in _beside_heading(elements))
        return next(filter(None, beside), accounts)
    others = [one for one in declared if not is_only_site(one, seen.site_names) and not set(one) <= set(linked.offices)]
    if others:
        return others[0]
    is_opened = all(seen.site_names.has(name) or name in linked.offices for authors in declared for name in authors)
    for authors in _seen_on_the_page(elements, is_opened=is_opened):
        if persons := persons_among(authors, seen.site_names, (), linked.offices):
            return persons
    return next(iter(declared), ())


def _rather_than_editors(persons: tuple[str, ...], elements: Elements, page: Page) -> tuple[str, ...]:
    """Who stands beside the heading in an element for authors, where the page shows those declared as its editors."""
    if not all(_is_shown_as_editor(name, page) for name in persons):
        return persons
    beside = frozenset(lines_beside_heading(elements))
    shown = (authors for authors in _shown(elements.tree) if authors and not beside.isdisjoint(authors))
    return next(shown, persons)


def _is_shown_as_editor(name: str, page: Page) -> bool:
    """`Editor: <a>Ann Lee</a>`, wherever the name stands. Of the body as it came: to decode all of it takes longer."""
    written, at = name.encode(page.codec, "replace"), 0
    for _ in range(_MOST_TIMES_NAMED):
        if (at := page.body.find(written, at)) < 0:
            break
        before = _TAGS.sub("", page.body[max(0, at - _LONGEST) : at].decode(page.codec, "replace")).rstrip()
        if before.endswith(":") and fold(before[:-1].rstrip()).endswith(EDITED_BY):
            return True
        at += len(written)
    return False


def _seen_on_the_page(elements: Elements, *, is_opened: bool) -> Iterator[tuple[str, ...]]:
    """`is_opened`: the page names at most the account that its site posts everything under."""
    yield from _shown(elements.tree)
    yield from _beside_heading(elements)
    if is_opened:
        yield _opening(elements.tree)


def _declared(tree: LexborHTMLParser, page: Page, seen: Overview) -> Iterator[tuple[str, ...]]:
    yield authors_in([selected_value(tree, page.selectors, "author", "byline_name", "byline")])
    yield authors_in(seen.linked_data.authors)
    for name in _METAS:
        yield authors_in([said for said in seen.said_of(name) if "://" not in said])
    for label, value in _LABELLED:
        if is_byline(seen.said.get(label, "")):
            yield authors_in([seen.said.get(value, "")])
    yield authors_in([page.hints.author])


def _shown(tree: LexborHTMLParser) -> Iterator[tuple[str, ...]]:
    """Looked for only where no person is declared: that walks through the whole page."""
    for css in _SHOWN:
        for node in islice(tree.css(css), _LONGEST_LOOK):
            yield authors_in(_lines_of(node), is_shown=True)


def _with_companions(persons: tuple[str, ...], seen: Overview) -> tuple[str, ...]:
    """And those whose links stand in one place with theirs: linked data may name only the first of several."""
    links = [one.node for one in seen.anchors.found if "author" in one.relations][:_MOST_AUTHOR_LINKS]
    if len(links) <= len(persons):
        return persons
    names = [authors_in([node.text(separator=" ")[:_LONGEST]], is_shown=True) for node in links]
    first = next((node for node, own in zip(links, names, strict=True) if set(own) & set(persons)), None)
    around = _holders(first) if first is not None else {}
    beside = [one for node, own in zip(links, names, strict=True) if _holders(node).keys() & around for one in own]
    together = tuple(dict.fromkeys(beside))
    return persons_among(together, seen.site_names, together) if set(persons) < set(together) else persons


def _holders(node: LexborNode | None) -> dict[int, LexborNode]:
    """The elements around it, by their number."""
    around: dict[int, LexborNode] = {}
    for _ in range(_SHARED_LEVELS):
        node = node.parent if node is not None else None
        if node is not None:
            around[node.mem_id] = node
    return around


def _beside_heading(elements: Elements) -> Iterator[tuple[str, ...]]:
    """`By Ann Lee` in a line of its own."""
    for line in lines_beside_heading(elements):
        if names := names_behind_by(line):
            yield names


def _opening(tree: LexborHTMLParser) -> tuple[str, ...]:
    """What stands alone in bold before the first paragraph of prose, if it is a name."""
    for paragraph in tree.css("p")[:_MOST_OPENING]:
        text = page_line(paragraph.text(separator=" "), _LONGEST * 2)
        if len(text.split()) >= _PROSE_WORDS:
            break
        bold = paragraph.css_first(_BOLD)
        if bold is not None and text and page_line(bold.text(separator=" "), _LONGEST) == text:
            return authors_in([text], is_shown=True)
    return ()


def _lines_of(node: LexborNode) -> list[str]:
    said = node.attributes.get("content") if node.tag == "meta" else node.text(separator="\n")
    text = (said or "")[: _LONGEST_SHOWN * 4]
    lines = [line for part in text.split("\n") if (line := page_line(part, _LONGEST))]
    return lines if sum(map(len, lines)) <= _LONGEST_SHOWN else []
