"""Keep or drop, by the way from the container to a block; for a way never seen, by what is most like it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from headwater.extraction.templates.steps import HIDDEN, tag_of
from headwater.extraction.templates.votes import Vote

ElementPath = tuple[str, ...]
_MOST_WAYS = 120
_MOST_REMEMBERED = 2_000
_KEEP = 0.5
_FEWEST_PAGES = 2
# Without any evidence, what is marked up as text is taken for it; other than a paragraph only where nothing around it
# has a name, as the parts of a page that are no text have.
_TEXT = frozenset({"p", "li", "dd", "h2", "h3", "h4", "blockquote", "pre"})
# Stands for the names of an element that belong to one page, such as its story's.
_OWN = ".*"
_NAME = re.compile(r"[.#][^.#*]+")
# Elements that say what they are without a name.
_TELLING = frozenset({"aside", "dl", "figcaption", "figure", "footer", "form", "header", "table"})


class BlockVerdict(NamedTuple):
    keep: bool
    why: str
    is_seen: bool
    loses: bool = False  # drops by place alone, so that a text which stands there for once is lost
    is_kin: bool = False  # unseen, but made of nothing that training did not know


@dataclass(slots=True)
class _VoteCount:
    kept: int = 0
    dropped: int = 0

    @property
    def voted(self) -> int:
        return self.kept + self.dropped

    @property
    def keep(self) -> bool:
        return self.kept >= _KEEP * self.voted


@dataclass(frozen=True)
class Verdicts:
    """`ways` says what becomes of a block by its whole way; below a `barren` beginning nothing was ever kept."""

    ways: Mapping[ElementPath, bool]
    barren: frozenset[ElementPath]

    def of(self, way: ElementPath) -> BlockVerdict:
        known = self.reduced(way)
        if (keep := self.ways.get(known)) is not None:
            return BlockVerdict(keep, "this path was " + ("kept" if keep else "dropped") + " in training", is_seen=True)
        if any(known[:end] in self.barren for end in range(1, len(known) + 1)):
            return BlockVerdict(
                keep=False, why="no text of a story ever stood below this element", is_seen=True, loses=True
            )
        if any(tag_of(step).endswith(HIDDEN) for step in known):
            return BlockVerdict(keep=False, why="unseen path, and hidden on the page", is_seen=False)
        if known and (keep := self._last.get(known[-1])) is not None:
            return BlockVerdict(
                keep,
                f"unseen path; {known[-1]} was mostly " + ("kept" if keep else "dropped"),
                is_seen=False,
                is_kin=keep and _is_kin(known),
            )
        keep = _looks_like_text(way)
        return BlockVerdict(
            keep, "unseen path and element", is_seen=False, is_kin=keep and bool(known) and _is_kin(known)
        )

    def reduced(self, way: ElementPath) -> ElementPath:
        """With a mark for the names that training never saw twice: they belong to one page."""
        return tuple([self._steps.get(step) or self._reduce(step) for step in way])

    def _reduce(self, step: str) -> str:
        if len(self._steps) >= _MOST_REMEMBERED:
            self._steps.clear()
        self._steps[step] = reduce_step(step, self._names)
        return self._steps[step]

    @cached_property
    def _steps(self) -> dict[str, str]:
        return {}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for way in (*self.ways, *self.barren) for step in way for name in names_in(step))

    @cached_property
    def _last(self) -> Mapping[str, bool]:
        counts: dict[str, int] = defaultdict(int)
        for way, keep in self.ways.items():
            if way:
                counts[way[-1]] += 1 if keep else -1
        return {step: balance > 0 for step, balance in counts.items() if balance}


def learn_verdicts(pages: Sequence[Iterable[tuple[ElementPath, Vote]]]) -> Verdicts:
    """From each page the blocks inside its container, with their ways."""
    held = [list(page) for page in pages]
    names = _shared_names([[way for way, _ in page] for page in held])
    counts: dict[ElementPath, _VoteCount] = defaultdict(_VoteCount)
    seen_on: dict[ElementPath, set[int]] = defaultdict(set)
    for number, page in enumerate(held):
        for way, vote in page:
            known = tuple(reduce_step(step, names) for step in way)
            seen_on[known].add(number)
            count = counts[known]
            count.kept += len(vote.block.text) if vote.keep is True else 0
            count.dropped += len(vote.block.text) if vote.keep is False else 0
    ways = {way: count.keep for way, count in counts.items() if _is_known(way, count, len(seen_on[way]))}
    barren = _barren(ways, seen_on)
    lasting = {way: keep for way, keep in ways.items() if not _is_below(way, barren)}
    heaviest = sorted(lasting, key=lambda way: (-counts[way].voted, way))[:_MOST_WAYS]
    return Verdicts({way: lasting[way] for way in sorted(heaviest)}, barren)


def names_in(step: str) -> list[str]:
    return _NAME.findall(step)


def reduce_step(step: str, names: frozenset[str]) -> str:
    """An element that has a name for once must not pass for one that has none: it may be another box."""
    own = names_in(step)
    shared = [name for name in own if name in names]
    return tag_of(step) + "".join(shared) + (_OWN if len(shared) < len(own) else "")


def _is_known(way: ElementPath, count: _VoteCount, pages: int) -> bool:
    """Where nobody voted, as on links, nothing is known of a text that stands there one day; and that one paragraph
    with a name of its own was text says nothing of another with one.
    """
    is_odd = bool(way) and way[-1].endswith(_OWN) and pages < _FEWEST_PAGES
    return count.voted > 0 and not (count.keep and is_odd)


def _shared_names(pages: Sequence[Sequence[ElementPath]]) -> frozenset[str]:
    counts: dict[str, int] = defaultdict(int)
    for ways in pages:
        for name in {name for step in {step for way in ways for step in way} for name in names_in(step)}:
            counts[name] += 1
    return frozenset(name for name, times in counts.items() if times >= _FEWEST_PAGES)


def _barren(ways: Mapping[ElementPath, bool], seen_on: Mapping[ElementPath, set[int]]) -> frozenset[ElementPath]:
    """The shortest beginnings under which two pages or more had text and none of it was kept."""
    fruitful = {way[:end] for way, keep in ways.items() if keep for end in range(len(way) + 1)}
    pages: dict[ElementPath, set[int]] = defaultdict(set)
    for way, numbers in seen_on.items():
        for end in range(1, len(way) + 1):
            if way[:end] not in fruitful:
                pages[way[:end]] |= numbers
    found = {way for way, numbers in pages.items() if len(numbers) >= _FEWEST_PAGES and _is_telling(way[-1])}
    return frozenset(way for way in found if not _is_below(way[:-1], found))


def _is_below(way: ElementPath, beginnings: Iterable[ElementPath]) -> bool:
    return any(way[:end] in beginnings for end in range(1, len(way) + 1))


def _is_telling(step: str) -> bool:
    return bool(names_in(step)) or step in _TELLING


def _is_kin(known: ElementPath) -> bool:
    """Whether it is a paragraph, and no element around it has a name that training never saw, as another box would."""
    return tag_of(known[-1] if known else "") == "p" and not any(
        step.endswith(_OWN) or step in _TELLING for step in known
    )


def _looks_like_text(way: ElementPath) -> bool:
    tag = tag_of(way[-1]) if way else ""
    return tag == "p" or (tag in _TEXT and not any(names_in(step) for step in way[:-1]))
