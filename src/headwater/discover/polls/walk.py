"""The way of one run through a channel's answers: what is still to be asked, and what came of it so far. Pure.

Mostly it is one step. A sitemap's children, a listing's further pages and a search's candidates are more; a run that
has to wait for its host between two steps is put away as JSON and goes on from there, in whatever process.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from headwater.sources.kinds import ChannelKind

MOST_NOTES = 20
MOST_DATES = 1_000


@dataclass(frozen=True, slots=True)
class Todo:
    """One answer to ask for, and how to read it."""

    url: str
    reads_as: ChannelKind
    depth: int = 0
    title: str = ""
    state: Mapping[str, Any] | None = None  # where an API's pages have got to
    is_next_page: bool = False  # of a listing: not worth asking once a page brought nothing new
    tries: int = 0  # how often it was asked in vain in this run, where an API's recipe wants it tried again
    before: str = ""  # of a page of a feed's archive: the first item of the page before
    since: str | None = None  # of a part of a long index: when the round before began in which it was asked for


@dataclass(frozen=True, slots=True)
class Tally:
    requests: int = 0
    found: int = 0
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    errors: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(mine + theirs for mine, theirs in zip(_counts(self), _counts(other), strict=True)))

    @property
    def changes(self) -> int:
        return self.inserted + self.updated


def _counts(tally: Tally) -> tuple[int, ...]:
    return (tally.requests, tally.found, tally.inserted, tally.updated, tally.skipped, tally.errors)


@dataclass(frozen=True, slots=True)
class Finding:
    """A channel that a search found, and what it would yield."""

    kind: ChannelKind
    url: str
    title: str
    items: int
    newest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    todo: tuple[Todo, ...]
    asked: tuple[str, ...] = ()
    tally: Tally = field(default_factory=Tally)
    notes: tuple[str, ...] = ()
    dates: tuple[datetime | None, ...] = ()  # of the items that are new
    findings: tuple[Finding, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)  # what the first answer said, for the end of the run

    @property
    def step(self) -> Todo:
        return self.todo[0]

    @property
    def is_first_step(self) -> bool:
        return not self.asked

    def ahead(self, more: Iterable[Todo], most: int | None = None) -> "Walk":
        """With further steps that were not asked before; `most` is how many a run may have in all."""
        seen = {*self.asked, *(todo.url for todo in self.todo)}
        todo = list(self.todo)
        for one in more:
            if one.url not in seen or one.state is not None:
                seen.add(one.url)
                todo.append(one)
        room = len(todo) if most is None else max(1, most - len(self.asked))
        return replace(self, todo=tuple(todo[:room]))

    def passed(self) -> "Walk":
        """With the present step behind it."""
        return replace(self, todo=self.todo[1:], asked=(*self.asked, self.step.url))

    def trying_again(self) -> "Walk":
        """With the present step still before it, and a request in vain counted."""
        again = replace(self.step, tries=self.step.tries + 1)
        return replace(self, todo=(again, *self.todo[1:])).counting(Tally(requests=1))

    @property
    def is_untouched(self) -> bool:
        return self.is_first_step and not self.step.tries

    @property
    def is_last_step(self) -> bool:
        return len(self.todo) == 1

    def keeping(self, **said: Any) -> "Walk":
        return replace(self, kept={**self.kept, **said})

    def pruned(self, inserted_before: int) -> "Walk":
        """Without the further pages of a listing whose last page brought nothing new."""
        if self.tally.inserted > inserted_before:
            return self
        return replace(self, todo=tuple(one for one in self.todo if not one.is_next_page))

    def noting(self, *notes: str) -> "Walk":
        kept = dict.fromkeys([*self.notes, *(note for note in notes if note)])
        return replace(self, notes=tuple(kept)[:MOST_NOTES])

    def counting(self, tally: Tally, dates: Iterable[datetime | None] = ()) -> "Walk":
        return replace(self, tally=self.tally + tally, dates=(*self.dates, *dates)[:MOST_DATES])

    def to_dict(self) -> dict[str, Any]:
        told = asdict(self)
        told["dates"] = [date and date.isoformat() for date in self.dates]
        for finding in told["findings"]:
            finding["newest"] = finding["newest"] and finding["newest"].isoformat()
        return told


def walk_from(stored: object) -> Walk | None:
    """Nothing stored, or in a form that is no longer ours: the run begins anew."""
    if not isinstance(stored, Mapping) or not stored.get("todo"):
        return None
    try:
        return Walk(
            todo=tuple(Todo(**{**one, "reads_as": ChannelKind(one["reads_as"])}) for one in stored["todo"]),
            asked=tuple(stored["asked"]),
            tally=Tally(**stored["tally"]),
            notes=tuple(stored["notes"]),
            dates=tuple(date and datetime.fromisoformat(date) for date in stored["dates"]),
            findings=tuple(_finding_from(one) for one in stored["findings"]),
            kept=dict(stored["kept"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _finding_from(stored: Mapping[str, Any]) -> Finding:
    newest = stored["newest"] and datetime.fromisoformat(stored["newest"])
    return Finding(ChannelKind(stored["kind"]), stored["url"], stored["title"], stored["items"], newest)
