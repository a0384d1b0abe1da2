"""Blocks as Markdown: CommonMark with the tables of GitHub. Nothing a page said becomes markup of its own."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC

from headwater.blocks.block import BlockKind, BodyBlock, InlineMark, MarkKind

# Markdown passes HTML through.
MARKUP = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
# An underscore is only a letter between two others, which another underscore is not.
_SIGNS = re.compile(r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])")
_BEGINS = re.compile(r"(?:#{1,6}(?=\s|$)|[-+](?=\s|$)|={2,}\s*$|-{2,}\s*$|~{3}|\|)|(\d{1,9})([.)])(?=\s|$)")
_BACKTICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
# Whatever ends a line, or none sees, would let a link write lines of its own.
_UNSEEN_IN_URL = dict.fromkeys([*map(chr, range(32)), "\x7f", "\x85", "\u2028", "\u2029"], "")
_IN_URL = str.maketrans(
    {" ": "%20", "<": "%3C", ">": "%3E", "(": "%28", ")": "%29", "\\": "%5C", "|": "%7C", **_UNSEEN_IN_URL}
)
_LISTED = frozenset({BlockKind.ITEM, BlockKind.TERM})
_DEEPEST_HEADING = 6
_AROUND = {MarkKind.STRONG: "**", MarkKind.EMPHASIS: "*"}


def markdown_of(blocks: Iterable[BodyBlock]) -> str:
    """Ends with a line break, unless there is nothing to say."""
    written: list[str] = []
    before: BodyBlock | None = None
    lists = _OpenLists()
    for block in blocks:
        indent = lists.indent_of(block)
        lines = "\n".join((indent + line if line else line) for line in _lines(block, before))
        if not lines.strip():
            continue
        is_tight = before is not None and before.kind in _LISTED and block.kind in _LISTED
        is_quoted_on = before is not None and _is_same_box(before, block)
        written.append(("\n" if is_tight else f"\n{indent}>\n" if is_quoted_on else "\n\n") if written else "")
        written.append(lines)
        before = block
    return "".join(written) + ("\n" if written else "")


def markdown_of_line(text: str) -> str:
    """Plain text on one line, as it stands."""
    return _at_beginning(_escaped(text))


class _OpenLists:
    """How far the content of each open list is indented: what belongs to an item stands below its text."""

    def __init__(self) -> None:
        self._widths: list[int] = []

    def indent_of(self, block: BodyBlock) -> str:
        if block.kind in _LISTED:
            del self._widths[max(block.depth - 1, 0) :]
            indent = sum(self._widths)
            self._widths.append(len(f"{block.number}. ") if block.number is not None else 2)
            return " " * indent
        del self._widths[block.depth :]
        return " " * sum(self._widths)


def _is_same_box(before: BodyBlock, block: BodyBlock) -> bool:
    boxes = (BlockKind.QUOTE, BlockKind.NOTE)
    return before.kind is block.kind and block.kind in boxes and before.depth == block.depth and not block.level


def _lines(block: BodyBlock, before: BodyBlock | None) -> Sequence[str]:
    match block.kind:
        case BlockKind.CODE:
            return _code(block)
        case BlockKind.TABLE:
            return list(_table(block))
        case BlockKind.NOTE:
            return _note(block, before)
        case BlockKind.FIGURE | BlockKind.EMBED:
            return _picture(block)
    return [line] if (line := _line(block)) else []


def _line(block: BodyBlock) -> str:
    match block.kind:
        case BlockKind.HEADING:
            return f"{'#' * min(max(block.level, 1), _DEEPEST_HEADING)} {_inline(block)}"
        case BlockKind.ITEM:
            return f"{'-' if block.number is None else f'{block.number}.'} {_inline(block)}"
        case BlockKind.TERM:
            return f"- **{_escaped(block.text)}**"
        case BlockKind.QUOTE:
            return f"> {_inline(block)}"
        case BlockKind.ENTRY:
            at = f"{block.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if block.at else ""
            told = " – ".join(filter(None, (at, _escaped(block.text))))
            return told and f"## {told}"
    return _inline(block)


def _picture(block: BodyBlock) -> Sequence[str]:
    if block.kind is BlockKind.EMBED:
        return [f"[{_escaped(block.caption or block.alt or block.url)}]({_target(block.url)})"]
    image = f"![{_escaped(block.alt or block.caption)}]({_target(block.url)})"
    return [image, "", f"*{_escaped(block.caption)}*"] if block.caption else [image]


def _note(block: BodyBlock, before: BodyBlock | None) -> Sequence[str]:
    """Under its own title, or under what it is called where it has none."""
    if block.level:
        return [f"> **{_escaped(block.text)}**"]
    is_begun = before is not None and _is_same_box(before, block)
    opens = [] if is_begun or not block.label else [f"> **{_escaped(block.label.capitalize())}**", ">"]
    return [*opens, f"> {_inline(block)}"]


def _code(block: BodyBlock) -> Sequence[str]:
    """In a fence that is longer than any inside."""
    longest = max((len(one) for one in _BACKTICKS.findall(block.text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = block.language if _LANGUAGE.fullmatch(block.language) else ""
    return [fence + language, *block.text.split("\n"), fence]


def _table(block: BodyBlock) -> Iterator[str]:
    """GitHub's need a head: a table without one has an empty one."""
    width = max(map(len, block.rows), default=0)
    if block.caption:
        yield f"**{_escaped(block.caption)}**"
        yield ""
    marks: dict[tuple[int, int], list[InlineMark]] = {}
    for one in block.cell_marks:
        marks.setdefault((one.row, one.column), []).append(one)
    rows = [
        "| " + " | ".join(_cell(text, marks.get((at, column), ())) for column, text in enumerate(row)) + " |"
        for at, row in enumerate(row + ("",) * (width - len(row)) for row in block.rows)
    ]
    yield rows.pop(0) if block.has_header and rows else "| " + " | ".join([""] * width) + " |"
    yield "|" + " --- |" * width
    yield from rows


