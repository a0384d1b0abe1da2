"""Pages read by extractors that other distributions bring, as entry points of the group `headwater.extractors`.

An extractor gets the page as text and its URL, and answers with fields of `headwater.PageFields` or None.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from headwater.extraction.page import Page
from headwater.extraction.text import LONGEST_TEXT, page_line, storable, tidy
from headwater.plugins import EXTRACTORS, BadAnswer, Plugin, PluginFailure, ask, fields_in, plugin_for

PRODUCER = "plugin:"
_LONGEST_LINE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginAnswer:
    """A plug-in's answer to a page. `failure` says which one failed, and how; everything else is empty then."""

    text: str = ""
    title: str = ""
    author: str = ""
    language: str = ""
    published_at: datetime | None = None
    producer: str = ""
    failure: str = ""


NOTHING = PluginAnswer()
_TEXTS = {"text": LONGEST_TEXT, "title": _LONGEST_LINE, "author": _LONGEST_LINE, "language": _LONGEST_LINE}
_INSTANTS = ("published_at",)


def given_by_plugin(page: Page) -> PluginAnswer:
    plugin = plugin_for(EXTRACTORS, page.url) if page.asks_plugins else None
    if plugin is None:
        return NOTHING
    answer = ask(plugin, lambda said: _checked(said, plugin), page.html(), page.url)
    return PluginAnswer(failure=answer.sentence) if isinstance(answer, PluginFailure) else answer


def _checked(answer: object, plugin: Plugin) -> PluginAnswer:
    if answer is None:
        return NOTHING
    if not isinstance(answer, Mapping):
        raise BadAnswer(f"it answered with {type(answer).__name__}, neither a mapping nor None")
    said = fields_in(answer, _TEXTS, _INSTANTS)
    lines = {name: page_line(said[name], most) for name, most in _TEXTS.items() if name in said and name != "text"}
    text = tidy(storable(said.get("text", ""), LONGEST_TEXT).split("\n"))
    producer = PRODUCER + plugin.distribution.partition(" ")[0]
    return PluginAnswer(text=text, **lines, published_at=said.get("published_at"), producer=producer)
