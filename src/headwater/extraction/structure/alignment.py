"""Which elements of a page the lines of its text came from. Pure: lines and blocks in, blocks out."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from headwater.blocks.block import (
    ITEM_MARK,
    MARKED,
    SILENT,
    BlockKind,
    BodyBlock,
    InlineMark,
    blocks_of_text,
    plain_block,
)
from headwater.extraction.structure.page_blocks import FoundBlock

# A shorter line may stand on a page by chance.
_TELLING_LETTERS = 12
# Letters looked through for a line that no element holds alone, and for all such lines of a page.
_LOOKED_THROUGH, _MOST_LOOKED_THROUGH = 20_000, 20_000_000
_RULE = frozenset("|-: ")
_WHOLE = frozenset({BlockKind.CODE, BlockKind.TABLE})


class LineSpan(NamedTuple):
    """Units of a page that one line covers; `is_exact` if it covers nothing by half."""

    first: int
    last: int
    is_exact: bool


class Units(NamedTuple):
    """The least parts that a line of text may be: a paragraph, a row, a line of code, without white space."""

    keys: list[str]
    blocks: list[int]  # the number of the block of each
    begins: list[int]  # where each begins in the text of all
    text: str

    @classmethod
    def of(cls, found: Sequence[FoundBlock]) -> "Units":
        pairs = [(key, number) for number, one in enumerate(found) for key in _keys_of(one.block)]
        keys = [key for key, _ in pairs]
        begins = list(accumulate(map(len, keys), initial=0))
        return cls(keys, [number for _, number in pairs], begins, "".join(keys))


class Aligned(NamedTuple):
    """A block of the text, and which of the page's blocks it is; -1: none of them."""

    block: BodyBlock
    found: int


def align(text: str, found: Sequence[FoundBlock]) -> list[Aligned]:
    """Every line of the text, as the block of the page that says the same, or as what the line says itself."""
    lines = [line for line in text.split("\n") if line]
    units = Units.of(found)
    spans = spans_of([key_of_line(line) for line in lines], units)
    return list(_blocks(lines, spans, units, found))


def key_of_line(line: str) -> str:
    """Empty for the rule below a table's head."""
    if _is_row(line):
        if _RULE.issuperset(line):
            return ""
        return _squeezed(line.replace("\\|", "\0").replace("|", "").replace("\0", "|"))
    return _squeezed(line.removeprefix(ITEM_MARK))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _keys_of(block: BodyBlock) -> Iterator[str]:
    match block.kind:
        case BlockKind.TABLE:
            keys = [_squeezed("".join(row)) for row in block.rows]
        case BlockKind.CODE:
            keys = [_squeezed(line) for line in block.text.split("\n")]
        case BlockKind.FIGURE | BlockKind.EMBED:
            keys = [_squeezed(block.caption)]
        case _:
            keys = [_squeezed(block.text.removeprefix(ITEM_MARK))]
    return (key for key in keys if key)


def spans_of(keys: Sequence[str], units: Units) -> list[LineSpan | None]:
    """Lines that stand once in text and page are sure; the others are looked for between these, in order."""
    spans: list[LineSpan | None] = [None] * len(keys)
    places: dict[str, list[int]] = defaultdict(list)
    for number, key in enumerate(units.keys):
        places[key].append(number)
    sure = _in_order(_unique_pairs(keys, places))
    for line, unit in sure:
        spans[line] = LineSpan(unit, unit, is_exact=True)
    ends = [(-1, -1), *sure, (len(keys), len(units.keys))]
    search = _Search(units)
    for (line, unit), (next_line, next_unit) in pairwise(ends):
        _fill(spans, keys, search, places, range(line + 1, next_line), range(unit + 1, next_unit))
    return spans


