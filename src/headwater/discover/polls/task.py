"""All that the reader of one answer has to know, and its answer: plain values, because they cross into a child."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any

from headwater.discover.items import Item, Unreadable
from headwater.discover.polls.run_state import RunState
from headwater.discover.publisher_hints import PublisherHints
from headwater.extraction.jobs.normalise import NOTHING, Employer, Harvest
from headwater.sources.kinds import ChannelKind
from headwater.urls.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A channel and its source, as far as they matter for reading."""

    kind: ChannelKind
    url: str
    recipe: str | None = None
    scope: Scope = Scope()  # noqa: RUF009 - a frozen value
    article_patterns: tuple[str, ...] = ()
    selectors: Mapping[str, Any] = field(default_factory=dict)
    max_depth: int = 0
    most_answers: int = 1  # that one run may ask for in all
    most_api_pages: int | None = None
    is_wanted_whole: bool = False  # whatever its age, as the pages of a manual
    lists_vacancies: bool = False
    employer: Employer = Employer()  # noqa: RUF009 - a frozen value
    vacancy_selector: str = ""
    followed_since: datetime | None = None  # the source
    last_ok_at: datetime | None = None
    since: datetime | None = None  # how far back it is read, where a person said so
    answers: Mapping[str, Any] = field(default_factory=dict)
    followed: frozenset[ChannelKind] = frozenset()


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as its reader needs it."""

    url: str
    body: bytes
    content_type: str = ""
    asked_as: str = ""  # our product token: what a page says to it is said to us
    sitemaps: tuple[str, ...] = ()  # that robots.txt names, where a search wants to know


@dataclass(frozen=True, slots=True)
class Task:
    subject: Subject
    run_state: RunState
    reply: Reply
    now: datetime


@dataclass(frozen=True, slots=True)
class Read:
    """`title`, `publisher_hints` and `listed` are said of the channel as a whole."""

    run_state: RunState
    items: tuple[Item, ...] = ()
    title: str = ""
    publisher_hints: PublisherHints = PublisherHints()  # noqa: RUF009 - a frozen value
    listed: int | None = None  # how many items, where its channel remembers none
    harvest: Harvest = NOTHING
    takes_turns: bool = False  # another part of what it lists with every poll: it is always wanted in full
    memory: Mapping[str, Any] = field(default_factory=dict)  # of the answer, for when it is read again
    is_partial: bool = False  # it may list more than was read or will be asked for


Reader = Callable[[Subject, RunState, Reply, datetime], Read | Unreadable]


@cache
def reader_of(kind: ChannelKind) -> Reader:
    """Loaded once it is wanted: only children read."""
    module, _, name = kind.traits.reader.partition(":")
    reader: Reader = getattr(import_module(module), name)
    return reader
