"""The blocks of a page whose text was chosen: by whichever reader, from whichever part of the page."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from headwater.blocks.block import MOST_BLOCKS, SILENT, BlockKind, BodyBlock, line_of, text_of_blocks
from headwater.extraction.structure.alignment import Aligned, align
from headwater.extraction.structure.live import LiveBlog, blocks_of_updates, is_signature
from headwater.extraction.structure.page_blocks import FoundBlock, with_addresses
from headwater.extraction.text import LONGEST_TEXT, comparable

_WHOLE = frozenset({BlockKind.CODE, BlockKind.TABLE})
_BETWEEN = frozenset(
    {BlockKind.CODE, BlockKind.TABLE, BlockKind.FIGURE, BlockKind.EMBED, BlockKind.HEADING, BlockKind.ITEM}
)
_LONGEST_HEADING = 300
# Of the page's blocks between two of the text, and above its first: what is further away belongs to something else.
_FARTHEST, _FARTHEST_ABOVE = 60, 12
_LINKED = 0.5
_LEAST_FOUND = 0.5


class Structured(NamedTuple):
    blocks: tuple[BodyBlock, ...]
    text: str


def structure_of(
    text: str, found: Sequence[FoundBlock], base: str, titles: Collection[str] = (), *, adds: bool = True
) -> Structured:
    """The text as blocks, and if it `adds`, the code, tables and pictures that stand between its lines on the page.

    `found` is the page as it is shown, nothing of it taken out; `titles` are comparable. The text changes only where it
    had half of a table or of code, lines of several elements in one, or lacked one of these.
    """
    if text.count("\n") > MOST_BLOCKS:
        return Structured((), text)
    aligned = align(text, found)
    if adds and sum(one.found >= 0 for one in aligned) >= _LEAST_FOUND * len(aligned):
        aligned = list(_with_what_stands_between(aligned, found, titles))
    return _bounded([one.block for one in aligned], text, base)


def _bounded(blocks: Sequence[BodyBlock], text: str, base: str) -> Structured:
    """Never less than was chosen, and never more than may be stored."""
    said = text_of_blocks(blocks)
    if not blocks or len(blocks) > MOST_BLOCKS or len(said) > LONGEST_TEXT:
        return Structured((), text)
    return Structured(tuple(with_addresses(one, base) for one in blocks), said)


def structure_of_live(text: str, found: Sequence[FoundBlock], base: str, live: LiveBlog) -> Structured:
    """What was chosen of the page around its entries, and between that all entries with their times.

    `found` is the page as it is shown, with these entries.
    """
    shown = [one for one in found if one.is_in_entry and not one.is_link and not is_signature(one.block.text)]
    own = [one.block for one in shown]
    if not any(one.text and one.kind is not BlockKind.ENTRY for one in own):
        own = blocks_of_updates(live.updates)
    first = next((number for number, one in enumerate(found) if one.is_in_entry), len(found))
    said = frozenset(map(comparable, text_of_blocks(own).split("\n")))
    above, below = list[BodyBlock](), list[BodyBlock]()
    place = 0
    for one in align(text, found):
        place = max(place, one.found)
        if (one.found < 0 or not found[one.found].is_in_entry) and comparable(line_of(one.block)) not in said:
            (above if place < first else below).append(one.block)
    return _bounded([*above, *own, *below][:MOST_BLOCKS], text, base)


def _with_what_stands_between(
    aligned: Sequence[Aligned], found: Sequence[FoundBlock], titles: Collection[str]
) -> Iterator[Aligned]:
    known = [one.found for one in aligned if one.found >= 0]
    before = _begin_of_story(known[0], found, titles) if known else -1
    said = {*known, before}
    titles = frozenset(titles) | _said_again(found)
    held: list[Aligned] = []  # lines of no element, which stay where they are among the others
    for one in aligned:
        if one.found < 0:
            held.append(one)
            continue
        yield from _between(before, one.found, found, said, titles)
        yield from held
        held = []
        yield one
        before = max(before, one.found)
    yield from _behind(before, found)
    yield from held


def _said_again(found: Sequence[FoundBlock]) -> frozenset[str]:
    """Headings that a page repeats, as above each advertisement: of no part of a story."""
    times = Counter(comparable(one.block.text) for one in found if one.block.kind is BlockKind.HEADING)
    return frozenset(text for text, count in times.items() if count > 1)


def _begin_of_story(first: int, found: Sequence[FoundBlock], titles: Collection[str]) -> int:
    """The page's title above the text: a picture between them is the story's."""
    for number in range(first - 1, max(first - _FARTHEST_ABOVE, 0) - 1, -1):
        block = found[number].block
        if block.kind is BlockKind.HEADING and (block.level == 1 or comparable(block.text) in titles):
            return number
    return first - 1


def _between(
    before: int, ahead: int, found: Sequence[FoundBlock], said: Collection[int], titles: Collection[str]
) -> Iterator[Aligned]:
    if ahead - before > _FARTHEST:
        return
    taken = [number for number in range(before + 1, ahead) if number not in said and _belongs(found[number], titles)]
    for number in taken:
        kind = found[number].block.kind
        is_inside = _lies_in(found[number], found[before], found[ahead])
        if kind is BlockKind.ITEM and not is_inside:
            continue
        if kind is BlockKind.HEADING and not is_inside and not _heads(number, found, taken):
            continue
        if kind is BlockKind.FIGURE and not _is_shown_beside(number, found, said):
            continue
        yield Aligned(found[number].block, number)


def _belongs(one: FoundBlock, titles: Collection[str]) -> bool:
    block = one.block
    if block.kind not in _BETWEEN or one.linked >= _LINKED:
        return False
    if block.kind is not BlockKind.HEADING:
        return True
    return len(block.text) <= _LONGEST_HEADING and comparable(block.text) not in titles


def _lies_in(one: FoundBlock, before: FoundBlock, ahead: FoundBlock) -> bool:
    """Whether all three lie in the same element: its lists and headings are as much the story's as its paragraphs."""
    holder = before.around[0]
    nearest, list_around = one.around
    own = list_around if one.block.kind is BlockKind.ITEM else nearest
    return holder != 0 and holder == ahead.around[0] == own


def _heads(number: int, found: Sequence[FoundBlock], taken: Collection[int]) -> bool:
    """Whether it stands above code or a table that the text lacked. Of other headings that it lacks, and that lie in
    elements of their own, most are of boxes that ask for something.
    """
    return number + 1 in taken and found[number + 1].block.kind in _WHOLE


def _is_shown_beside(number: int, found: Sequence[FoundBlock], said: Collection[int]) -> bool:
    """Whether the text goes on right beside a picture: on both sides of one that has no caption."""
    beside = [
        next((at for at in way if found[at].block.kind not in SILENT), -1) in said
        for way in (range(number - 1, -1, -1), range(number + 1, len(found)))
    ]
    block = found[number].block
    return any(beside) if block.caption else all(beside) and bool(block.alt)


def _behind(last: int, found: Sequence[FoundBlock]) -> Iterator[Aligned]:
    """Code and tables that end a page."""
    for number in range(last + 1, len(found)):
        one = found[number]
        if one.block.kind not in _WHOLE or one.linked >= _LINKED:
            return
        yield Aligned(one.block, number)
