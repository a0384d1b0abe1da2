"""Answers of channels on their way into a child, and what comes back.

What comes back is checked: an answer may have taken its child over. Only what a reader may say is believed, and the run
itself (what was asked, counted and kept) stays where it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from headwater.discover.items import Item, Unreadable
from headwater.discover.polls.run_state import Finding, RunState, Todo
from headwater.discover.polls.task import Read, Task
from headwater.discover.publisher_hints import PublisherHints
from headwater.errors import UsageError
from headwater.extraction.jobs.normalise import NOTHING, Harvest

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MARK = b'{"channel":'
# Of a run; what it has come to its reader could only repeat.
TOLD = ("todo", "asked", "notes", "damage", "findings")
MOST_STEPS = 1_000
MOST_LISTED = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderAnswer:
    """What a reader may say. `todo` begins with the step that was read."""

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


def answer_of(read: Read | Unreadable) -> orjson.Fragment:
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
    )
    return orjson.Fragment(orjson.dumps(answer, default=_plain))


def read_from(value: object, task: Task) -> Read | Unreadable:
    """A child's answer to this task. Raises UsageError if it is none."""
    try:
        answer = _answers().validate_python(value)
    except ValueError as problem:
        raise UsageError("A reader of channels answered with something else.") from problem
    if isinstance(answer, Unreadable):
        return answer
    if not answer.publisher_hints.has_only_feed_fields or not 0 <= (answer.listed or 0) <= MOST_LISTED:
        raise UsageError("A reader of channels answered with something that no answer says.")
    return Read(
        _joined(answer, task),
        answer.items,
        title=answer.title,
        publisher_hints=answer.publisher_hints,
        listed=answer.listed,
        harvest=answer.harvest,
        takes_turns=answer.takes_turns,
        memory=answer.memory,
        is_partial=answer.is_partial,
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
    return "" if value == b"" else str(value)


@cache
def _tasks() -> "TypeAdapter[Task]":
    from pydantic import TypeAdapter

    return TypeAdapter(Task)


@cache
def _answers() -> "TypeAdapter[ReaderAnswer | Unreadable]":
    from pydantic import TypeAdapter

    return TypeAdapter(ReaderAnswer | Unreadable)
