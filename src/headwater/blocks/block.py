"""A document's body as a list of blocks, the text that they make, and how they are stored."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
import zstandard

from headwater.storable import storable_json

MOST_BLOCKS = 20_000
MOST_CELLS = 50_000
MOST_MARKS = 500  # of one block
MOST_MARKS_OF_PAGE = 30_000  # an open mark stands in every block that it goes through
DEEPEST_LIST = 20
ITEM_MARK = "- "
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n)+")
_RULE_CELL = re.compile(r"\s*:?-{3,}:?\s*")
_CELL_END = re.compile(r"(?<!\\)\|")


class BlockKind(StrEnum):
    """`term` is explained by the items below it, `note` is a line of an admonition; a live `entry` begins what was
    said at its time and lasts until the next one.
    """

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TERM = "term"
    QUOTE = "quote"
    NOTE = "note"
    CODE = "code"
    TABLE = "table"
    FIGURE = "figure"
    EMBED = "embed"
    ENTRY = "entry"


class MarkKind(StrEnum):
    """What a part of a line is, besides words."""

    CODE = "code"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    LINK = "link"


MARKED = frozenset({BlockKind.ITEM, BlockKind.TERM})
# What a reader sees between the lines of the text.
SILENT = frozenset({BlockKind.FIGURE, BlockKind.EMBED})


@dataclass(frozen=True, slots=True)
class InlineMark:
    """From `begin` to before `end`, in characters of the block's text."""

    begin: int
    end: int
    kind: MarkKind
    url: str = ""


@dataclass(frozen=True, slots=True)
class CellMark(InlineMark):
    """Of a cell of a table, both counted from 0."""

    row: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyBlock:
    """What a kind has no use for is empty. `text` is one line, but for code.

    `level` is that of a heading, `depth` counts the lists around, `number` is an ordered item's. Of code, `text` is as
    it stands in the page with all its lines; of a table it is empty, and `rows` hold plain lines. `label` is the sort
    of an admonition, and its line of level 1 the title. Figures and embeds have no text of the document: `caption`,
    `alt` and `url` are theirs. An entry's `text` is its headline.
    """

    kind: BlockKind
    text: str = ""
    level: int = 0
    depth: int = 0
    number: int | None = None
    language: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    has_header: bool = False
    caption: str = ""
    url: str = ""
    alt: str = ""
    label: str = ""
    at: datetime | None = None
    marks: tuple[InlineMark, ...] = ()
    cell_marks: tuple[CellMark, ...] = ()


def text_of_blocks(blocks: Iterable[BodyBlock]) -> str:
    """As it is searched and compared: a paragraph a line, items marked, tables row by row, code without empty lines."""
    return "\n".join(line for block in blocks if (line := line_of(block)))


def line_of(block: BodyBlock) -> str:
    """Several, of code and of tables; none of figures and embeds."""
    if block.kind in SILENT:
        return ""
    if block.kind is BlockKind.TABLE:
        return "\n".join(table_lines(block.rows, has_header=block.has_header))
    if block.kind is BlockKind.CODE:
        return without_blank_lines(block.text)
    return ITEM_MARK + block.text if block.kind in MARKED else block.text


def without_blank_lines(code: str) -> str:
    return _BLANK_LINES.sub("\n", code).strip("\n").rstrip()


def table_lines(rows: Sequence[Sequence[str]], *, has_header: bool) -> list[str]:
    """Every row with all columns, and a rule below the head."""
    width = max(map(len, rows), default=0)
    lines = [_row(row, width) for row in rows]
    return [lines[0], "|" + "---|" * width, *lines[1:]] if has_header and lines else lines


def _row(row: Sequence[str], width: int) -> str:
    cells = [*row, *[""] * (width - len(row))]
    return "|" + "".join(f" {escaped} |" if (escaped := cell.replace("|", "\\|")) else " |" for cell in cells)


