"""Functions of other distributions for one host, found by entry points: finding, loading and asking them.

The name of an entry point is the host that it is for, with all hosts below it. Its code is imported when the first
answer of its host is read, in the child that reads it. Whatever it does, our own rules can read the answer then.
"""

import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from headwater.storable import one_line

_LONGEST_WHY = 300
_Checked = TypeVar("_Checked")


@dataclass(frozen=True, slots=True)
class PluginGroup:
    """The words for it: `role` is that of one plug-in, `reads` are the things it reads."""

    name: str
    role: str
    reads: str


EXTRACTORS = PluginGroup("headwater.extractors", "extractor", "pages")
READERS = PluginGroup("headwater.readers", "reader", "channels")


@dataclass(frozen=True, slots=True)
class Plugin:
    """`distribution` is the one that brings it, with its version."""

    group: PluginGroup
    host: str
    distribution: str
    target: str
    entry_point: EntryPoint

    def failed(self, why: str) -> "PluginFailure":
        return PluginFailure(f"The {self.group.role} of {self.distribution} for {self.host} failed: {why}.")


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """A sentence that names the plug-in, without a word of what it was to read."""

    sentence: str


class BadAnswer(Exception):
    """The end of such a sentence: what is wrong with an answer."""


@cache
def installed(group: PluginGroup) -> tuple[Plugin, ...]:
    """By host, and of several for one host by distribution: the first reads. None of their code is imported."""
    found = (
        Plugin(
            group, one.name.lower(), f"{one.dist.name} {one.dist.version}" if one.dist else one.value, one.value, one
        )
        for one in entry_points(group=group.name)
    )
    return tuple(sorted(found, key=lambda one: (one.host, one.distribution)))


def plugin_for(group: PluginGroup, url: str) -> Plugin | None:
    """That of the host, else of the nearest name above it."""
    if not installed(group):
        return None
    by_host = {one.host: one for one in reversed(installed(group))}
    labels = (urlsplit(url).hostname or "").split(".")
    names = (".".join(labels[place:]) for place in range(len(labels)))
    return next((by_host[name] for name in names if name in by_host), None)


@cache
def loaded(plugin: Plugin) -> Callable[..., object] | str:
    """Its function, or why there is none."""
    try:
        function = plugin.entry_point.load()
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - the code of others, as it is imported
        return f"{plugin.target} cannot be imported: {type(problem).__name__}: {one_line(str(problem), _LONGEST_WHY)}"
    return function if callable(function) else f"{plugin.target} is not a function"


def ask(plugin: Plugin, check: Callable[[object], _Checked], *arguments: str | bytes) -> _Checked | PluginFailure:
    """Its answer, once `check` has made a value of it; that raises BadAnswer.

    Only a lack of memory is raised: the child that meets it is not used again.
    """
    function = loaded(plugin)
    if isinstance(function, str):
        return plugin.failed(function)
    try:
        return check(function(*arguments))
    except MemoryError:
        raise
    except BadAnswer as problem:
        return plugin.failed(str(problem))
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - the code of others, with input that may do anything
        # Never the message: it may quote what was read.
        return plugin.failed(f"{type(problem).__name__} at {_place(problem)}")


def fields_in(answer: Mapping[Any, Any], texts: Collection[str], instants: Collection[str]) -> dict[str, Any]:
    """The fields that it gives, each of its type; None is a field left out. Raises BadAnswer."""
    given = {name: value for name, value in answer.items() if value is not None}
    if unknown := given.keys() - {*texts, *instants}:
        raise BadAnswer(f"it answered with {len(unknown)} unknown fields; there are {', '.join((*texts, *instants))}")
    if wrong := [name for name in texts if not isinstance(given.get(name, ""), str)]:
        raise BadAnswer(f"its {wrong[0]} is no text")
    if wrong := [name for name in instants if name in given and not _is_instant(given[name])]:
        raise BadAnswer(f"its {wrong[0]} is no datetime with a time zone")
    return given


def _is_instant(value: object) -> bool:
    return isinstance(value, datetime) and value.utcoffset() is not None


def _place(problem: BaseException) -> str:
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"
