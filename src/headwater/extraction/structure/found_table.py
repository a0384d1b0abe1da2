"""A table of a page that holds data: its rows, whole."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from headwater.blocks.block import MOST_CELLS, MOST_MARKS, CellMark, MarkKind
from headwater.extraction.elements import TEXT, attribute, id_of, ids_of
from headwater.extraction.text import page_line

_PARTS = ids_of({"thead", "tbody", "tfoot"})
_CELLS, _HEADS, _ROWS, _HEAD = ids_of({"td", "th"}), ids_of({"th"}), ids_of({"tr"}), ids_of({"thead"})
_LAYING_OUT = "table, h1, h2, article, section, pre, form, iframe, script, input, select, p + p + p + p"
_LEAST_FILLED = 0.4
_WIDEST = 100
_LONGEST_CELL, _PARAGRAPH, _MOST_LONG = 2_000, 300, 0.3
_FEWEST_ROWS, _FEWEST_COLUMNS = 2, 2
_LONGEST_NUMBER = 4

_MARKED = "code, kbd, samp, a[href]"
_LINK = id_of("a")
_MOST_OF_A_CELL = 20
_LONGEST_URL = 2_083


class FoundTable(NamedTuple):
    rows: tuple[tuple[str, ...], ...]
    has_header: bool
    marks: tuple[CellMark, ...]


def rows_of_table(table: LexborNode) -> FoundTable | None:
    """With whether the first row is its head; None where it lays out what it holds. A cell that takes several columns
    or rows stands in the first one, the others are empty.
    """
    # The table itself is among those found.
    if any(one.mem_id != table.mem_id for one in table.css(_LAYING_OUT)[:2]):
        return None
    rows: list[tuple[str, ...]] = []
    marks: list[CellMark] = []
    is_marked = table.css_first(_MARKED) is not None
    taken: dict[int, int] = {}
    has_header, left = False, MOST_CELLS
    for row, is_head in _rows(table):
        cells, taken, heads = _cells(row, taken)
        left -= len(cells)
        if left < 0:
            break
        if any(cells):
            has_header = has_header or (not rows and (is_head or heads == len([cell for cell in cells if cell])))
            if is_marked and len(marks) < MOST_MARKS:
                marks += _marks_of(row, cells, len(rows))
            rows.append(tuple(cells))
    width = max(map(len, rows), default=0)
    if len(rows) < _FEWEST_ROWS or width < _FEWEST_COLUMNS or not _holds_data(rows, width):
        return None
    return FoundTable(tuple(row + ("",) * (width - len(row)) for row in rows), has_header, tuple(marks[:MOST_MARKS]))


def _marks_of(row: LexborNode, cells: list[str], number: int) -> Iterator[CellMark]:
    """By their words: a cell with two texts alike is marked where the first one stands."""
    column = 0
    for cell in _children(row):
        if cell.tag_id not in _CELLS:
            continue
        marked = [(one, page_line(one.text(), _LONGEST_CELL)) for one in cell.css(_MARKED)[:_MOST_OF_A_CELL]]
        text = page_line(cell.text(separator=" ") if _has_blocks(cell) else cell.text(), _LONGEST_CELL)
        while column < len(cells) and cells[column] != text:
            column += 1
        if column == len(cells):
            return
        begin = 0
        for one, words in marked:
            at = text.find(words, begin) if words else -1
            if at >= 0:
                is_link = one.tag_id == _LINK
                url = attribute(one, "href").strip()[:_LONGEST_URL] if is_link else ""
                kind = MarkKind.LINK if is_link else MarkKind.CODE
                yield CellMark(at, at + len(words), kind, url, number, column)
                begin = at if is_link else at + len(words)
        column += 1


def _holds_data(rows: list[tuple[str, ...]], width: int) -> bool:
    filled = [cell for row in rows for cell in row if cell]
    if len(filled) < _LEAST_FILLED * len(rows) * width:
        return False
    return sum(len(cell) > _PARAGRAPH for cell in filled) <= _MOST_LONG * len(filled)


def _rows(table: LexborNode) -> list[tuple[LexborNode, bool]]:
    found: list[tuple[LexborNode, bool]] = []
    for child in islice(_children(table), MOST_CELLS):
        if child.tag_id in _ROWS:
            found.append((child, False))
        elif child.tag_id in _PARTS:
            is_head = child.tag_id in _HEAD
            found += [(row, is_head) for row in islice(_children(child), MOST_CELLS) if row.tag_id in _ROWS]
    return found[:MOST_CELLS]


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _cells(row: LexborNode, taken: dict[int, int]) -> tuple[list[str], dict[int, int], int]:
    """The texts of one row by column, the columns its cells still take below, and how many cells are heads."""
    cells: list[str] = []
    below = {column: rows - 1 for column, rows in taken.items() if rows > 1}
    heads = 0
    for cell in _children(row):
        if cell.tag_id not in _CELLS:
            continue
        while len(cells) in taken and len(cells) < _WIDEST:
            cells.append("")
        if len(cells) >= _WIDEST:
            break
        columns, rows = _spans(cell)
        text = page_line(cell.text(separator=" ") if _has_blocks(cell) else cell.text(), _LONGEST_CELL)
        heads += bool(text) and cell.tag_id in _HEADS
        at = len(cells)
        cells += [text, *[""] * (min(columns, _WIDEST - at) - 1)]
        if rows > 1:
            below |= dict.fromkeys(range(at, len(cells)), rows - 1)
    return cells, below, heads


def _has_blocks(cell: LexborNode) -> bool:
    only = cell.first_child
    # Most cells hold words and nothing else: seen without a search.
    is_plain = only is None or (only.tag_id == TEXT and only.next is None)
    return not is_plain and cell.css_first("br, p, div, li") is not None


def _spans(cell: LexborNode) -> tuple[int, int]:
    """How many columns and rows it takes."""
    said = cell.attributes
    return _span(said.get("colspan")), _span(said.get("rowspan"))


def _span(written: str | None) -> int:
    said = (written or "").strip()
    return min(max(int(said), 1), _WIDEST) if said.isdecimal() and len(said) <= _LONGEST_NUMBER else 1
