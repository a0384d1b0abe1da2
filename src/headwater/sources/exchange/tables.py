"""CSV as spreadsheets write it, in any of its dialects; ours is safe to open in one."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

from headwater.sources.exchange.columns import columns_in, require_address, require_present
from headwater.sources.exchange.fields import FIELDS, row_from, value_as_text
from headwater.sources.exchange.lines import lines_in, short_lines_in
from headwater.sources.exchange.rows import BadLine, Row

DELIMITERS = MappingProxyType({",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"})

_HEAD = 65_536
# Excel's own way to say it, in a first line that is no data.
_SAID = re.compile(r"sep=(.)\s*", re.IGNORECASE)
# A spreadsheet would calculate such a cell. One that begins with the quote itself gets another: reading takes one away.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_DISARMED = re.compile(r"'+[=+\-@\t\r]")


def delimiter_in(text: str) -> str:
    """The one that cuts the first line into most cells."""
    first = next((line for line in lines_in(text[:_HEAD]) if line.strip()), "")
    said = _SAID.fullmatch(first)
    if said and said[1] in DELIMITERS:
        return said[1]
    return max(DELIMITERS, key=lambda delimiter: len(cells_in(first, delimiter)))


def cells_in(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), []) if len(line) <= _HEAD else []


def read_csv(text: str, delimiter: str, mapping: Mapping[str, str]) -> Iterator[Row | BadLine]:
    """Raises UsageError if the header does not fit the mapping, or says nothing of an address."""
    records = _records(text, delimiter)
    header = _header(records)
    require_present(header, mapping)
    columns = columns_in(header, mapping)
    require_address(header, columns)
    for line, cells in records:
        if isinstance(cells, BadLine):
            yield cells
        elif any(cell.strip() for cell in cells):
            yield row_from(line, ((columns[at], _armed(cell)) for at, cell in enumerate(cells) if at in columns))


def _header(records: Iterator[tuple[int, list[str] | BadLine]]) -> list[str]:
    for _, cells in records:
        if isinstance(cells, BadLine):
            break
        if any(cell.strip() for cell in cells) and cells[0].lower() != "sep=":
            return [_armed(cell).strip() for cell in cells]
    return []


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str] | BadLine]]:
    """Each with the line it begins on: a quoted cell may hold line ends."""
    reader = csv.reader(short_lines_in(text), delimiter=delimiter)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            yield line, BadLine(line, "", f"not CSV: {problem}")


def write_csv(rows: Iterable[Row]) -> Iterator[str]:
    names = [field.name for field in FIELDS]
    cells = ([value_as_text(field, getattr(row, field.name)) for field in FIELDS] for row in rows)
    return table(chain([names], cells))


def write_rejected(lines: Iterable[BadLine]) -> Iterator[str]:
    """The lines nobody can follow, as CSV: line, text, reason."""
    return table(chain([["line", "text", "reason"]], ([str(bad.line), bad.text, bad.reason] for bad in lines)))


def table(records: Iterable[Sequence[str]]) -> Iterator[str]:
    """Line by line, every cell inert."""
    pen = _Pen()
    writer = csv.writer(pen)
    for record in records:
        writer.writerow([_disarmed(cell) for cell in record])
        yield pen.line


class _Pen:
    """What csv.writer writes to: it keeps the line for whoever streams it on."""

    line = ""

    def write(self, text: str) -> None:
        self.line = text


def _disarmed(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _armed(cell: str) -> str:
    return cell[1:] if _DISARMED.match(cell) else cell
