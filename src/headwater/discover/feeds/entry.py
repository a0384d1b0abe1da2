"""One entry of an XML feed."""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from lxml import etree

from headwater.discover.feeds.draft import Draft
from headwater.discover.feeds.vocabulary import ATOM, RDF_ABOUT, XML_BASE, XML_LANG, meaning, namespace
from headwater.discover.feeds.words import LONGEST_TITLE, absolute, base_within, looks_like_markup, plain
from headwater.rights.record import UseStatement
from headwater.rights.rsl import rsl_statements
from headwater.storable import one_line

_PLAIN = frozenset({"", "text", "text/plain"})
_MAIL_WITH_NAME = re.compile(r"[^\s@]+@[^\s@]+\s+\((.+)\)")


def draft_from(entry: Any, home: str, base: str, author: str, rights: tuple[UseStatement, ...] = ()) -> Draft:
    """`author` and `rights` are the whole feed's, for entries that name none."""
    found: dict[str, Any] = {}
    links = []
    for child in entry:
        match meaning(child.tag, home):
            case "link":
                links.append(child)
            case name if name:
                found.setdefault(name, child)
    base = base_within(entry.get(XML_BASE), base)
    return Draft(
        link=_link(links, base),
        guid=text_of(found.get("guid")) or entry.get(RDF_ABOUT) or "",
        title=title_of(found.get("title")) or title_of(found.get("label")),
        published=_texts(found, "published", "date", "created"),
        updated=_texts(found, "updated"),
        author=author_in(found, home) or author,
        summary=_html(found.get("description")) or _html(found.get("summary")),
        content=_html(found.get("content")),
        language=text_of(found.get("language")) or entry.get(XML_LANG) or "",
        rights=tuple(rsl_statements(entry)) or rights,
    )


def text_of(element: Any) -> str:
    if element is None:
        return ""
    text: str = "".join(element.itertext()) if len(element) else element.text or ""
    return text.strip()


def title_of(element: Any) -> str:
    if element is None:
        return ""
    text = text_of(element)
    return one_line(text, LONGEST_TITLE) if len(element) or _is_literal(element, text) else plain(text, LONGEST_TITLE)


def author_in(found: dict[str, Any], home: str) -> str:
    """Atom's name of a person, Dublin Core's creator, or RSS's mail address with the name in brackets."""
    author = found.get("author")
    if author is None:
        return text_of(found.get("creator"))
    names = (text_of(child) for child in author if meaning(child.tag, home) == "name")
    text = next(names, "") if len(author) else text_of(found.get("creator")) or text_of(author)
    named = _MAIL_WITH_NAME.fullmatch(text[:1_000])
    return named[1] if named else text


def _texts(found: dict[str, Any], *names: str) -> tuple[str, ...]:
    return tuple(text_of(found[name]) for name in names if name in found)


def _link(links: list[Any], base: str) -> str:
    """RSS writes its link as text, Atom as an attribute. Of several the last counts, as feedparser has it."""
    written = [link for link in links if not link.get("href")]
    found = (absolute(link.text or "", _base(link, base)) for link in reversed(written))
    return next(filter(None, found), "") or next(filter(None, _alternates(links, base)), "")


def _alternates(links: list[Any], base: str) -> Iterable[str]:
    """Pages for people first, then other forms of the same."""
    alternates = [link for link in links if link.get("href") and (link.get("rel") or "alternate") == "alternate"]
    alternates.sort(key=lambda link: "html" in (link.get("type") or "html"))
    return (absolute(link.get("href"), _base(link, base)) for link in reversed(alternates))


def _base(element: Any, outer: str) -> str:
    return base_within(element.get(XML_BASE), outer)


def _html(element: Any) -> str:
    """The markup an element carries: escaped, as elements, or as text that has to be escaped first."""
    if element is None or not _is_text(element):
        return ""
    if len(element):
        inside = (etree.tostring(child, encoding="unicode", method="html") for child in element)
        return (escape(element.text or "", quote=False) + "".join(inside)).strip()
    text = text_of(element)
    return escape(text, quote=False) if _is_literal(element, text) else text


def _is_text(element: Any) -> bool:
    kind = (element.get("type") or "").lower()
    return (kind in _PLAIN or "html" in kind) and element.get("mode") != "base64"


def _is_literal(element: Any, text: str) -> bool:
    """Atom's plain text means what it says, unless it is plainly HTML; RSS has no such thing as plain text."""
    kind = (element.get("type") or "").lower()
    return namespace(element.tag) in ATOM and kind in _PLAIN and not looks_like_markup(text)
