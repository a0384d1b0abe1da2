"""A page as blocks of text in document order, each with the way to it. One walk, no recursion, everything bounded."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.cross_references import is_link_behind_label
from headwater.extraction.elements import COMMENT, TEXT, id_of, ids_of
from headwater.extraction.templates.steps import HIDDEN, step_of
from headwater.extraction.text import restore_white_space, storable

_INLINE = ids_of({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr", "label",
})  # fmt: skip
_SILENT = ids_of({
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "select", "button",
    "textarea", "audio", "video", "canvas", "head", "nav", "footer", "aside", "input", "img", "picture", "source",
}) | {COMMENT}  # fmt: skip
_LINK, _SPAN, _CODE, _TABLE = id_of("a"), id_of("span"), id_of("pre"), id_of("table")
_CELLS = ids_of({"td", "th"})
_HIDDEN = re.compile(r"visually-?hidden|sr-only|screen-?reader|clip: ?rect\(|display: ?none", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_MOST_NODES = 200_000
_MOST_BLOCKS = 5_000
# Nobody nests a story deeper; what lies below is filed under the last step that was noted.
_DEEPEST = 80
_LONGEST_BLOCK = 100_000
_LINK_ONLY = 0.8
_MOST_BESIDE, _WIDEST, _LONGEST_NUMBER = 200, 100, 6
_HEADLINE = 15
_WITHIN_A_SENTENCE = ",;'’`،؛、，"


class Cell(NamedTuple):
    """Of a table: how many columns its row has before it, and how many columns and rows it takes."""

    column: int
    columns: int
    rows: int


class Block(NamedTuple):
    """`path` are the steps from the body to it, `places` number the same elements, `linked` counts linked letters;
    `cell` is the innermost around it.
    """

    text: str
    path: tuple[str, ...]
    places: tuple[int, ...]
    linked: int
    teases: bool = False  # opens with a linked headline or closes with a link, as a teaser does
    cell: Cell | None = None
    is_in_entry: bool = False  # of a live blog

    @property
    def is_link(self) -> bool:
        return self.linked >= _LINK_ONLY * len(self.text)

    @property
    def is_reference(self) -> bool:
        """A link, or nothing but a label and a link: `Read more: …`."""
        return self.is_link or (self.teases and is_link_behind_label(self.text, self.linked))


def blocks_of(tree: LexborHTMLParser, entries: Collection[int] = ()) -> list[Block]:
    """`entries` are the `mem_id`s of the elements that hold one each, where the page is a live blog."""
    body = tree.body
    return _Splitter(entries).split(body) if body else []


def _is_hidden(node: LexborNode) -> bool:
    """Said to screen readers only, as in a link that "opens in a new tab"; asked inside links, where it is common."""
    said = node.attributes
    return bool(_HIDDEN.search(f"{said.get('class')} {said.get('style')}"))


def _cell_in(opened: list[LexborNode]) -> Cell | None:
    inner = next((node for node in reversed(opened) if node.tag_id in _CELLS or node.tag_id == _TABLE), None)
    if inner is None or inner.tag_id == _TABLE:
        return None
    column, beside = 0, inner.prev
    for _ in range(_MOST_BESIDE):
        if beside is None:
            break
        column += _span(beside, "colspan") if beside.tag_id in _CELLS else 0
        beside = beside.prev
    return Cell(min(column, _WIDEST), _span(inner, "colspan"), _span(inner, "rowspan"))


def _span(cell: LexborNode, name: str) -> int:
    said = (cell.attributes.get(name) or "").strip()
    return min(max(int(said), 1), _WIDEST) if said.isdecimal() and len(said) < _LONGEST_NUMBER else 1


def _evened(text: str) -> str:
    """White space as single spaces; most of a page's text is so already, and seeing it is cheaper than splitting it."""
    text = text.strip()
    return text if text.isprintable() and "  " not in text else " ".join(text.split())


def _goes_on(text: str) -> bool:
    """With the sentence that a link began: no headline did."""
    first = text.lstrip()[:1]
    return first.islower() or (first != "" and first in _WITHIN_A_SENTENCE)


