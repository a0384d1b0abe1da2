"""A page as blocks of text in document order, each with the way to it. One walk, no recursion, everything bounded."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extract.templates.steps import step_of
from headwater.extract.text import storable

_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr", "label",
})  # fmt: skip
_SILENT = frozenset({
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "select", "button",
    "textarea", "audio", "video", "canvas", "head", "nav", "footer", "aside", "-comment", "input", "img",
    "picture", "source",
})  # fmt: skip
_HIDDEN = re.compile(r"visually-?hidden|sr-only|screen-?reader|clip: ?rect\(|display: ?none", re.IGNORECASE)
_MOST_NODES = 200_000
_MOST_BLOCKS = 5_000
# Nobody nests a story deeper; what lies below is filed under the last step that was noted.
_DEEPEST = 80
_LONGEST_BLOCK = 100_000
_LINK_ONLY = 0.8


class Block(NamedTuple):
    """`path` are the steps from the body to it, `places` number the same elements, `linked` counts linked letters."""

    text: str
    path: tuple[str, ...]
    places: tuple[int, ...]
    linked: int

    @property
    def is_link(self) -> bool:
        return self.linked >= _LINK_ONLY * len(self.text)


def blocks_of(tree: LexborHTMLParser) -> list[Block]:
    body = tree.body
    return _Splitter().split(body) if body else []


def _is_hidden(node: LexborNode) -> bool:
    """Said to screen readers only, as in a link that "opens in a new tab"; asked inside links, where it is common."""
    said = node.attributes
    return bool(_HIDDEN.search(f"{said.get('class')} {said.get('style')}"))


@dataclass(slots=True)
class _Splitter:
    found: list[Block] = field(default_factory=list)
    around: list[tuple[LexborNode, str]] = field(default_factory=list)  # every element we are inside of
    opened: list[tuple[LexborNode, str]] = field(default_factory=list)  # those of them that begin a block
    places: list[int] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)  # of the outermost of these; named only once a text needs them
    pieces: list[str] = field(default_factory=list)
    links: int = 0
    linked: int = 0
    length: int = 0

    def split(self, root: LexborNode) -> list[Block]:
        node: LexborNode | None = root
        for number in range(_MOST_NODES):
            if node is None:
                node = self._climb()
                if node is None:
                    break
            tag = node.tag or ""
            if tag == "-text":
                text = node.text_content or ""
                # Half of a page's text nodes are indentation between its elements.
                if self.pieces or not text.isspace():
                    self._read(text)
                node = node.next
            elif tag in _SILENT:
                node = node.next
            else:
                node = self._enter(node, tag, number)
        if self.pieces:
            self._finish()
        return self.found

    def _enter(self, node: LexborNode, tag: str, number: int) -> LexborNode | None:
        element = (node, tag)
        if tag in _INLINE:
            self.links += tag == "a"
        else:
            if self.pieces:
                self._finish()
            self.opened.append(element)
            self.places.append(number)
        self.around.append(element)
        return None if tag == "span" and self.links and self.pieces and _is_hidden(node) else node.first_child

    def _climb(self) -> LexborNode | None:
        """Out of every element that has nothing more to say, to what stands beside the last of them."""
        while self.around:
            node, tag = self.around.pop()
            if tag in _INLINE:
                self.links -= tag == "a"
            else:
                if self.pieces:
                    self._finish()
                self.opened.pop()
                self.places.pop()
                del self.steps[len(self.opened) :]
            if self.around and (beside := node.next) is not None:
                return beside
        return None

    def _read(self, text: str) -> None:
        if self.length < _LONGEST_BLOCK:
            self.pieces.append(text)
            self.length += len(text)
            if self.links:
                self.linked += len(" ".join(text.split()))

    def _finish(self) -> None:
        text = " ".join("".join(self.pieces)[:_LONGEST_BLOCK].split())
        if not text.isprintable():
            # What cannot be stored may have stood between two spaces, or before the first.
            text = " ".join(storable(text, _LONGEST_BLOCK).split())
        if text and len(self.found) < _MOST_BLOCKS:
            self._name_steps()
            linked = min(self.linked, len(text))
            self.found.append(Block(text, tuple(self.steps), tuple(self.places[:_DEEPEST]), linked))
        self.linked = self.length = 0
        self.pieces.clear()

    def _name_steps(self) -> None:
        for node, tag in self.opened[len(self.steps) : _DEEPEST]:
            said = node.attributes
            self.steps.append(step_of(tag, said.get("id") or "", said.get("class") or ""))
