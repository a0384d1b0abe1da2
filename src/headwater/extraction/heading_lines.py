"""The short lines beside a page's heading: who wrote it and when, where no element is named for that. Bounded."""

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from headwater.extraction.elements import Elements, id_of, ids_of
from headwater.extraction.text import page_line

LONGEST_LINE = 160
_MOST_HEADINGS, _MOST_LEVELS, _MOST_BESIDE = 3, 4, 8
_MOST_LOOKS, _MOST_LINES = 80, 40
_LONGEST_LOOK, _MOST_CHARACTERS = 4_000, 500_000
_BLOCKS = ids_of(
    {"div", "p", "ul", "ol", "li", "header", "section", "address", "dl", "dt", "dd", "h2", "h3", "time", "footer"}
)
_PARAGRAPH = id_of("p")
_ENDS = ids_of({"body", "html", "main"})
_LEFT_OUT = ids_of(
    {"script", "style", "nav", "aside", "figure", "form", "svg", "button", "iframe", "noscript", "table"}
)


def lines_beside_heading(elements: Elements) -> list[str]:
    """In the order of the page around its first heading: what follows it, then what stands before it."""
    heading = next((node for node in elements.named("h1")[:_MOST_HEADINGS] if page_line(node.text())), None)
    if heading is None:
        return []
    looks = _Looks()
    found = [line for node in _beside(heading) for line in looks.lines_in(node)]
    return list(dict.fromkeys(found))[:_MOST_LINES]


class _Looks:
    """Each look at an element reads all of it, so they are counted, and so is what they read."""

    def __init__(self) -> None:
        self.left, self.characters_left = _MOST_LOOKS, _MOST_CHARACTERS

    def lines_in(self, node: LexborNode) -> Iterator[str]:
        """Of the innermost blocks; a paragraph of prose is none."""
        waiting = [node]
        while waiting and self.left and self.characters_left > 0:
            self.left -= 1
            one = waiting.pop()
            if one.tag_id in _LEFT_OUT:
                continue
            text = one.text(separator=" ")
            self.characters_left -= len(text)
            line = page_line(text[:_LONGEST_LOOK], LONGEST_LINE + 1)
            inner = list(one.iter()) if one.tag_id != _PARAGRAPH else []
            if len(line) > LONGEST_LINE or any(child.tag_id in _BLOCKS for child in inner):
                waiting.extend(reversed(inner[:_MOST_BESIDE]))
            elif line:
                yield line


def _beside(heading: LexborNode) -> Iterator[LexborNode]:
    """Siblings of the heading, then of what holds it."""
    node: LexborNode | None = heading
    before: list[LexborNode] = []
    for _ in range(_MOST_LEVELS):
        if node is None or node.tag_id in _ENDS:
            break
        yield from _siblings(node, is_forward=True)
        before.extend(_siblings(node, is_forward=False))
        node = node.parent
    yield from before


def _siblings(node: LexborNode, *, is_forward: bool) -> Iterator[LexborNode]:
    one = node.next if is_forward else node.prev
    seen = 0
    while one is not None and seen < (_MOST_BESIDE if is_forward else 2):
        if one.is_element_node:
            seen += 1
            yield one
        one = one.next if is_forward else one.prev