@dataclass(slots=True)
class _Splitter:
    entries: Collection[int] = ()
    found: list[Block] = field(default_factory=list)
    around: list[tuple[LexborNode, int]] = field(default_factory=list)  # every element we are inside of
    opened: list[LexborNode] = field(default_factory=list)  # those of them that begin a block
    places: list[int] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)  # of the outermost of these; named only once a text needs them
    pieces: list[str] = field(default_factory=list)
    links: int = 0
    linked: int = 0
    headline: int = 0  # linked letters before the first that is not; -1 if there are none
    ends_linked: bool = False
    length: int = 0
    cells: int = 0  # that we are inside of

    def split(self, root: LexborNode) -> list[Block]:
        """The loop every node of a page goes through: what is looked up often is looked up before."""
        pieces, around, opened, places = self.pieces, self.around, self.opened, self.places
        node: LexborNode | None = root
        for number in range(_MOST_NODES):
            if node is None and (node := self._climb()) is None:
                break
            tag = node.tag_id
            if tag == TEXT:
                text = node.text_content or ""
                # Half of a page's text nodes are indentation between its elements.
                if not text.isspace():
                    self._read(text)
                elif pieces:
                    pieces.append(" ")
                node = node.next
            elif tag in _SILENT:
                node = node.next
            elif tag in _INLINE:
                # Code whose names are linked is no menu.
                tag = _SPAN if tag == _LINK and opened and opened[-1].tag_id == _CODE else tag
                around.append((node, tag))
                self.links += tag == _LINK
                is_aside = tag == _SPAN and self.links and pieces and _is_hidden(node)
                node = None if is_aside else node.first_child
            else:
                if pieces:
                    self._finish()
                around.append((node, tag))
                opened.append(node)
                self.cells += tag in _CELLS
                places.append(number)
                node = node.first_child
        if pieces:
            self._finish()
        return self.found

    def _climb(self) -> LexborNode | None:
        """Out of every element that has nothing more to say, to what stands beside the last of them."""
        around, opened, steps = self.around, self.opened, self.steps
        while around:
            node, tag = around.pop()
            if tag in _INLINE:
                self.links -= tag == _LINK
            else:
                if self.pieces:
                    self._finish()
                opened.pop()
                self.cells -= tag in _CELLS
                self.places.pop()
                if len(steps) > len(opened):
                    steps.pop()
            if around and (beside := node.next) is not None:
                return beside
        return None

    def _read(self, text: str) -> None:
        if self.length >= _LONGEST_BLOCK:
            return
        self.pieces.append(text)
        self.length += len(text)
        if self.links:
            self.linked += len(_evened(text))
        else:
            self.headline = self.headline or (0 if _goes_on(text) else self.linked) or -1
        self.ends_linked = self.links > 0

    def _finish(self) -> None:
        text = _evened("".join(self.pieces)[:_LONGEST_BLOCK])
        if not text.isprintable():
            # What cannot be stored may have stood between two spaces, or before the first.
            text = " ".join(storable(text, _LONGEST_BLOCK).split())
        text = restore_white_space(text)
        if text and len(self.found) < _MOST_BLOCKS:
            if len(self.steps) < len(self.opened):
                self._name_steps()
            self.found.append(
                Block(
                    text,
                    tuple(self.steps),
                    tuple(self.places[:_DEEPEST]),
                    min(self.linked, len(text)),
                    self.ends_linked or self.headline >= _HEADLINE,
                    _cell_in(self.opened) if self.cells else None,
                    bool(self.entries) and any(node.mem_id in self.entries for node in self.opened),
                )
            )
        self.linked = self.length = self.headline = 0
        self.ends_linked = False
        self.pieces.clear()

    def _name_steps(self) -> None:
        for node in self.opened[len(self.steps) : _DEEPEST]:
            tag, said = node.tag or "", node.attributes
            if not said:
                self.steps.append(tag)
                continue
            is_hidden = "hidden" in said or ((style := said.get("style")) and _NOT_SHOWN.search(style))
            kind = tag + HIDDEN if is_hidden else tag
            self.steps.append(step_of(kind, said.get("id") or "", said.get("class") or ""))
