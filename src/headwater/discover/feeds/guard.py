"""Strict XML and nothing else: no document type of its own, no entities, no network, libxml2's limits kept."""

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from headwater.discover.feeds.vocabulary import local_name
from headwater.discover.items import Unreadable

_PART = 65_536
# What holds entries, and the entry itself: worth reading although its end is missing.
_HOLDING = frozenset({"rss", "rdf", "feed", "channel", "item", "entry"})
_BEFORE_DOCTYPE = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->)", re.DOTALL)
_DOCTYPE = re.compile(r"\s*<!DOCTYPE\b", re.IGNORECASE)
_PLAIN_DOCTYPE = re.compile(r"\s*<!DOCTYPE\b[^\[<>]*>", re.IGNORECASE)

TOO_DEEP = Unreadable("The feed is nested too deeply or holds a text beyond all measure.")
OWN_DOCTYPE = Unreadable("The feed brings a document type of its own, which may hide entities: refused.")


@dataclass(frozen=True, slots=True)
class Malformed:
    """Not XML, but perhaps meant to be; `why` is the parser's complaint."""

    why: str


def without_doctype(text: str) -> str | Unreadable:
    """Old RSS names a public document type, which says nothing; one written into the document is refused."""
    position = 0
    while skipped := _BEFORE_DOCTYPE.match(text, position):
        position = skipped.end()
    if not _DOCTYPE.match(text, position):
        return text
    plain = _PLAIN_DOCTYPE.match(text, position)
    return text[:position] + text[plain.end() :] if plain else OWN_DOCTYPE


def parse_xml(text: str) -> Any | Malformed | Unreadable:
    """The root element of well-formed XML."""
    try:
        root = etree.fromstring(text.encode(errors="replace"), etree.XMLParser(**_LIMITS))
    except etree.XMLSyntaxError as complaint:
        if complaint.code == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
            return TOO_DEEP
        return Malformed(complaint.msg or "not XML")
    return _refused(root) or root


def parse_beginning(text: str, *, is_forgiving: bool = False) -> Any | None:
    """The root of a document that breaks off, without the elements that the break leaves half said.

    None where the fault lies before the end, unless `is_forgiving`: then libxml2 guesses at what was meant. A limit of
    its own counts as the end: what stands before it was read.
    """
    parser = etree.XMLPullParser(events=("start", "end"), recover=is_forgiving, **_LIMITS)
    written = text.encode(errors="replace")
    opened: list[Any] = []
    root = None
    for place in range(0, len(written), _PART):
        fault = _fault_in(parser, written[place : place + _PART])
        for event, element in parser.read_events():
            if event == "end":
                opened.pop()
                continue
            if _has_undeclared_prefix(element.tag) and not is_forgiving:
                return None
            root = element if root is None else root
            opened.append(element)
        if fault == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
            break
        if fault:
            return None
    if root is None or _refused(root) or not (opened or is_forgiving):
        return None
    _take_out_half_said(opened)
    if is_forgiving:
        # References to entities that nobody declared, where a section inside of a comment hid them from mending.
        etree.strip_elements(root, etree.Entity, with_tail=False)
        return root
    # A document without an end has no encoding, and in HTML written from it every letter beyond ASCII is a reference.
    whole = parse_xml(etree.tostring(root, encoding="unicode"))
    return None if isinstance(whole, Malformed | Unreadable) else whole


def _has_undeclared_prefix(tag: str) -> bool:
    """A fault of which the parser says nothing before the end."""
    return ":" in tag and not tag.startswith("{")


def _fault_in(parser: Any, part: bytes) -> int:
    """The parser's number for it, or 0."""
    try:
        parser.feed(part)
    except etree.XMLSyntaxError as complaint:
        return int(complaint.code)
    return 0


def _take_out_half_said(opened: list[Any]) -> None:
    """A link without its end would be another link, and half a text would count as all of it."""
    half = next((element for element in opened if local_name(element.tag) not in _HOLDING), None)
    if half is not None and half.getparent() is not None:
        half.getparent().remove(half)


def _refused(root: Any) -> Unreadable | None:
    # Two document types in a row: the first was taken out before.
    return OWN_DOCTYPE if root.getroottree().docinfo.internalDTD is not None else None


_LIMITS: dict[str, Any] = {
    # The text was decoded before, whatever its declaration says.
    "encoding": "utf-8",
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
    "collect_ids": False,
}
