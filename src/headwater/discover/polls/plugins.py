"""Answers of channels read by readers that other distributions bring, as entry points of the group `headwater.readers`.

A reader gets the body, its Content-Type and its URL, and answers with items, as fields of `headwater.ItemFields`, or
None. It only reads: which answers are asked for, when, and which items are taken stays ours.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from html import escape

from headwater.discover.feeds.draft import LONGEST_CONTENT, LONGEST_GUID, Draft, reading_of
from headwater.discover.feeds.words import LONGEST_TITLE
from headwater.discover.items import Reading
from headwater.discover.pages.listing import link_to
from headwater.discover.polls.task import Reply
from headwater.extraction.text import storable
from headwater.plugins import READERS, BadAnswer, PluginFailure, ask, fields_in, plugin_for
from headwater.sources.kinds import ChannelKind
from headwater.storable import one_line

_TEXTS = ("url", "title", "guid", "author", "summary", "language")
_INSTANTS = ("published_at", "updated_at")


def reading_by_plugin(kind: ChannelKind, reply: Reply, now: datetime) -> Reading | PluginFailure | None:
    """None: there is no plug-in for it, or it leaves the answer to us."""
    plugin = plugin_for(READERS, reply.url) if kind.traits.asks_plugins and reply.asks_plugins else None
    if plugin is None:
        return None
    return ask(plugin, lambda answer: _reading(answer, reply.url, now), reply.body, reply.content_type, reply.url)


def _reading(answer: object, base: str, now: datetime) -> Reading | None:
    if answer is None:
        return None
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise BadAnswer(f"it answered with {type(answer).__name__}, neither an iterable of mappings nor None")
    return reading_of(Reading(()), (_draft(one, base) for one in answer), now)


def _draft(answer: object, base: str) -> Draft:
    """Written as an entry of a feed, so that the rules for those hold: of lengths, of dates that cannot be meant."""
    if not isinstance(answer, Mapping):
        raise BadAnswer(f"one of its items is {type(answer).__name__}, not a mapping")
    said = fields_in(answer, _TEXTS, _INSTANTS)
    place = link_to(said["url"].strip(), base) if said.get("url", "").strip() else None
    return Draft(
        link=place.url if place else "",
        guid=one_line(said.get("guid", ""), LONGEST_GUID),
        title=one_line(said.get("title", ""), LONGEST_TITLE),
        published=_written(said.get("published_at")),
        updated=_written(said.get("updated_at")),
        author=said.get("author", ""),
        # A draft's is HTML, and here it is plain.
        summary=escape(storable(said.get("summary", ""), LONGEST_CONTENT), quote=False),
        language=said.get("language", ""),
    )


def _written(instant: datetime | None) -> tuple[str, ...]:
    return (instant.isoformat(),) if instant else ()
