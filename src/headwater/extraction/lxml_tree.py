"""Markup as a tree for the readers that are built on lxml."""

from functools import cache
from typing import TYPE_CHECKING

from headwater.extraction.page import LONGEST_HTML
from headwater.extraction.text import storable

if TYPE_CHECKING:
    from lxml.html import HtmlElement, HTMLParser


def lxml_tree(html: str) -> "HtmlElement | None":
    """None where nothing is in it."""
    from lxml.etree import LxmlError
    from lxml.html import document_fromstring

    # A character reference can name what the parser behind this refuses to hold.
    written = storable(html, LONGEST_HTML).encode()
    try:
        return document_fromstring(written, parser=_parser())
    except LxmlError:
        return None


@cache
def _parser() -> "HTMLParser":
    """Every element is of one class: to choose by its name takes a call of Python each time that one is touched."""
    from lxml.etree import ElementDefaultClassLookup
    from lxml.html import HtmlElement, HTMLParser

    parser = HTMLParser(
        collect_ids=False, default_doctype=False, encoding="utf-8", remove_comments=True, remove_pis=True
    )
    parser.set_element_class_lookup(ElementDefaultClassLookup(element=HtmlElement))
    return parser
