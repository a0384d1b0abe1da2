"""Extractors that other distributions bring, as entry points of the group `headwater.extractors`.

The name of an entry point is the host whose pages it reads, with all hosts below it; its value is a function that gets
the page as text and its URL, and answers with fields of `headwater.PageFields` or None. Its code is imported with the
first page of its host, in the child that reads the page. Whatever it does, the page is read by our own rules then.
"""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headwater.extraction.page import Page
from headwater.extraction.text import LONGEST_TEXT, one_line, storable, tidy

GROUP = "headwater.extractors"
PRODUCER = "plugin:"
_LONGEST_LINE = 500
_LONGEST_WHY = 300


@dataclass(frozen=True, slots=True)
class Plugin:
    """`distribution` is the one that brings it, with its version."""

    host: str
    distribution: str
    target: str
    entry_point: EntryPoint

    @property
    def producer(self) -> str:
        return PRODUCER + self.distribution.partition(" ")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a plug-in said of a page. `failure` says which one failed, and how; everything else is empty then."""

    text: str = ""
    title: str = ""
    author: str = ""
    language: str = ""
    published_at: datetime | None = None
    producer: str = ""
    failure: str = ""


NOTHING = Given()
_TEXTS = {"text": LONGEST_TEXT, "title": _LONGEST_LINE, "author": _LONGEST_LINE, "language": _LONGEST_LINE}
_NAMES = (*_TEXTS, "published_at")


class BadAnswer(Exception):
    """A sentence about what a plug-in answered, without a word of the page."""


@cache
def installed() -> tuple[Plugin, ...]:
    """By host, and of several for one host by distribution: the first reads. None of their code is imported."""
    found = (
        Plugin(one.name.lower(), f"{one.dist.name} {one.dist.version}" if one.dist else one.value, one.value, one)
        for one in entry_points(group=GROUP)
    )
    return tuple(sorted(found, key=lambda one: (one.host, one.distribution)))


def plugin_for(url: str) -> Plugin | None:
    """That of the host, else of the nearest name above it."""
    if not installed():
        return None
    by_host = {one.host: one for one in reversed(installed())}
    labels = (urlsplit(url).hostname or "").split(".")
    names = (".".join(labels[place:]) for place in range(len(labels)))
    return next((by_host[name] for name in names if name in by_host), None)


@cache
def loaded(plugin: Plugin) -> Callable[[str, str], Any] | str:
    """Its function, or why there is none."""
    try:
        function = plugin.entry_point.load()
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - the code of others, as it is imported
        return f"{plugin.target} cannot be imported: {type(problem).__name__}: {one_line(str(problem), _LONGEST_WHY)}"
    return function if callable(function) else f"{plugin.target} is not a function"


def given_by_plugin(page: Page) -> Given:
    """Only a lack of memory is raised: the child that meets it is not used again."""
    plugin = plugin_for(page.url) if page.asks_plugins else None
    if plugin is None:
        return NOTHING
    function = loaded(plugin)
    if isinstance(function, str):
        return failed(plugin, function)
    try:
        return _checked(function(page.html(), page.url), plugin.producer)
    except MemoryError:
        raise
    except BadAnswer as problem:
        return failed(plugin, str(problem))
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - the code of others, with a page that may do anything
        # Never the message: it may quote the page.
        return failed(plugin, f"{type(problem).__name__} at {_place(problem)}")


def failed(plugin: Plugin, why: str) -> Given:
    return Given(failure=f"The extractor of {plugin.distribution} for {plugin.host} failed: {why}.")


def _checked(answer: object, producer: str) -> Given:
    if answer is None:
        return NOTHING
    if not isinstance(answer, Mapping):
        raise BadAnswer(f"it answered with {type(answer).__name__}, neither a mapping nor None")
    said = {name: value for name, value in answer.items() if value is not None}
    if unknown := said.keys() - set(_NAMES):
        raise BadAnswer(f"it answered with {len(unknown)} unknown fields; there are {', '.join(_NAMES)}")
    if wrong := [name for name in _TEXTS if not isinstance(said.get(name, ""), str)]:
        raise BadAnswer(f"its {wrong[0]} is no text")
    published_at = said.get("published_at")
    if published_at is not None and not (isinstance(published_at, datetime) and published_at.tzinfo):
        raise BadAnswer("its published_at is no datetime with a time zone")
    lines = {name: one_line(said[name], most) for name, most in _TEXTS.items() if name in said and name != "text"}
    text = tidy(storable(said.get("text", ""), LONGEST_TEXT).split("\n"))
    return Given(text=text, **lines, published_at=published_at, producer=producer)


def _place(problem: BaseException) -> str:
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"
