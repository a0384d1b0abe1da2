"""Where on a host's pages the text stands: the selector that holds all of it, little else, and is found once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

from headwater.extraction.templates.blocks import Block
from headwater.extraction.templates.steps import handles_of
from headwater.extraction.templates.votes import Vote

MOST_VARIANTS = 3
# One page is not safe: what it alone has may be its own oddity.
_FEWEST_PAGES = 2
_HOLDS = 0.6
_WORTH_HAVING = 0.05


class Fit(NamedTuple):
    """How a selector does on one page, shares of the letters that were voted in."""

    coverage: float = 0.0
    purity: float = 0.0
    uniqueness: float = 0.0

    @property
    def score(self) -> float:
        return self.coverage**3 * sqrt(self.purity) * self.uniqueness


@dataclass(slots=True)
class _Tally:
    kept: int = 0
    letters: int = 0
    places: set[int] = field(default_factory=set)


def depth_in(block: Block, selector: str) -> int:
    """Which of its steps is the outermost that the selector finds, or -1."""
    for at, step in enumerate(block.path):
        if selector in handles_of(step):
            return at
    return -1


def holds(selector: str, votes: Iterable[Vote]) -> bool:
    """Whether most of the page's text stands in it; that it is found on the page says little."""
    kept = [vote.block for vote in votes if vote.keep]
    inside = sum(len(block.text) for block in kept if depth_in(block, selector) >= 0)
    return inside >= _HOLDS * sum(len(block.text) for block in kept) > 0


def choose_containers(pages: Sequence[Sequence[Vote]]) -> list[str]:
    """Best first; each further variant speaks for pages that those before it do not hold."""
    fits = [_fits(votes) for votes in pages]
    left, chosen = list(range(len(pages))), list[str]()
    while len(left) >= _FEWEST_PAGES and len(chosen) < MOST_VARIANTS:
        best = _best([fits[at] for at in left])
        held = [at for at in left if best and fits[at].get(best, Fit()).coverage >= _HOLDS]
        if not best or len(held) < _FEWEST_PAGES:
            break
        chosen.append(best)
        left = [at for at in left if at not in held]
    return chosen


def _best(fits: Sequence[dict[str, Fit]]) -> str | None:
    selectors = sorted({selector for page in fits for selector in page})
    scored = ((sum(page.get(one, Fit()).score for page in fits) / len(fits), one) for one in selectors)
    # Of equal ones the longer name says more, and is less likely to stand elsewhere too.
    score, _, best = max(((score, len(one), one) for score, one in scored), default=(0.0, 0, None))
    return best if score >= _WORTH_HAVING else None


def _fits(votes: Iterable[Vote]) -> dict[str, Fit]:
    tallies: dict[str, _Tally] = {}
    kept = 0
    for vote in votes:
        letters = len(vote.block.text)
        own = letters if vote.keep else 0
        kept += own
        for selector, place in _found_by(vote.block).items():
            tally = tallies.setdefault(selector, _Tally())
            tally.kept += own
            tally.letters += letters
            if own:
                tally.places.add(place)
    return {one: _fit(tally, kept) for one, tally in tallies.items() if tally.kept}


def _found_by(block: Block) -> dict[str, int]:
    """Every selector around a block with the outermost place it finds."""
    found: dict[str, int] = {}
    for step, place in zip(block.path, block.places, strict=True):
        for selector in handles_of(step):
            found.setdefault(selector, place)
    return found


def _fit(tally: _Tally, kept: int) -> Fit:
    return Fit(tally.kept / kept, tally.kept / tally.letters, 1 / len(tally.places))
