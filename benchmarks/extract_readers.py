"""Everybody who reads a page's text in the benchmark of extraction. Those that are no part of ours may be missing."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec

import trafilatura

from headwater.extraction.page import Page

Reader = Callable[[Page], str]


def trafilatura_full(page: Page) -> str:
    return trafilatura.extract(page.html(), include_comments=False) or ""


def trafilatura_fast(page: Page) -> str:
    return trafilatura.extract(page.html(), include_comments=False, fast=True) or ""


def resiliparse(page: Page) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(page.html(), main_content=True, alt_texts=False, preserve_formatting=True))


def readability(page: Page) -> str:
    from lxml.etree import LxmlError
    from lxml.html import fromstring
    from readability import Document
    from readability.readability import Unparseable

    try:
        summary = fromstring(Document(page.html()).summary())
    except (LxmlError, Unparseable, ValueError):
        return ""
    blocks = summary.xpath("//p|//h2|//h3|//h4|//li|//pre|//td")
    return "\n".join(text for one in blocks if (text := " ".join(one.text_content().split())))


_NEEDED = {"trafilatura": "trafilatura", "trafilatura_fast": "trafilatura"}
PEERS: Mapping[str, Reader] = {
    "trafilatura": trafilatura_full,
    "trafilatura_fast": trafilatura_fast,
    "resiliparse": resiliparse,
    "readability": readability,
}


def peers_at_hand() -> dict[str, Reader]:
    return {name: reader for name, reader in PEERS.items() if find_spec(_NEEDED.get(name, name))}
