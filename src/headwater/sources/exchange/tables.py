"""CSV as spreadsheets write it, in any of its dialects; ours is safe to open in one."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from headwater.sources.exchange.columns import LeftOver, columns_in, require_address, require_present
from headwater.sources.exchange.fields import FIELDS, BadLine, Row, bad_line, row_from, value_as_text
from headwater.sources.exchange.lines import NumberedLines, lines_in

DELIMITERS = MappingProxyType({",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"})

_HEAD = 65_536
# Of a record on several lines: more than the longest hint needs with all its quotes doubled, less than csv's own limit.
_LONGEST_SPAN = 100_000
# Excel's own way to say it, in a first line that is no data.
_SAID = re.compile(r"sep=(.)\s*", re.IGNORECASE)
# A spreadsheet would calculate such a cell, and a word for nothing would be read as none. One that begins with the
# quote itself gets another: reading takes one away.
_FORMULA = re.compile(r"'*(?:[=+\-@\t\r]|(?:NULL|\\N)\Z)")
_DISARMED = re.compile(rf"'{_FORMULA.pattern}")

# An empty cell as dumps of databases write it.
_NOTHING = ("NULL", "\\N")


class _TableLine(NamedTuple):
    line: int
    text: str
    cells: list[str]


def delimiter_in(text: str) -> str:
    """The one that cuts the first line into most cells."""
    first = next((line for line in lines_in(text[:_HEAD]) if line.strip()), "")
    said = _SAID.fullmatch(first)
    if said and said[1] in DELIMITERS:
        return said[1]
    return max(DELIMITERS, key=lambda delimiter: len(cells_in(first, delimiter)))


def cells_in(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), []) if len(line) <= _HEAD else []


def read_csv(text: str, delimiter: str, mapping: Mapping[str, str], left_over: LeftOver) -> Iterator[Row | BadLine]:
    """Raises UsageError if the header does not fit the mapping, or says nothing of an address."""
    records = _records(text, delimiter)
    header = _header(records)
    require_present(header, mapping)
    columns = columns_in(header, mapping)
    require_address(header, columns)
    left_over.note(header, columns, mapping)
    left_over.header.extend(header)
    for record in records:
        if isinstance(record, BadLine):
            yield record
        elif any(cell.strip() for cell in record.cells):
            said = (
                (at, cell) for at, cell in enumerate(record.cells) if at in columns and cell.strip() not in _NOTHING
            )
            cells = ((columns[at], _armed(cell)) for at, cell in said)
            yield row_from(record.line, record.text, cells)


def _header(records: Iterator[_TableLine | BadLine]) -> list[str]:
    for record in records:
        if isinstance(record, BadLine):
            break
        if any(cell.strip() for cell in record.cells) and record.cells[0].lower() != "sep=":
            return [_armed(cell).strip() for cell in record.cells]
    return []


def _records(text: str, delimiter: str) -> Iterator[_TableLine | BadLine]:
    """Each with the line it begins on: a quoted cell may hold line ends. One that is not closed costs its own line."""
    lines = NumberedLines(text)
    quotes = _OpenQuotes(lines, delimiter)
    at = 0
    while at < len(lines):
        record = _record(at, lines.between(at, at + 1), delimiter)
        after = at + 1 if record else quotes.end_of_record(at)
        record = record or _record(at, lines.between(at, after), delimiter)
        yield record or bad_line(at + 1, lines[at], "a quote is opened here and not closed")
        at = after


def _record(at: int, lines: Sequence[str], delimiter: str) -> _TableLine | BadLine | None:
    """None if a quote is still open."""
    try:
        cells = _cells_unless_open(lines, delimiter)
    except csv.Error as problem:
        return bad_line(at + 1, lines[0], f"not CSV: {problem}")
    return None if cells is None else _TableLine(at + 1, "".join(lines), cells)


def cells_of_record(text: str, delimiter: str) -> list[str] | None:
    """The cells of one record as they were meant, or None if it is none."""
    record = _record(0, tuple(lines_in(text)), delimiter)
    return [_armed(cell) for cell in record.cells] if isinstance(record, _TableLine) else None


class _OpenQuotes:
    """Where a cell that is open at the end of a line is closed.

    Whichever line opened it, the answer lies in the same later line, so none is looked at twice however many are open.
    """

    def __init__(self, lines: NumberedLines, delimiter: str) -> None:
        self._lines, self._delimiter = lines, delimiter
        self._answer = 0
        self._is_closed = False

    def end_of_record(self, at: int) -> int:
        """The line after the record that begins at line `at`, which is the next one if its quote is not closed."""
        if self._answer <= at:
            self._answer, self._is_closed = self._look_from(at + 1)
        after = self._answer + 1 if self._is_closed else at + 1
        return after if self._lines.length_of(at, after) <= _LONGEST_SPAN else at + 1

    def _look_from(self, start: int) -> tuple[int, bool]:
        for at in range(start, len(self._lines)):
            try:
                # Strictly: a quote with text right behind it opens a cell of its own line and closes none before.
                cells = _cells_unless_open([f'"{self._lines[at]}'], self._delimiter, is_strict=True)
            except csv.Error:
                return at, False
            if cells is not None:
                return at, True
        return len(self._lines), False


def _cells_unless_open(lines: Sequence[str], delimiter: str, *, is_strict: bool = False) -> list[str] | None:
    """None if a quote is still open at the end: the reader then asks for one line more than there are."""
    reader = csv.reader(chain(lines, [""]), delimiter=delimiter, strict=is_strict)
    try:
        cells = next(reader)
    except csv.Error:
        if reader.line_num <= len(lines):
            raise
        return None
    return cells if reader.line_num <= len(lines) else None


def write_csv(rows: Iterable[Row]) -> Iterator[str]:
    names = [field.name for field in FIELDS]
    cells = ([value_as_text(field, getattr(row, field.name)) for field in FIELDS] for row in rows)
    return table(chain([names], cells))


def table(records: Iterable[Sequence[str]]) -> Iterator[str]:
    """Line by line, every cell inert."""
    pen = _Pen()
    writer = csv.writer(pen)
    for record in records:
        writer.writerow([_disarmed(cell) for cell in record])
        yield pen.line


class _Pen:
    """The file of csv.writer: it keeps the line for the stream."""

    line = ""

    def write(self, text: str) -> None:
        self.line = text


def _disarmed(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _armed(cell: str) -> str:
    return cell[1:] if _DISARMED.match(cell) else cell
