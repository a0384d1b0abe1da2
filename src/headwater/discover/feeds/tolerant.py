"""Feeds that are not XML and cannot be mended: truncated, wrongly nested, with undeclared prefixes.

feedparser makes something of almost everything, at some fifty times the cost of reading XML, so that it is asked last
and gets a limited text: a mebibyte made to be slow took it six seconds.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from io import BytesIO
from typing import Any

from headwater.discover.feeds.draft import LONGEST_LANGUAGE, Draft, reading_of
from headwater.discover.feeds.pace import wait_said
from headwater.discover.feeds.words import LONGEST_TITLE, absolute, plain
from headwater.discover.items import Reading, Unreadable
from headwater.storable import one_line

MOST_CHARACTERS = 1_048_576

_SIGN_OF_A_FEED = re.compile(r"<(?:\w{1,20}:)?(?:rss|rdf|feed|channel|item|entry)[\s/>]", re.IGNORECASE)
_HTML = re.compile(r"\s*(?:<!doctype\s+html|<html)", re.IGNORECASE)
_ENTITY_DECLARATION = re.compile(r"<!(?=ENTITY)", re.IGNORECASE)
# It decodes character references in text, and forgets to in some attributes.
_ESCAPED_AMPERSAND = re.compile("&(?:amp|#0{0,4}38|#[xX]0{0,4}26);")
_FAILURES = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def is_page(text: str) -> bool:
    """HTML without a trace of a feed, the commonest answer of a feed that has gone."""
    return _HTML.match(text) is not None and not _SIGN_OF_A_FEED.search(text, 0, MOST_CHARACTERS)


def read_tolerantly(text: str, why: str, base_url: str, now: datetime) -> Reading | Unreadable:
    """`why` is the fault that kept the text from being read as XML."""
    beginning = text[:MOST_CHARACTERS]
    if not _SIGN_OF_A_FEED.search(beginning):
        return Unreadable(f"Not a feed: {why}.")
    found = _parsed(beginning, base_url)
    if found is None or not (found["entries"] or found.get("version")):
        return Unreadable(f"Nothing could be made of it: {why}.")
    notes = [f"Read tolerantly: {why}."]
    if len(text) > len(beginning):
        notes.append(f"Only the first {MOST_CHARACTERS:,} characters were read.")
    return reading_of(_about(found["feed"], tuple(notes)), map(_draft, found["entries"]), now)


def _parsed(text: str, base_url: str) -> dict[str, Any] | None:
    import feedparser

    # The ampersand ends its attempt at strict XML, which has failed before and takes quadratic time for attributes.
    document = "&\n" + _ENTITY_DECLARATION.sub("&lt;!", text)
    headers = {"content-type": "application/xml; charset=utf-8", "content-location": base_url}
    try:
        # As a file: it would take bare bytes for the name of one and open it.
        found: dict[str, Any] = feedparser.parse(
            BytesIO(document.encode(errors="replace")),
            response_headers=headers,
            resolve_relative_uris=False,
            sanitize_html=False,
        )
    except _FAILURES:
        return None
    return found


def _about(feed: dict[str, Any], notes: tuple[str, ...]) -> Reading:
    links = feed.get("links", ())
    said = [_text(feed, name) for name in ("ttl", "sy_updateperiod", "sy_updatefrequency")]
    return Reading(
        items=(),
        title=plain(_text(feed, "title"), LONGEST_TITLE),
        language=one_line(_text(feed, "language"), LONGEST_LANGUAGE),
        ttl=wait_said(*said),
        hub=_linked(links, "hub"),
        topic=_linked(links, "self"),
        notes=notes,
        damage=notes[0],
        is_partial=True,
    )


def _linked(links: Iterable[dict[str, Any]], role: str) -> str:
    found = (absolute(str(link.get("href", "")), "") for link in links if link.get("rel") == role)
    return next(filter(None, found), "")


def _draft(entry: dict[str, Any]) -> Draft:
    return Draft(
        link=absolute(_ESCAPED_AMPERSAND.sub("&", _text(entry, "link")), ""),
        guid=_text(entry, "id"),
        title=plain(_text(entry, "title"), LONGEST_TITLE),
        published=(_text(entry, "published"), _text(entry, "created")),
        updated=(_text(entry, "updated"),),
        author=_text(entry, "author"),
        summary=_text(entry, "summary"),
        content=next(_contents(entry), ""),
    )


def _contents(entry: dict[str, Any]) -> Iterator[str]:
    return (_text(content, "value") for content in dict.get(entry, "content") or ())


def _text(owner: dict[str, Any], name: str) -> str:
    # feedparser's own look-up answers with other fields where one is missing, and warns that it does.
    value = dict.get(owner, name)
    return value if isinstance(value, str) else ""
