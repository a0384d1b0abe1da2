"""The reading of one answer in a child: the task it is sent, and its reply. Plain values, because they cross a border.

The reply is checked: an answer may have taken its child over. Only what a reader may say is believed, and the run
itself (what was asked, counted and kept) stays where it is.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from headwater.discover.items import HubLinks, Item, Unreadable
from headwater.discover.polls.run_state import Finding, RunState, Todo
from headwater.discover.publisher_hints import PublisherHints
from headwater.errors import UsageError
from headwater.extraction.jobs.normalise import NOTHING, Employer, Harvest
from headwater.sources.kinds import ChannelKind
from headwater.urls.scope import Scope

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MARK = b'{"channel":'
# Of a run; what it has come to its reader could only repeat.
TOLD = ("todo", "asked", "notes", "damage", "findings")
MOST_STEPS = 1_000
MOST_LISTED = 10_000_000
LONGEST_LINK = 8_192


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
    asks_plugins: bool = True  # False where the plug-in of its host has ended the child that read it


@dataclass(frozen=True, slots=True)
class Task:
    subject: Subject
    run_state: RunState
    reply: Reply
    now: datetime


@dataclass(frozen=True, slots=True)
class ReadAnswer:
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
    links: HubLinks = HubLinks()  # noqa: RUF009 - a frozen value

    def noting(self, note: str) -> "ReadAnswer":
        return replace(self, run_state=self.run_state.noting(note))


AnswerReading = Callable[[Subject, RunState, Reply, datetime], ReadAnswer | Unreadable]


@cache
def reader_of(kind: ChannelKind) -> AnswerReading:
    """Loaded once it is wanted: only children read."""
    module, _, name = kind.traits.reader.partition(":")
    reader: AnswerReading = getattr(import_module(module), name)
    return reader


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderAnswer:
    """A reader's reply, with the fields that it may set. `todo` begins with the step that was read."""

    todo: tuple[Todo, ...]
    notes: tuple[str, ...]
    damage: str
    findings: tuple[Finding, ...]
    is_cut: bool
    items: tuple[Item, ...] = ()
    title: str = ""
    publisher_hints: PublisherHints = PublisherHints()  # noqa: RUF009 - a frozen value
    listed: int | None = None
    harvest: Harvest = NOTHING
    takes_turns: bool = False
    memory: Mapping[str, Any] = field(default_factory=dict)
    is_partial: bool = False
    links: HubLinks = HubLinks()  # noqa: RUF009 - a frozen value


def encode_task(task: Task) -> bytes:
    """One line of JSON, then the body as it is."""
    run_state = {name: getattr(task.run_state, name) for name in TOLD}
    reply = replace(task.reply, body=b"")
    head = {"subject": task.subject, "run_state": run_state, "reply": reply, "now": task.now}
    return _MARK + orjson.dumps(head, default=_plain) + b"}\n" + task.reply.body


def is_channel(received: bytes) -> bool:
    return received.startswith(_MARK)


def task_from(received: bytes) -> Task:
    head, _, body = received.partition(b"\n")
    task = _tasks().validate_python(orjson.loads(head)["channel"])
    return replace(task, reply=replace(task.reply, body=body))


def answer_of(read: ReadAnswer | Unreadable) -> orjson.Fragment:
    if isinstance(read, Unreadable):
        return orjson.Fragment(orjson.dumps(read))
    run_state = read.run_state
    answer = ReaderAnswer(
        todo=run_state.todo,
        notes=run_state.notes,
        damage=run_state.damage,
        findings=run_state.findings,
        is_cut=run_state.is_cut,
        items=read.items,
        title=read.title,
        publisher_hints=read.publisher_hints,
        listed=read.listed,
        harvest=read.harvest,
        takes_turns=read.takes_turns,
        memory=read.memory,
        is_partial=read.is_partial,
        links=read.links,
    )
    return orjson.Fragment(orjson.dumps(answer, default=_plain))


def read_from(value: object, task: Task) -> ReadAnswer | Unreadable:
    """A child's answer to this task. Raises UsageError if it is none."""
    try:
        answer = _answers().validate_python(_with_hashes(value))
    except ValueError as problem:
        raise UsageError("A reader of channels answered with something else.") from problem
    if isinstance(answer, Unreadable):
        return answer
    longest_link = max(len(answer.links.hub), len(answer.links.topic), len(answer.links.cloud))
    is_listed = 0 <= (answer.listed or 0) <= MOST_LISTED
    if not (answer.publisher_hints.has_only_feed_fields and is_listed and longest_link <= LONGEST_LINK):
        raise UsageError("A reader of channels answered with something that no answer says.")
    return ReadAnswer(
        _joined(answer, task),
        answer.items,
        title=answer.title,
        publisher_hints=answer.publisher_hints,
        listed=answer.listed,
        harvest=answer.harvest,
        takes_turns=answer.takes_turns,
        memory=answer.memory,
        is_partial=answer.is_partial,
        links=answer.links,
    )


def _joined(answer: ReaderAnswer, task: Task) -> RunState:
    """The run as it is here, with the steps, findings and notes of its reader."""
    run_state = task.run_state
    is_same_step = answer.todo[:1] == run_state.todo[:1] and len(answer.todo) <= max(MOST_STEPS, len(run_state.todo))
    # A search finds a channel only where it looked.
    is_here = all(one in run_state.findings or one.url == task.reply.url for one in answer.findings)
    if not (is_same_step and is_here):
        raise UsageError("A reader of channels answered for another step.")
    joined = replace(run_state, todo=answer.todo, findings=answer.findings, damage=answer.damage).noting(*answer.notes)
    return replace(joined, is_cut=joined.is_cut or answer.is_cut)


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return dict(value)
    return value.hex() if isinstance(value, bytes) else str(value)


def _with_hashes(value: Any) -> object:
    """JSON has no bytes: the hashes of vacancies come as hex. In any other form they are refused with the rest."""
    with suppress(KeyError, TypeError, ValueError):
        for one in value["harvest"]["vacancies"]:
            one["canonical_hash"] = bytes.fromhex(one["canonical_hash"])
    return value


@cache
def _tasks() -> "TypeAdapter[Task]":
    from pydantic import TypeAdapter

    return TypeAdapter(Task)


@cache
def _answers() -> "TypeAdapter[ReaderAnswer | Unreadable]":
    from pydantic import TypeAdapter

    return TypeAdapter(ReaderAnswer | Unreadable)