def _cell(text: str, marks: Sequence[InlineMark]) -> str:
    """A bar ends a cell even in code."""
    if marks:
        return "".join(_pieces(text, marks)).replace("|", "\\|")
    return text.translate(MARKUP).replace("\\", "\\\\").replace("|", "\\|")


def _inline(block: BodyBlock) -> str:
    return _at_beginning("".join(_pieces(block.text, block.marks)))


def _pieces(text: str, marks: Sequence[InlineMark]) -> Iterator[str]:
    """Marks one after another; of two that overlap the later one goes, but for those inside of a link."""
    at = 0
    ordered = sorted(marks, key=lambda one: (one.begin, -one.end))
    begins = [one.begin for one in ordered]
    for number, one in enumerate(ordered):
        if one.begin < at or not one.begin < one.end <= len(text):
            continue
        yield _escaped(text[at : one.begin])
        inside = ordered[number + 1 : bisect_left(begins, one.end)]
        yield _marked(text, one, inside)
        at = one.end
    yield _escaped(text[at:])


def _marked(text: str, mark: InlineMark, inside: Sequence[InlineMark]) -> str:
    said = text[mark.begin : mark.end]
    words = said.strip()
    if not words:
        return _escaped(said)
    begin = mark.begin + len(said) - len(said.lstrip())
    before, after = text[mark.begin : begin], said[len(said.rstrip()) :]
    if mark.kind is MarkKind.CODE:
        return before + _code_span(words) + after
    shifted = [
        InlineMark(two.begin - begin, two.end - begin, two.kind, two.url)
        for two in inside
        if two.begin >= begin and two.end <= begin + len(words) and two.kind is not mark.kind
    ]
    inner = "".join(_pieces(words, shifted))
    if mark.kind is MarkKind.LINK:
        return f"{before}[{inner}]({_target(mark.url)}){after}" if mark.url else before + inner + after
    return before + _AROUND[mark.kind] + inner + _AROUND[mark.kind] + after


def _code_span(words: str) -> str:
    longest = max((len(one) for one in _BACKTICKS.findall(words)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", text).translate(MARKUP)


def _at_beginning(line: str) -> str:
    """A line of the text begins no heading, list or table."""
    found = _BEGINS.match(line)
    if not found:
        return line
    return f"{found[1]}\\{found[2]}{line[found.end() :]}" if found[1] else f"\\{line}"


def _target(url: str) -> str:
    return url.translate(_IN_URL)
