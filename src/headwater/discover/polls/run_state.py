"""The way of one run through a channel's answers: the steps to come, what came of the others. Pure.

Mostly it is one step. A sitemap's children, a listing's further pages and a search's candidates are more; a run that
has to wait for its host between two steps is put away as JSON and goes on from there, in whatever process.

Of each answer its validators are remembered for the next run. Those of a channel's first answer stand in its row. An
answer that led on (an index to its sitemaps, a page to the next) is remembered with where it led: unchanged it says
nothing, and the way goes on all the same. One that came from elsewhere, by a redirect, is remembered with where it came
from: its validators mean nothing to anybody else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from headwater.discover.cadence.answers import whole_because
from headwater.discover.items import Reading
from headwater.discover.publisher_hints import PublisherHints
from headwater.discover.push.links import NamedHub
from headwater.net.validators import Validators
from headwater.sources.causes import ErrorCause
from headwater.sources.kinds import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from headwater.discover.polls.lease import Leased

MOST_NOTES = 20
MOST_DATES = 1_000

# What was published while the last poll was under way must not fall between two.
OVERLAP = timedelta(hours=1)
# The key of what was said about the channel as a whole; see the query `want_all_again`.
WHOLE = ""


# What is remembered of a step that could not be had, until it can.
OF_MISSING = ("is_missing", "missing_since")


@dataclass(frozen=True, slots=True)
class Todo:
    """One answer to ask for, and how to read it."""

    url: str
    reads_as: ChannelKind
    depth: int = 0
    title: str = ""
    state: Mapping[str, Any] | None = None  # where an API's pages have got to
    continues: str = ""  # of a further page of a listing: the page before it
    is_wanted: bool = False  # such a page, whatever the one before it brings
    tries: int = 0  # how often it was asked in vain in this run, where an API's recipe wants it tried again
    before: str = ""  # of a page of a feed's archive: the first item of the page before
    since: str | None = None  # of a part of a long index: when the round before began in which it was asked for


@dataclass(frozen=True, slots=True)
class ItemTally:
    requests: int = 0
    found: int = 0
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    errors: int = 0

    def __add__(self, other: "ItemTally") -> "ItemTally":
        return ItemTally(*(mine + theirs for mine, theirs in zip(_counts(self), _counts(other), strict=True)))

    @property
    def changes(self) -> int:
        return self.inserted + self.updated


def _counts(tally: ItemTally) -> tuple[int, ...]:
    return (tally.requests, tally.found, tally.inserted, tally.updated, tally.skipped, tally.errors)


@dataclass(frozen=True, slots=True)
class Finding:
    """A channel that a search found, and its items."""

    kind: ChannelKind
    url: str
    title: str
    items: int
    newest: datetime | None = None
    damage: str = ""  # in words, where its answer broke off or is not well formed

    @property
    def is_empty(self) -> bool:
        """An index has no items of its own."""
        return self.kind is ChannelKind.FEED and not self.items


@dataclass(frozen=True, slots=True)
class OwnListing:
    """The pages of its own site that a first answer lists: by them is judged whether a feed has overflowed."""

    listed: int
    known: int  # of them, from before
    published: tuple[datetime | None, ...]


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The first answer of a run speaks for its channel: with it the channel's row is renewed at the end."""

    status: int | None = None
    validators: Validators = Validators()  # noqa: RUF009 - a frozen value
    moved_to: str = ""
    title: str = ""
    publisher_hints: PublisherHints = PublisherHints()  # noqa: RUF009 - a frozen value
    items: int | None = None  # that it lists; None where nobody counted them
    own: OwnListing | None = None
    tells_hub: bool = False  # it was read, and would have named a hub
    hub: NamedHub | None = None


@dataclass(frozen=True, slots=True)
class UnreadPage:
    """A further page of a list that could not be read; `since` where it is known."""

    url: str
    why: str
    since: datetime | None = None
    cause: ErrorCause | None = None