def _unique_pairs(keys: Sequence[str], places: dict[str, list[int]]) -> list[tuple[int, int]]:
    counts = Counter(keys)
    return [
        (number, places[key][0])
        for number, key in enumerate(keys)
        if len(key) >= _TELLING_LETTERS and counts[key] == 1 and len(places.get(key, ())) == 1
    ]


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of them that stand in one order on both sides: the longest rising row of the second numbers."""
    lasts: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for number, (_, unit) in enumerate(pairs):
        place = bisect_left(lasts, unit)
        before.append(at[place - 1] if place else -1)
        lasts[place : place + 1] = [unit]
        at[place : place + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = at[-1] if at else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


def _fill(
    spans: list[LineSpan | None],
    keys: Sequence[str],
    search: "_Search",
    places: dict[str, list[int]],
    lines: range,
    within: range,
) -> None:
    """Changes the spans: of lines between two sure ones."""
    begin = within.start
    for line in lines:
        if begin >= within.stop:
            return
        key = keys[line]
        if not key:
            continue
        same = places.get(key, [])
        number = bisect_left(same, begin)
        if number < len(same) and same[number] < within.stop:
            spans[line] = LineSpan(same[number], same[number], is_exact=True)
        elif len(key) >= _TELLING_LETTERS:
            spans[line] = search.span_of(key, begin, within.stop)
        if span := spans[line]:
            # The rest of a paragraph that a page breaks may be the next line.
            begin = span.last + (1 if span.is_exact else 0)


@dataclass(slots=True)
class _Search:
    """For lines that join several elements, or are a part of one. `left` are letters: a page of nothing else may have
    as many lines as it likes.
    """

    units: Units
    left: int = _MOST_LOOKED_THROUGH

    def span_of(self, key: str, begin: int, end: int) -> LineSpan | None:
        begins = self.units.begins
        until = min(begins[end], begins[begin] + _LOOKED_THROUGH, begins[begin] + self.left)
        self.left -= until - begins[begin]
        place = self.units.text.find(key, begins[begin], until)
        if place < 0:
            return None
        first = bisect_left(begins, place + 1) - 1
        last = bisect_left(begins, place + len(key)) - 1
        is_exact = begins[first] == place and begins[last + 1] == place + len(key)
        return LineSpan(first, last, is_exact)


def _blocks(
    lines: Sequence[str], spans: Sequence[LineSpan | None], units: Units, found: Sequence[FoundBlock]
) -> Iterator[Aligned]:
    said = -1  # the last block of the page that was said whole
    loose: list[str] = []  # lines that the page's blocks do not explain
    for line, span in zip(lines, spans, strict=True):
        numbers = _blocks_in(span, units)
        kinds = {found[number].block.kind for number in numbers}
        if not numbers or (_is_row(line) and BlockKind.TABLE not in kinds):
            # The rule below a head was said with its table.
            if numbers or not (said >= 0 and found[said].block.kind is BlockKind.TABLE and _RULE.issuperset(line)):
                loose.append(line)
            continue
        yield from _loose(loose)
        loose = []
        if not (span and span.is_exact) and kinds.isdisjoint(_WHOLE):
            yield Aligned(_as_line(line, found[numbers[0]].block), numbers[0])
            continue
        for place, number in enumerate(numbers):
            if number > said:
                words = line if len(numbers) == 1 else None
                yield Aligned(_block_of(found[number].block, line, words, begins=place == 0), number)
                said = number
    yield from _loose(loose)


def _blocks_in(span: LineSpan | None, units: Units) -> list[int]:
    return list(dict.fromkeys(units.blocks[span.first : span.last + 1])) if span else []


def _is_row(line: str) -> bool:
    return line.startswith("|") and line.endswith("|")


def _loose(lines: Sequence[str]) -> Iterator[Aligned]:
    return (Aligned(block, -1) for block in blocks_of_text("\n".join(lines)))


def _as_line(line: str, block: BodyBlock) -> BodyBlock:
    """A line that is a part of a block: of its kind, with its own words."""
    own = plain_block(line)
    if block.kind in (BlockKind.HEADING, BlockKind.QUOTE, BlockKind.NOTE) and own.kind is BlockKind.PARAGRAPH:
        return replace(own, kind=block.kind, level=block.level, depth=block.depth, label=block.label)
    return replace(own, depth=max(own.depth, block.depth))


def _block_of(block: BodyBlock, line: str, words: str | None, *, begins: bool) -> BodyBlock:
    """The page's block as the line has it: marked as an item or not where the line begins with it, and, if it is all of
    the line, with the white space that stands there.
    """
    if block.kind in _WHOLE:
        return block
    if block.kind in SILENT:
        # A caption that the text says.
        return plain_block(line if words is not None else block.caption)
    if begins:
        is_marked = line.startswith(ITEM_MARK) and not block.text.startswith(ITEM_MARK)
        if is_marked != (block.kind in MARKED):
            kind = BlockKind.ITEM if is_marked else BlockKind.PARAGRAPH
            block = replace(block, kind=kind, level=0, depth=max(block.depth, int(is_marked)), number=None)
        if is_marked and words is not None:
            words = words.removeprefix(ITEM_MARK)
    if words is None or words == block.text:
        return block
    return replace(block, text=words, marks=_moved(block.marks, block.text, words))


def _moved(marks: Sequence[InlineMark], former: str, present: str) -> tuple[InlineMark, ...]:
    """To a text that differs in white space only."""
    places = [number for number, letter in enumerate(present) if not letter.isspace()]
    letters = list(accumulate((not letter.isspace() for letter in former), initial=0))
    moved = []
    for one in marks:
        begin, end = letters[one.begin], letters[min(one.end, len(former))]
        if begin < end <= len(places):
            moved.append(replace(one, begin=places[begin], end=places[end - 1] + 1))
    return tuple(moved)
