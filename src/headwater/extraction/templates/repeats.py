"""Texts that several pages of a host say inside the element that holds their stories: which of them are the stories'.

Outside of it repetition alone tells. Inside of it stories repeat themselves as well: every recipe says "Ingredients",
and a box may stand on all pages of one running story. There those who read the pages before are believed, but for
headings of nothing and for notices.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from headwater.extraction.templates.steps import HEADINGS, tag_of
from headwater.extraction.templates.verdicts import ElementPath
from headwater.extraction.templates.votes import Vote

# Shorter ones are labels: "Serves 4" stands on many pages, and is no notice for it.
SHORTEST_NOTICE = 40
_FEWEST_PAGES = 3
# A picture with its caption may stand between a heading and its text.
_MOST_BETWEEN = 2

Held = tuple[ElementPath, Vote]


def settle_repeats(pages: Sequence[Sequence[Held]], others: Sequence[Collection[str]] = ()) -> list[list[Held]]:
    """The votes inside of each page's container, with those on repeated texts decided where they are the stories'.

    `others` are the texts of pages of the host that are no stories, by key.
    """
    kept = frozenset(way for page in pages for way, vote in page if vote.keep)
    repeated = _standings(pages, is_heading=False)
    texts = {
        key
        for key, found in repeated.items()
        if not _is_notice(found, sum(key in other for other in others), len(pages) + len(others), kept)
    }
    leading = [_leading(page, texts) for page in pages]
    headings = {key for key, found in _standings(pages, is_heading=True).items() if _heads_text(found, leading)}
    return [[(way, _decided(vote, texts | headings)) for way, vote in page] for page in pages]


class _FirstRepeat(NamedTuple):
    """A repeated text where it stands first on a page."""

    page: int
    place: int
    way: ElementPath
    vote: Vote


def _standings(pages: Sequence[Sequence[Held]], *, is_heading: bool) -> Mapping[str, Sequence[_FirstRepeat]]:
    found: dict[str, dict[int, _FirstRepeat]] = defaultdict(dict)
    for number, page in enumerate(pages):
        for place, (way, vote) in enumerate(page):
            if vote.is_repeated and _is_heading(vote) is is_heading:
                found[vote.key].setdefault(number, _FirstRepeat(number, place, way, vote))
    read = {key: list(by_page.values()) for key, by_page in found.items()}
    return {key: found for key, found in read.items() if _are_mostly(one.vote.if_own is True for one in found)}


def _is_notice(found: Sequence[_FirstRepeat], elsewhere: int, pages: int, kept: frozenset[ElementPath]) -> bool:
    """What most pages say at length, in an element that never holds anything else."""
    is_long = len(found[0].vote.block.text) >= SHORTEST_NOTICE
    times = len(found) + elsewhere
    is_everywhere = times >= _FEWEST_PAGES and times > pages / 2
    return is_long and is_everywhere and not any(one.way in kept for one in found)


def _heads_text(found: Sequence[_FirstRepeat], leading: Sequence[set[int]]) -> bool:
    return _are_mostly(one.place in leading[one.page] for one in found)


def _leading(page: Sequence[Held], texts: set[str]) -> set[int]:
    """Places of blocks that text of the story follows, perhaps below further headings."""
    leading, leads, between = set[int](), False, 0
    for place in range(len(page) - 1, -1, -1):
        vote = page[place][1]
        if leads:
            leading.add(place)
        if vote.keep or (vote.if_own and vote.key in texts):
            leads, between = True, 0
        elif not (vote.if_own and _is_heading(vote)):
            between += 1
            leads = leads and between <= _MOST_BETWEEN and not vote.block.is_link
    return leading


def _is_heading(vote: Vote) -> bool:
    return tag_of(vote.block.path[-1]) in HEADINGS


def _are_mostly(answers: Iterable[bool]) -> bool:
    told = list(answers)
    return sum(told) > len(told) / 2


def _decided(vote: Vote, kept: set[str]) -> Vote:
    return replace(vote, keep=True) if vote.if_own and vote.key in kept else vote
