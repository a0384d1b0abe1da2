"""JSON Feed 1.0 and 1.1. Any value may be of any type: one that is not as it should be counts as absent."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from html import escape
from typing import Any

import orjson

from headwater.discover.feeds.draft import LONGEST_LANGUAGE, Draft, reading_of
from headwater.discover.feeds.words import LONGEST_TITLE, absolute, plain
from headwater.discover.items import Reading, Unreadable
from headwater.storable import one_line

# Objects take far more room than the text that makes them.
_MOST_VALUES = 500_000
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{}]', re.DOTALL)
_DEPTH_OF_LISTS = 2  # the feed is an object, its items a list in it


def read_json_feed(text: str, base_url: str, now: datetime) -> Reading | Unreadable:
    if sum(map(text.count, ",[{")) > _MOST_VALUES:
        return Unreadable("The JSON holds more values than a feed needs.")
    try:
        feed = orjson.loads(text)
    except orjson.JSONDecodeError as complaint:
        return _read_begun(text, complaint.msg, base_url, now)
    return _read(feed, base_url, now)


def _read(feed: Any, base_url: str, now: datetime, *notes: str) -> Reading | Unreadable:
    if not isinstance(feed, dict) or "jsonfeed.org/version" not in _text(feed, "version"):
        return Unreadable("JSON, but not a JSON Feed.")
    return reading_of(replace(_about(feed, base_url), notes=notes), _drafts(feed, base_url), now)


def _read_begun(text: str, why: str, base_url: str, now: datetime) -> Reading | Unreadable:
    damage = f"Read up to where it breaks off: {why}."
    found = _read(_begun(text), base_url, now, damage)
    if isinstance(found, Unreadable) or not found.items:
        return Unreadable(f"Neither XML nor JSON: {why}.")
    return replace(found, damage=damage, is_partial=True)


def _begun(text: str) -> Any | None:
    """A feed that breaks off, up to the last object of a list that is whole."""
    depth = ends = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        match found[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                ends = found.end() if depth == _DEPTH_OF_LISTS and found[0] == "}" else ends
    try:
        return orjson.loads(text[:ends] + "]}") if ends else None
    except orjson.JSONDecodeError:
        return None


def _about(feed: dict[str, Any], base_url: str) -> Reading:
    hubs = (absolute(_text(hub, "url"), "") for hub in _objects(feed, "hubs"))
    return Reading(
        items=(),
        title=plain(_text(feed, "title"), LONGEST_TITLE),
        language=one_line(_text(feed, "language"), LONGEST_LANGUAGE),
        hub=next(filter(None, hubs), ""),
        topic=absolute(_text(feed, "feed_url"), base_url),
        more=tuple(filter(None, (absolute(_text(feed, "next_url"), base_url),))),
    )


def _drafts(feed: dict[str, Any], base_url: str) -> Iterator[Draft]:
    author = _author(feed)
    for entry in _objects(feed, "items"):
        text = escape(_text(entry, "content_text"), quote=False)
        yield Draft(
            link=absolute(_text(entry, "url"), base_url) or absolute(_text(entry, "external_url"), base_url),
            guid=_text(entry, "id"),
            title=plain(_text(entry, "title"), LONGEST_TITLE),
            published=(_text(entry, "date_published"),),
            updated=(_text(entry, "date_modified"),),
            author=_author(entry) or author,
            summary=escape(_text(entry, "summary"), quote=False) or text,
            content=_text(entry, "content_html") or text,
            language=_text(entry, "language"),
        )


def _author(owner: dict[str, Any]) -> str:
    """1.1 has a list of authors, 1.0 had one."""
    authors = [*_objects(owner, "authors"), owner.get("author")]
    names = (_text(author, "name") for author in authors if isinstance(author, dict))
    return next(filter(None, names), "")


def _objects(owner: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    values = owner.get(name)
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else iter(())


def _text(owner: dict[str, Any], name: str) -> str:
    value = owner.get(name)
    # Identifiers are numbers often enough that the standard asks readers to take them.
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