@dataclass(frozen=True, slots=True)
class RunState:
    todo: tuple[Todo, ...]
    asked: tuple[str, ...] = ()
    tally: ItemTally = field(default_factory=ItemTally)
    notes: tuple[str, ...] = ()
    damage: str = ""  # the first that a broken answer was read with
    dates: tuple[datetime | None, ...] = ()  # of the items that are new
    findings: tuple[Finding, ...] = ()
    has_news: bool = False  # the present step listed something that is new to the channel
    began_at: datetime | None = None
    first: FirstAnswer = FirstAnswer()
    answers: Mapping[str, Any] = field(default_factory=dict)  # to be remembered of each, by its address
    is_cut: bool = False  # not all of it was taken: the next run needs all of it again
    is_partial: bool = False  # it may list more than was read
    is_unchanged: bool = False  # the first answer, and nothing else was sent since
    unlisted: int = 0  # items that its hub pushed and that it does not list
    has_unchanged: bool = False  # some answer of the list itself
    unread: UnreadPage | None = None  # the first of them
    deaths: int = 0  # answers that ended the process that read them

    @property
    def step(self) -> Todo:
        return self.todo[0]

    @property
    def is_first_step(self) -> bool:
        return not self.asked

    def ahead(self, more: Iterable[Todo], most: int | None = None) -> "RunState":
        """With further steps that were not asked before; `most` is how many a run may have in all.

        A list is read to its end before the pages beside it, which would take its room otherwise.
        """
        present = self.todo[:1]
        seen = {*self.asked, *(todo.url for todo in present)}
        steps = []
        for one in sorted((*self.todo[1:], *more), key=lambda one: not one.continues):
            if one.url not in seen or one.state is not None:
                seen.add(one.url)
                steps.append(one)
        room = None if most is None else max(1, most - len(self.asked))
        return replace(self, todo=(*present, *steps)[:room])

    def passed(self, answered: str = "") -> "RunState":
        """With the present step behind it, and the address that answered: a redirect may have led to a further step."""
        urls = dict.fromkeys((self.step.url, answered or self.step.url))
        rest = (one for one in self.todo[1:] if one.url not in urls or one.state is not None)
        return replace(self, todo=tuple(rest), asked=(*self.asked, *urls), has_news=False)

    def trying_again(self) -> "RunState":
        """With the present step still before it, and a request in vain counted."""
        again = replace(self.step, tries=self.step.tries + 1)
        return replace(self, todo=(again, *self.todo[1:])).counting(ItemTally(requests=1))

    @property
    def is_untouched(self) -> bool:
        return self.is_first_step and not self.step.tries

    @property
    def is_linked_page(self) -> bool:
        """Whether the present step is a page that a list only links to, and no page of it."""
        return self.step.reads_as is ChannelKind.LISTING and not self.is_first_step and not self.step.continues

    @property
    def is_last_step(self) -> bool:
        return len(self.todo) == 1

    def with_news(self, since: "RunState", also: "RunState | None" = None) -> "RunState":
        """Counted since then: items of the channel, or vacancies in them that it knows from elsewhere."""
        counted = max(self.tally.inserted, also.tally.inserted if also else 0)
        return replace(self, has_news=counted > since.tally.inserted)

    def pruned(self) -> "RunState":
        """Without the page that continues the present one, where this one brought nothing new: what it lists is older.

        That says nothing of other lists.
        """
        if self.has_news:
            return self
        older = (one for one in self.todo[1:] if one.continues == self.step.url and not one.is_wanted)
        return self.without(one.url for one in older)

    def without(self, urls: Iterable[str]) -> "RunState":
        """Without these further steps."""
        dropped = set(urls)
        return replace(self, todo=(*self.todo[:1], *(one for one in self.todo[1:] if one.url not in dropped)))

    def noting(self, *notes: str) -> "RunState":
        kept = dict.fromkeys([*self.notes, *(note for note in notes if note)])
        return replace(self, notes=tuple(kept)[:MOST_NOTES])

    def having_read(self, reading: Reading) -> "RunState":
        return replace(self.noting(*reading.notes), damage=self.damage or reading.damage)

    def counting(self, tally: ItemTally, dates: Iterable[datetime | None] = ()) -> "RunState":
        return replace(self, tally=self.tally + tally, dates=(*self.dates, *dates)[:MOST_DATES])

    def remembering(self, url: str, answer: Mapping[str, Any]) -> "RunState":
        return replace(self, answers={**self.answers, url: dict(answer)})

    def to_dict(self) -> dict[str, Any]:
        stored: dict[str, Any] = _states().dump_python(self, mode="json")
        return stored


def run_state_from(stored: object) -> RunState | None:
    """Nothing stored, or in a form that is no longer ours: the run begins anew."""
    if not isinstance(stored, Mapping) or not stored.get("todo") or "first" not in stored:
        return None
    try:
        return _states().validate_python(stored)
    except ValueError:
        return None


@cache
def _states() -> "TypeAdapter[RunState]":
    from pydantic import TypeAdapter

    return TypeAdapter(RunState)


class Remembering(Protocol):
    """A channel, leased or as its reader knows it."""

    @property
    def answers(self) -> Mapping[str, Any]: ...

    @property
    def lists_vacancies(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class RememberedAnswer:
    """An answer without its items, for the next run. `memory` is its reader's own."""

    validators: Validators
    place: CanonicalUrl  # it may have come from elsewhere than it was asked for
    at: datetime
    memory: Mapping[str, Any] = field(default_factory=dict)


def validators_for(channel: "Leased", run_state: RunState) -> Validators:
    """The validators that the present step may be asked with."""
    if not channel.kind.traits.brings_news:
        # A search goes by what the page names, and by places that the page says nothing of; a backfill reads once.
        return Validators()
    if whole_because(channel.past.validator_record, run_state.began_at or channel.now):
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

    A list of vacancies is read to its end: those that it names nowhere any more are over.
    """
    return channel.lists_vacancies or wants_all(channel) or bool(channel.answers.get(url, {}).get("is_missing"))


def wants_all(channel: Remembering) -> bool:
    """Whether everything counts as never read: other items may be taken of it since the last poll."""
    return bool(channel.answers.get(WHOLE, {}).get("wants_all", False))


def came_from(channel: Remembering, run_state: RunState) -> str:
    """The URL that gave these validators."""
    return str(remembered_of(channel, run_state).get("came_from", run_state.step.url))


def remember_answer(channel: "Leased", before: RunState, after: RunState, answer: RememberedAnswer) -> RunState:
    """`after` the present step was read: with its validators and its way on for the next time."""
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
    """The present step could not be had: its memory holds, and it is wanted the next time."""
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
    """The memory of the present step."""
    known: Mapping[str, Any] = channel.answers.get(run_state.step.url, {})
    return known


def _place(todo: Todo) -> list[Any]:
    return [todo.url, str(todo.reads_as), todo.depth, bool(todo.continues)]


def _todo(channel: Remembering, place: list[Any], page: str) -> Todo:
    url, reads_as, depth, is_further = place
    if not is_further:
        return Todo(url, ChannelKind(reads_as), depth)
    return Todo(url, ChannelKind(reads_as), depth, continues=page, is_wanted=is_wanted(channel, url))
