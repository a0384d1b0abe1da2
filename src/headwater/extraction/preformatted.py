"""Code as it stands in a page: its lines and indentation outlive readers that make every white space a single space.

They are written as signs that no page uses and every reader takes for a letter; `text.shown` makes them white space
again at the end. So every reader of the page gets the same code.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.elements import TEXT, id_of, ids_of, outermost
from headwater.extraction.text import KEPT_BREAK, KEPT_SPACE, KEPT_TAB

_MOST_PLACES = 2_000
_MOST_NODES = 50_000
# Highlighters of blogs write a table, a <div> a line, and no <pre>.
_PLACES = "pre, td.code > div.container, div.crayon-pre"
_NUMBERS = ", ".join((
    *("td.gutter", "td.linenos", "td.lineno", "td.rouge-gutter", "td.line-numbers", "td.crayon-nums", "td.blob-num"),
    *("td.hljs-ln-numbers", "span.linenos", "span.lineno", "span.line-number", "pre.lineno", "div.linenodiv"),
    *("pre span.ln", "pre span.lnt", "pre span.linenr"),
    *('pre span[style*="user-select:none"]', 'pre span[style*="user-select: none"]'),
))  # fmt: skip
_ONLY_NUMBERS = re.compile(r"[\d\s|:.]*")
_TABLE_IDS = ids_of({"table", "tbody", "thead", "tr", "td", "th"})
_TABLE, _BREAK, _CELL, _LINK = id_of("table"), id_of("br"), id_of("td"), id_of("a")
_LINE_IDS = ids_of({"div", "p", "li", "tr"})
_MOST_STEPS_OUT = 5
_SPACES = re.compile(r"(?:(?<=\n)|\A)[ \xa0]+|[ \xa0]{2,}")
_SPACES_WITHIN = re.compile(r"(?<=\n)[ \xa0]+|[ \xa0]{2,}")


def keep_code(tree: LexborHTMLParser) -> None:
    """Changes the tree."""
    if tree.css_first(_PLACES) is None:
        return
    tables = _without_numbers(tree)
    places = outermost(tree.css(_PLACES)[:_MOST_PLACES])
    inside = {node.mem_id for place in places for node in place.traverse()}
    for place in places:
        _keep_white_space(place)
    for table in outermost([one for one in tables if one.mem_id not in inside]):
        # What is left in it are lines, not cells.
        for part in [one for one in table.traverse() if one.tag_id in _TABLE_IDS]:
            part.unwrap()


def _without_numbers(tree: LexborHTMLParser) -> list[LexborNode]:
    """The tables that a column of numbers was taken out of; numbers elsewhere go, too."""
    numbers = [node for node in outermost(tree.css(_NUMBERS)[:_MOST_NODES]) if _says_only_numbers(node)]
    cells = [cell for cell in _cells_around(tree, numbers) if _says_only_numbers(cell)]
    tables = [table for cell in cells if (table := _around(cell, _TABLE))]
    gone = {node.mem_id for cell in cells for node in cell.traverse()}
    for node in [*cells, *(one for one in numbers if one.mem_id not in gone)]:
        node.decompose()
    return tables


def _cells_around(tree: LexborHTMLParser, numbers: list[LexborNode]) -> list[LexborNode]:
    wanted = {cell.mem_id for node in numbers if (cell := _around(node, _CELL))}
    return outermost([cell for cell in tree.css("td") if cell.mem_id in wanted]) if wanted else []


def _says_only_numbers(node: LexborNode) -> bool:
    return _ONLY_NUMBERS.fullmatch(node.text()) is not None


def _around(node: LexborNode, tag: int) -> LexborNode | None:
    """The nearest of this tag, itself or not far out."""
    around: LexborNode | None = node
    for _ in range(_MOST_STEPS_OUT):
        if around is None or around.tag_id == tag:
            break
        around = around.parent
    return around if around is not None and around.tag_id == tag else None


def _keep_white_space(place: LexborNode) -> None:
    begins_line = True
    wrapping: list[LexborNode] = []
    for node in [node for node in place.traverse(include_text=True) if node.mem_id != place.mem_id]:
        tag = node.tag_id
        if tag == TEXT:
            text = (node.text_content or "").replace("\r\n", "\n")
            if text:
                node.replace_with(_kept(text, begins_line=begins_line))
                begins_line = text.endswith("\n")
        elif tag == _BREAK or tag in _LINE_IDS:
            node.insert_before(KEPT_BREAK)
            begins_line = True
        if tag == _BREAK or tag in _LINE_IDS or tag in _TABLE_IDS or (tag == _LINK and _leads_nowhere(node)):
            wrapping.append(node)
    for node in wrapping:
        # One that is empty would stay.
        node.unwrap(delete_empty=True)


def _leads_nowhere(link: LexborNode) -> bool:
    """As the name of a line does: a reader who counts links would take such code for a menu."""
    return (link.attributes.get("href") or "#").startswith("#")


def _kept(text: str, *, begins_line: bool) -> str:
    spaces = _SPACES if begins_line else _SPACES_WITHIN
    kept = spaces.sub(lambda found: KEPT_SPACE * len(found[0]), text)
    return kept.replace("\n", KEPT_BREAK).replace("\t", KEPT_TAB)
