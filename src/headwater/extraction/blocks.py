"""The text of an element as paragraphs, the way a reader sees them. Depth costs nothing: there is no recursion."""

from collections.abc import Iterator
from html import unescape

from selectolax.lexbor import LexborNode

from headwater.extraction.hidden import visible_page
from headwater.extraction.markup_cost import is_costly, without_tags
from headwater.extraction.text import LONGEST_TEXT, tidy

_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
_SILENT = frozenset({
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "select", "button",
    "textarea", "audio", "video", "canvas", "head",
})  # fmt: skip


def text_of_html(html: str) -> str:
    """The whole of a fragment, as a feed carries it."""
    if is_costly(html):
        return tidy(unescape(without_tags(html)).splitlines())
    root = visible_page(html).body
    return text_of([root]) if root else ""


def text_of(nodes: list[LexborNode], without: frozenset[int] = frozenset()) -> str:
    """`nodes` in page order, each part once even if one lies inside another; `without` are `mem_id`s left out."""
    seen = set(without)
    return tidy([line for node in nodes for line in _lines(node, seen)])


def _lines(root: LexborNode, seen: set[int]) -> Iterator[str]:
    pieces: list[str] = []
    left = LONGEST_TEXT
    for node in _walk(root, seen):
        if node.is_text_node:
            pieces.append((node.text_content or "")[:left])
            left -= len(pieces[-1])
        elif node.tag not in _INLINE:
            yield "".join(pieces)
            pieces.clear()
        if left <= 0:
            break
    yield "".join(pieces)


def _walk(root: LexborNode, seen: set[int]) -> Iterator[LexborNode]:
    """Elements when entered and again when left; what was seen before is passed by without looking inside."""
    node: LexborNode | None = root
    while node is not None:
        inner = _first_inside(node, seen)
        seen.add(node.mem_id)
        yield node
        if inner is not None:
            node = inner
            continue
        while node is not None and node.mem_id != root.mem_id and node.next is None:
            node = node.parent
            if node is not None:
                yield node
        node = None if node is None or node.mem_id == root.mem_id else node.next


def _first_inside(node: LexborNode, seen: set[int]) -> LexborNode | None:
    return None if node.mem_id in seen or node.tag in _SILENT or node.is_text_node else node.first_child
