"""Strict XML and nothing else: no document type of its own, no entities, no network, libxml2's limits kept."""

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from headwater.discover.items import Unreadable

_BEFORE_DOCTYPE = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->)", re.DOTALL)
_DOCTYPE = re.compile(r"\s*<!DOCTYPE\b", re.IGNORECASE)
_PLAIN_DOCTYPE = re.compile(r"\s*<!DOCTYPE\b[^\[<>]*>", re.IGNORECASE)

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


def parsed(text: str) -> Any | Malformed | Unreadable:
    """The root element of well-formed XML."""
    try:
        root = etree.fromstring(text.encode(errors="replace"), _parser())
    except etree.XMLSyntaxError as complaint:
        if complaint.code == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
            return Unreadable("The feed is nested too deeply or holds a text beyond all measure.")
        return Malformed(complaint.msg or "not XML")
    # Two document types in a row: the first was taken out before.
    return OWN_DOCTYPE if root.getroottree().docinfo.internalDTD is not None else root


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        # The text was decoded before, whatever its declaration says.
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
