"""The author of a page."""

import re

from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.overview import Overview
from headwater.extraction.page import Page
from headwater.extraction.selectors import selected_value
from headwater.extraction.text import page_line

_LONGEST = 300
# Longer than this, the element holds a biography rather than a name.
_LONGEST_SHOWN = 100
_METAS = ("author", "article:author", "parsely-author", "sailthru.author", "dc.creator", "dcterms.creator")
_SHOWN = "a[rel~=author], [itemprop=author], .byline, .author, .post-author, .article-author"
_AFTER_A_NAME = re.compile(r"\s*(?:[@|·•\d]|, (?=\d))")
_BEFORE_A_NAME = re.compile(r"(?:by|von|par|por|di|от|автор|بقلم)\b[:\s]+", re.IGNORECASE)


def author_of(tree: LexborHTMLParser, page: Page, seen: Overview) -> str:
    metas = (seen.said.get(name, "") for name in _METAS)
    found = (
        selected_value(tree, page.selectors, "author", "byline_name", "byline"),
        seen.linked_data.author,
        *(said for said in metas if "://" not in said),
        page.hints.author,
    )
    # What is shown is looked for only where nothing is said: that walks through the whole page.
    return next((name for said in found if (name := _name_in(said))), "") or _name_in(_shown_author(tree))


def _shown_author(tree: LexborHTMLParser) -> str:
    shown = (page_line(node.text(separator=" "), _LONGEST) for node in tree.css(_SHOWN)[:5])
    return next((_AFTER_A_NAME.split(text)[0] for text in shown if 0 < len(text) <= _LONGEST_SHOWN), "")


def _name_in(said: str) -> str:
    plain = page_line(said, _LONGEST)
    found = _BEFORE_A_NAME.match(plain)
    return plain[found.end() :] if found else plain
