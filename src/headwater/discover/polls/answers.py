"""Validators of a run's further answers: what has not changed since the last run is not sent again. Pure.

A channel's first answer has its own in the channel's row. An answer that led on (an index to its sitemaps, a page to
the next) is remembered with where it led: unchanged it says nothing, and the way goes on all the same. One that came
from elsewhere, by a redirect, is remembered with where it came from: its validators mean nothing to anybody else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from headwater.discover.polls.run_state import RunState, Todo
from headwater.net.validators import Validators
from headwater.sources.kinds import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise

if TYPE_CHECKING:
    from headwater.discover.polls.lease import Leased

# What was published while the last poll was under way must not fall between two.
OVERLAP = timedelta(hours=1)
# The key of what was said about the channel as a whole; see the query `want_all_again`.
WHOLE = ""


# What is remembered of a step that could not be had, until it can.
OF_MISSING = ("is_missing", "missing_since")


class Remembering(Protocol):
    """A channel, leased or as its reader knows it."""

    @property
    def answers(self) -> Mapping[str, Any]: ...

    @property
    def lists_vacancies(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class RememberedAnswer:
    """What an answer was, beside its items. `memory` is what its reader wants to know next time."""

    validators: Validators
    place: CanonicalUrl  # it may have come from elsewhere than it was asked for
    at: datetime
    memory: Mapping[str, Any] = field(default_factory=dict)


def validators_for(channel: "Leased", run_state: RunState) -> Validators:
    """What the present step may be asked with."""
    if not channel.kind.traits.brings_news:
        # A search goes by what the page names, and by places that the page says nothing of; a backfill reads once.
        return Validators()
    if run_state.is_first_step:
        return Validators(channel.etag, channel.last_modified)
    known = remembered_of(channel, run_state)
    return Validators(known.get("etag"), known.get("last_modified"))


def last_read(channel: Remembering, run_state: RunState) -> datetime | None:
    """When the present step was last read or found unchanged; of a part of a long index what is known of the round."""
    told = remembered_of(channel, run_state).get("read_at") or run_state.step.since
    return datetime.fromisoformat(told) if told else None


def is_wanted(channel: Remembering, url: str) -> bool:
    """Whether this further page has to be asked for, whatever the one before brings.

    A list of vacancies is read to its end: what it no longer names anywhere is over.
    """
    return channel.lists_vacancies or wants_all(channel) or bool(channel.answers.get(url, {}).get("is_missing"))


def wants_all(channel: Remembering) -> bool:
    """Whether everything counts as never read: what is taken of it may be something else since the last poll."""
    return bool(channel.answers.get(WHOLE, {}).get("wants_all", False))


def came_from(channel: Remembering, run_state: RunState) -> str:
    """The URL that gave these validators."""
    return str(remembered_of(channel, run_state).get("came_from", run_state.step.url))


def remember_answer(channel: "Leased", before: RunState, after: RunState, answer: RememberedAnswer) -> RunState:
    """`after` the present step was read: with what is worth knowing when it is asked for again."""
    if not channel.kind.traits.remembers_answers:
        return after
    entry: dict[str, Any] = dict(answer.memory)
    if answer.place.url_hash != canonicalise(before.step.url).url_hash:
        entry["came_from"] = answer.place.url
    if not before.is_first_step:
        validators = answer.validators
        entry |= {"etag": validators.etag, "last_modified": validators.last_modified, "read_at": answer.at.isoformat()}
    planned = {(todo.url, todo.continues) for todo in before.todo}
    led_to = [_place(todo) for todo in after.todo if (todo.url, todo.continues) not in planned]
    return after.remembering(before.step.url, {**entry, "led_to": led_to}) if entry or led_to else after


def note_missed(channel: "Leased", run_state: RunState, now: datetime) -> RunState:
    """The present step could not be had: what was known of it holds, and it is wanted the next time."""
    if not channel.kind.traits.remembers_answers or run_state.is_first_step:
        return run_state
    known = remembered_of(channel, run_state)
    since = known.get("missing_since") or now.isoformat()
    entry = {"led_to": [], **known, "is_missing": True, "missing_since": since}
    return _with_way_to(run_state, run_state.step.continues).remembering(run_state.step.url, entry)


def _with_way_to(run_state: RunState, page: str) -> RunState:
    """With the pages that lead to one that is missing wanted as well: without news they would not be asked."""
    answers = dict(run_state.answers)
    before = {place[0]: url for url, entry in answers.items() for place in entry["led_to"] if place[3]}
    for _ in before:
        if page in answers:
            answers[page] = {**answers[page], "is_missing": True}
        page = before.get(page, "")
    return replace(run_state, answers=answers)


def follow_remembered(channel: "Leased", run_state: RunState, answer: RememberedAnswer, most: int) -> RunState:
    """The present step has not changed: the run state goes on where it led before."""
    known = {name: value for name, value in remembered_of(channel, run_state).items() if name not in OF_MISSING}
    if not known:
        return run_state
    validators = answer.validators
    renewed = {"etag": validators.etag, "last_modified": validators.last_modified, "read_at": answer.at.isoformat()}
    entry = {**known, **{name: value for name, value in renewed.items() if value and name in known}}
    more = (_todo(channel, place, run_state.step.url) for place in known["led_to"])
    return run_state.ahead(more, most).remembering(run_state.step.url, entry)


def missing_since(run_state: RunState) -> datetime | None:
    """Since when the present step could not be had; None where nothing is remembered of it."""
    since: str | None = run_state.answers.get(run_state.step.url, {}).get("missing_since")
    return datetime.fromisoformat(since) if since else None


def without_validators(answers: Mapping[str, Any]) -> dict[str, Any]:
    """The same, to be asked for in full the next time."""
    unsent = dict.fromkeys(("etag", "last_modified"))
    return {url: {**known, **unsent} if "etag" in known else known for url, known in answers.items()}


def remembered_of(channel: Remembering, run_state: RunState) -> Mapping[str, Any]:
    """What was remembered of the present step."""
    known: Mapping[str, Any] = channel.answers.get(run_state.step.url, {})
    return known


def _place(todo: Todo) -> list[Any]:
    return [todo.url, str(todo.reads_as), todo.depth, bool(todo.continues)]


def _todo(channel: Remembering, place: list[Any], page: str) -> Todo:
    url, reads_as, depth, is_further = place
    if not is_further:
        return Todo(url, ChannelKind(reads_as), depth)
    return Todo(url, ChannelKind(reads_as), depth, continues=page, is_wanted=is_wanted(channel, url))
