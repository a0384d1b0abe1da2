"""A table of a page that holds data: its rows, whole."""

from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborNode

from headwater.blocks.block import MOST_CELLS
from headwater.extraction.elements import ids_of
from headwater.extraction.text import page_line

_PARTS = ids_of({"thead", "tbody", "tfoot"})
_CELLS, _HEADS, _ROWS, _HEAD = ids_of({"td", "th"}), ids_of({"th"}), ids_of({"tr"}), ids_of({"thead"})
_LAYING_OUT = "table, h1, h2, article, section, pre, form, iframe, script, input, select, p + p + p + p"
_LEAST_FILLED = 0.4
_WIDEST = 100
_LONGEST_CELL, _PARAGRAPH, _MOST_LONG = 2_000, 300, 0.3
_FEWEST_ROWS, _FEWEST_COLUMNS = 2, 2
_LONGEST_NUMBER = 4

Rows = tuple[tuple[str, ...], ...]


def rows_of_table(table: LexborNode) -> tuple[Rows, bool] | None:
    """With whether the first row is its head; None where it lays out what it holds. A cell that takes several columns
    or rows stands in the first one, the others are empty.
    """
    # The table itself is among those found.
    if any(one.mem_id != table.mem_id for one in table.css(_LAYING_OUT)[:2]):
        return None
    rows: list[tuple[str, ...]] = []
    taken: dict[int, int] = {}
    has_header, left = False, MOST_CELLS
    for row, is_head in _rows(table):
        cells, taken, heads = _cells(row, taken)
        left -= len(cells)
        if left < 0:
            break
        if any(cells):
            has_header = has_header or (not rows and (is_head or heads == len([cell for cell in cells if cell])))
            rows.append(tuple(cells))
    width = max(map(len, rows), default=0)
    if len(rows) < _FEWEST_ROWS or width < _FEWEST_COLUMNS or not _holds_data(rows, width):
        return None
    return tuple(row + ("",) * (width - len(row)) for row in rows), has_header


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
        columns, rows = _span(cell, "colspan"), _span(cell, "rowspan")
        text = page_line(cell.text(separator=" ") if _has_blocks(cell) else cell.text(), _LONGEST_CELL)
        heads += bool(text) and cell.tag_id in _HEADS
        at = len(cells)
        cells += [text, *[""] * (min(columns, _WIDEST - at) - 1)]
        if rows > 1:
            below |= dict.fromkeys(range(at, len(cells)), rows - 1)
    return cells, below, heads


def _has_blocks(cell: LexborNode) -> bool:
    return cell.css_first("br, p, div, li") is not None


def _span(cell: LexborNode, name: str) -> int:
    said = (cell.attributes.get(name) or "").strip()
    return min(max(int(said), 1), _WIDEST) if said.isdecimal() and len(said) <= _LONGEST_NUMBER else 1