def blocks_of_text(text: str) -> tuple[BodyBlock, ...]:
    """What the lines of a text say by themselves, as of a document whose page is not kept any more."""
    blocks: list[BodyBlock] = []
    rows: list[str] = []
    for line in text.split("\n"):
        if line.startswith("|") and line.endswith("|") and len(line) > 1:
            rows.append(line)
            continue
        blocks += _table_of(rows)
        rows = []
        if line:
            blocks.append(plain_block(line))
    return tuple(blocks + _table_of(rows))


def plain_block(line: str) -> BodyBlock:
    if line.startswith(ITEM_MARK) and line.strip() != "-":
        return BodyBlock(kind=BlockKind.ITEM, text=line.removeprefix(ITEM_MARK), depth=1)
    return BodyBlock(kind=BlockKind.PARAGRAPH, text=line)


def _table_of(lines: Sequence[str]) -> list[BodyBlock]:
    """Lines that are no table as it would be written stay paragraphs."""
    if not lines:
        return []
    rows = [_cells(line) for line in lines]
    has_header = len(rows) > 1 and all(map(_RULE_CELL.fullmatch, rows[1]))
    rows = [rows[0], *rows[2:]] if has_header else rows
    table = BodyBlock(kind=BlockKind.TABLE, rows=tuple(rows), has_header=has_header)
    is_same = line_of(table) == "\n".join(lines)
    return [table] if is_same else [BodyBlock(kind=BlockKind.PARAGRAPH, text=line) for line in lines]


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip(" ").replace("\\|", "|") for cell in _CELL_END.split(line)[1:-1])


if TYPE_CHECKING:
    from pydantic import TypeAdapter

_LEVEL = 6
_LARGEST_BYTES = 4 << 20
_UNSAID: dict[str, Any] = {
    name: field.default
    for name, field in BodyBlock.__dataclass_fields__.items()
    if name not in ("kind", "marks", "cell_marks")
}


def pack_blocks(blocks: Sequence[BodyBlock], text: str) -> bytes | None:
    """None: the text's lines say the same."""
    if not blocks or sum(len(one.marks) + len(one.cell_marks) for one in blocks) > 2 * MOST_MARKS_OF_PAGE:
        return None
    if tuple(blocks) == blocks_of_text(text):
        return None
    written = storable_json([json_of(block) for block in blocks]).encode()
    if len(written) > _LARGEST_BYTES:
        return None
    return zstandard.ZstdCompressor(_LEVEL, dict_data=_dictionary(text)).compress(written)


def unpack_blocks(packed: bytes | None, text: str) -> tuple[BodyBlock, ...]:
    if packed is None:
        return blocks_of_text(text)
    try:
        written = zstandard.ZstdDecompressor(dict_data=_dictionary(text)).decompress(packed, _LARGEST_BYTES)
        return _blocks().validate_python(orjson.loads(written))
    except (zstandard.ZstdError, ValueError):
        # Rows that a person or an emptied document changed by half: the text is the document.
        return blocks_of_text(text)


def json_of(block: BodyBlock) -> dict[str, Any]:
    """Only what it says, for programs as for the archive."""
    said: dict[str, Any] = {"kind": str(block.kind)}
    for name, unsaid in _UNSAID.items():
        if (value := getattr(block, name)) != unsaid:
            said[name] = value.isoformat() if name == "at" else value
    if block.marks:
        said["marks"] = [_mark(one) for one in block.marks]
    if block.cell_marks:
        said["cell_marks"] = [{"row": one.row, "column": one.column, **_mark(one)} for one in block.cell_marks]
    return said


def _mark(one: InlineMark) -> dict[str, Any]:
    return {"begin": one.begin, "end": one.end, "kind": str(one.kind)} | ({"url": one.url} if one.url else {})


def _dictionary(text: str) -> zstandard.ZstdCompressionDict:
    # Shorter ones are refused.
    return zstandard.ZstdCompressionDict(
        text.encode(errors="replace").ljust(8), dict_type=zstandard.DICT_TYPE_RAWCONTENT
    )


@cache
def _blocks() -> "TypeAdapter[tuple[BodyBlock, ...]]":
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[BodyBlock, ...])
