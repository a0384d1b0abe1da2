"""Tables among a page's blocks: which of them hold data, and their rows as the general extractor writes them. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, groupby, islice
from typing import NamedTuple

from headwater.extraction.templates.blocks import Block, Cell
from headwater.extraction.templates.steps import tag_of

CELLS = frozenset({"td", "th"})
_LAYING_OUT = frozenset({"h1", "article", "table"})
_FEWEST_ROWS, _FEWEST_CELLS = 2, 2
_PARAGRAPH, _MOST_PARAGRAPHS = 60, 3
_WIDEST = 100


class Spot(NamedTuple):
    """Where a block stands in the innermost table around it, by the places of the elements."""

    table: int
    row: int
    cell: int
    is_head: bool
    is_laid_out: bool  # a cell that holds a page's title or an article lays out the page


def spot_of(block: Block) -> Spot | None:
    if block.cell is None:
        return None
    tags = [tag_of(step) for step in block.path]
    inside = next((at for at in range(len(tags) - 1, 1, -1) if tags[at] in CELLS), -1)
    if inside < 0 or tags[inside - 1] != "tr":
        return None
    table = next((at for at in range(inside - 2, -1, -1) if tags[at] == "table"), -1)
    if table < 0:
        return None
    is_laid_out = not _LAYING_OUT.isdisjoint(tags[inside + 1 :])
    places = block.places
    return Spot(places[table], places[inside - 1], places[inside], tags[inside] == "th", is_laid_out)


def tables_of_data(blocks: Iterable[Block]) -> Mapping[int, Sequence[int]]:
    """By the place of each such table the numbers of its blocks. A table with others inside, with one row or one
    column, or with pages of text in a cell, lays out what it holds.
    """
    found: dict[int, list[tuple[int, Block, Spot]]] = defaultdict(list)
    outer: set[int] = set()
    for number, block in enumerate(blocks):
        if spot := spot_of(block):
            found[spot.table].append((number, block, spot))
            outer.update(_tables_around(block, spot.table))
    return {
        table: [number for number, _, _ in held]
        for table, held in found.items()
        if table not in outer and _is_of_data([(block, spot) for _, block, spot in held])
    }


def rows_of(blocks: Sequence[Block]) -> list[str]:
    """Of one table, in page order: a line each, with all columns, and a rule below a head."""
    lines = _Grid()
    for _, row in groupby(((block, spot) for block in blocks if (spot := spot_of(block))), key=lambda one: one[1].row):
        lines.add(list(row))
    return lines.written()


class _Grid:
    """The rows of a table so far, and the columns that cells of former rows still take."""

    def __init__(self) -> None:
        self._rows: list[tuple[dict[int, str], bool]] = []
        self._taken: dict[int, int] = {}
        self._width = 0

    def add(self, row: Sequence[tuple[Block, Spot]]) -> None:
        free = (column for column in count() if column not in self._taken)
        columns = list(islice(free, _WIDEST + 1))
        texts: dict[int, str] = {}
        begun: dict[int, int] = {}
        for _, inside in groupby(row, key=lambda one: one[1].cell):
            held = [block for block, _ in inside]
            cell = held[0].cell or Cell(0, 1, 1)
            column = columns[cell.column]
            texts[column] = " ".join(_in_cell(block.text) for block in held)
            self._width = max(self._width, column + cell.columns)
            begun |= dict.fromkeys(range(column, column + cell.columns), cell.rows)
        left = {column: rows - 1 for column, rows in (self._taken | begun).items() if rows > 1}
        self._taken = left
        self._rows.append((texts, any(spot.is_head for _, spot in row)))

    def written(self) -> list[str]:
        width = min(self._width, _WIDEST)
        heads = [at for at, (_, is_head) in enumerate(self._rows) if is_head][:1]
        lines: list[str] = []
        for at, (texts, _) in enumerate(self._rows):
            lines.append("|" + "".join(f" {text} |" if (text := texts.get(one)) else " |" for one in range(width)))
            lines += ["|" + "---|" * width] if at in heads else []
        return lines


def _in_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _tables_around(block: Block, innermost: int) -> Iterable[int]:
    steps = zip(block.path, block.places, strict=True)
    return (place for step, place in steps if place < innermost and tag_of(step) == "table")


def _is_of_data(held: Sequence[tuple[Block, Spot]]) -> bool:
    if any(spot.is_laid_out for _, spot in held):
        return False
    rows: dict[int, set[int]] = defaultdict(set)
    paragraphs: dict[int, int] = defaultdict(int)
    for block, spot in held:
        rows[spot.row].add(spot.cell)
        paragraphs[spot.cell] += len(block.text) >= _PARAGRAPH
    return (
        len(rows) >= _FEWEST_ROWS
        and max(map(len, rows.values())) >= _FEWEST_CELLS
        and max(paragraphs.values()) <= _MOST_PARAGRAPHS
    )
