"""A page's elements as blocks, in page order. One walk, no recursion, everything bounded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.blocks.block import (
    DEEPEST_LIST,
    MOST_BLOCKS,
    MOST_MARKS,
    MOST_MARKS_OF_PAGE,
    BlockKind,
    BodyBlock,
    InlineMark,
    MarkKind,
)
from headwater.extraction.elements import COMMENT, TEXT, attribute, id_of, ids_of
from headwater.extraction.links import absolute
from headwater.extraction.structure.code_language import language_of_code
from headwater.extraction.structure.found_table import rows_of_table
from headwater.extraction.structure.live import LiveEntry
from headwater.extraction.text import KEPT_BREAK, LONGEST_TEXT, page_line, shown_code, storable
from headwater.storable import one_line

Mark = TypeVar("Mark", bound=InlineMark)

_MOST_NODES = 300_000
# Of marks within each other: every block below them would hold them all.
_DEEPEST_MARKS = 8
_LONGEST_BLOCK = 100_000
_LINK_ONLY = 0.8
_SILENT = ids_of({
    "script", "style", "noscript", "template", "svg", "math", "object", "select", "button", "textarea", "canvas",
    "head", "nav", "footer", "input", "source", "form",
}) | {COMMENT}  # fmt: skip
_INLINE = ids_of({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr", "label",
})  # fmt: skip
_MARKS = {
    **dict.fromkeys(ids_of({"code", "kbd", "samp", "tt"}), MarkKind.CODE),
    **dict.fromkeys(ids_of({"b", "strong"}), MarkKind.STRONG),
    **dict.fromkeys(ids_of({"i", "em"}), MarkKind.EMPHASIS),
    id_of("a"): MarkKind.LINK,
}
_HEADINGS = {id_of(f"h{level}"): level for level in range(1, 7)}
_LISTS = ids_of({"ul", "ol", "menu", "dl"})
_ORDERED, _ITEM, _TERM, _MEANING = id_of("ol"), id_of("li"), id_of("dt"), id_of("dd")
_QUOTE, _CODE, _TABLE, _FIGURE, _IMAGE = map(id_of, ("blockquote", "pre", "table", "figure", "img"))
_EMBEDS, _ASIDE, _TIME, _PARAGRAPH = ids_of({"iframe", "video", "audio"}), *map(id_of, ("aside", "time", "p"))
_IFRAME = id_of("iframe")
_WHOLE = {_CODE, _TABLE, _FIGURE, _IMAGE, _QUOTE, _ASIDE} | _EMBEDS
_BOXES = ids_of({"div", "aside", "section", "blockquote", "details", "p"})
# In nearly no name of an element: they are looked for before it is read.
_NOTE_WORDS = re.compile("admonition|callout|alert|notice|infobox|aside")
_ADMONITION = re.compile(
    r"(?:^|[\s_-])(?:admonition|callout|markdown-alert|alert|theme-admonition|notice|infobox|sl-aside|aside-note)(?:$|[\s_-])"
)
_LABEL = re.compile(
    r"(?:^|[\s_-])(note|tip|hint|info|important|warning|caution|danger|error|attention|success|seealso|deprecated"
    r"|versionadded|versionchanged|example|question|bug|abstract|quote)(?:$|[\s_-])"
)
_TITLE_OF_NOTE = re.compile(r"(?:admonition|callout|alert|aside|notice)[\w-]*(?:title|heading)")
_SOCIAL = re.compile(r"twitter-tweet|twitter-video|instagram-media|tiktok-embed|bluesky-embed|fb-post|reddit-embed")
_PLAYERS = re.compile(
    r"(?:^|\.)(?:youtube(?:-nocookie)?\.com|youtu\.be|vimeo\.com|dailymotion\.com|twitter\.com|x\.com|instagram\.com"
    r"|facebook\.com|tiktok\.com|bsky\.app|spotify\.com|soundcloud\.com|datawrapper\.dwcdn\.net|flourish\.studio"
    r"|infogram\.com|documentcloud\.org|jwplatform\.com|brightcove\.net|codepen\.io|codesandbox\.io|github\.com"
    r"|google\.com|apple\.com|asciinema\.org)$"
)
_SMALL = 80
_MOST_TABLES_AROUND = 5
_DIGITS = re.compile(r"\d{1,6}")
_LONGEST_URL, _LONGEST_LABEL = 2_083, 100


NO_ENTRIES: Mapping[int, LiveEntry] = MappingProxyType({})


class FoundBlock(NamedTuple):
    """`linked` is the share of its letters that are links; `around` are the `mem_id`s of what it lies in, and of what
    that lies in.
    """

    block: BodyBlock
    linked: float = 0.0
    is_in_entry: bool = False
    around: tuple[int, int] = (0, 0)

    @property
    def is_link(self) -> bool:
        return self.linked >= _LINK_ONLY


def blocks_of_page(
    tree: LexborHTMLParser, base: str, entries: Mapping[int, LiveEntry] = NO_ENTRIES
) -> list[FoundBlock]:
    """`entries` are those of a live blog, by the `mem_id` of their elements."""
    body = tree.body
    return _Walk(base, entries).through(body) if body else []


class _Box(StrEnum):
    NOTE = "note"
    TITLE = "title"
    QUOTE = "quote"


class _Shape(NamedTuple):
    """What a line is, before its words are known."""

    kind: BlockKind
    depth: int = 0
    number: int | None = None
    level: int = 0
    label: str = ""


@dataclass(slots=True)
class _List:
    is_ordered: bool
    next_number: int = 1


@dataclass(slots=True)
class _Walk:
    base: str
    entries: Mapping[int, LiveEntry]
    found: list[FoundBlock] = field(default_factory=list)
    around: list[LexborNode] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    opened: list[tuple[int, MarkKind, int, str]] = field(default_factory=list)  # marks that are not closed yet
    marks: list[InlineMark] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    marked: int = 0  # marks of all blocks so far; one with a long address counts as several
    letters: int = 0  # of all pieces so far, for the bound of a page
    linked: int = 0
    links: int = 0
    heading: int = 0
    quotes: int = 0
    tables: int = 0  # that lay out the page around us
    notes: list[str] = field(default_factory=list)
    note_title: int = 0
    boxes: list[tuple[int, _Box]] = field(default_factory=list)
    item: _Shape | None = None  # begins with the next words
    entry: int = 0  # the element of the entry that we are inside of
    headline: str = ""  # of it, until its heading was passed

    def through(self, root: LexborNode) -> list[FoundBlock]:
        node: LexborNode | None = root
        for _ in range(_MOST_NODES):
            if node is None and (node := self._climb()) is None:
                break
            if len(self.found) >= MOST_BLOCKS or self.letters > LONGEST_TEXT:
                break
            tag = node.tag_id
            if tag == TEXT:
                text = node.text_content or ""
                # Half of a page's text nodes are indentation between its elements.
                if self.pieces or not text.isspace():
                    self._say(text)
                node = node.next
            elif tag in _SILENT or (tag == _TIME and self.entry) or (tag in _WHOLE and self._take_whole(node, tag)):
                node = node.next
            else:
                self._enter(node, tag)
                node = node.first_child
        self._finish()
        return self.found

    def _climb(self) -> LexborNode | None:
        while self.around:
            node = self.around.pop()
            self._leave(node, node.tag_id)
            if self.around and (beside := node.next) is not None:
                return beside
        return None

    def _enter(self, node: LexborNode, tag: int) -> None:
        self.around.append(node)
        if tag in _INLINE:
            if (kind := _MARKS.get(tag)) and len(self.opened) < _DEEPEST_MARKS:
                url = attribute(node, "href").strip()[:_LONGEST_URL] if kind is MarkKind.LINK else ""
                self.links += kind is MarkKind.LINK
                self.opened.append((node.mem_id, kind, self.length, url))
            return
        if self.pieces:
            self._finish(node.parent)
        if self.entries and (entry := self.entries.get(node.mem_id)):
            self._begin_entry(node, entry)
        if tag in _BOXES:
            self._open_box(node, tag)
        elif level := _HEADINGS.get(tag):
            self.heading = level
        elif tag in _LISTS:
            said = attribute(node, "start") if tag == _ORDERED else ""
            self.lists.append(_List(tag == _ORDERED, int(said) if _DIGITS.fullmatch(said) else 1))
        elif tag in (_ITEM, _TERM, _MEANING):
            self.item = self._begun_item(node, tag)
        elif tag == _TABLE:
            self.tables += 1

    def _leave(self, node: LexborNode, tag: int) -> None:
        if tag in _INLINE:
            self._close_mark(node)
            return
        if self.pieces:
            self._finish(node.parent)
        if self.entry and node.mem_id == self.entry:
            self.entry = 0
        if self.boxes and self.boxes[-1][0] == node.mem_id:
            self._close_box()
        if tag in _HEADINGS:
            self.heading = 0
        elif tag in _LISTS:
            if self.lists:
                self.lists.pop()
        elif tag in (_ITEM, _TERM, _MEANING):
            self.item = None
        elif tag == _TABLE:
            self.tables -= 1

    def _close_mark(self, node: LexborNode) -> None:
        if self.opened and self.opened[-1][0] == node.mem_id:
            _, kind, begin, url = self.opened.pop()
            self.links -= kind is MarkKind.LINK
            self._mark(begin, self.length, kind, url)

    def _begin_entry(self, node: LexborNode, entry: LiveEntry) -> None:
        self.entry, self.headline = node.mem_id, entry.headline
        block = BodyBlock(kind=BlockKind.ENTRY, text=entry.headline, at=entry.at, url=entry.url)
        self.found.append(FoundBlock(block, 0.0, is_in_entry=True))

    def _begun_item(self, node: LexborNode, tag: int) -> _Shape:
        depth = min(max(len(self.lists), 1), DEEPEST_LIST)
        if tag == _TERM:
            return _Shape(BlockKind.TERM, depth)
        if tag == _MEANING:
            return _Shape(BlockKind.ITEM, min(depth + 1, DEEPEST_LIST))
        holder = self.lists[-1] if self.lists else _List(is_ordered=False)
        said = attribute(node, "value") if holder.is_ordered else ""
        number = int(said) if _DIGITS.fullmatch(said) else holder.next_number
        holder.next_number = number + 1
        return _Shape(BlockKind.ITEM, depth, number if holder.is_ordered else None)

    def _open_box(self, node: LexborNode, tag: int) -> None:
        if tag == _PARAGRAPH and not self.notes:
            return
        said = attribute(node, "class")[:500].lower()
        if said and tag != _PARAGRAPH and _names_note(said):
            label = _LABEL.search(said)
            self.notes.append(label[1] if label else "note")
            self.boxes.append((node.mem_id, _Box.NOTE))
        elif tag == _QUOTE:
            self.quotes += 1
            self.boxes.append((node.mem_id, _Box.QUOTE))
        elif said and self.notes and _TITLE_OF_NOTE.search(said):
            self.note_title += 1
            self.boxes.append((node.mem_id, _Box.TITLE))

    def _close_box(self) -> None:
        match self.boxes.pop()[1]:
            case _Box.NOTE:
                self.notes.pop()
            case _Box.QUOTE:
                self.quotes -= 1
            case _Box.TITLE:
                self.note_title -= 1

    def _take_whole(self, node: LexborNode, tag: int) -> bool:
        """What is one block with all that is inside; False: to be walked into."""
        if tag == _CODE:
            return self._take_code(node)
        if tag == _TABLE:
            return self._take_table(node)
        if tag == _FIGURE:
            return node.css_first("pre, table, figure figure, p + p") is None and self._take_figure(node)
        if tag == _IMAGE:
            self._take_image(node)
            return True
        if tag in _EMBEDS:
            self._take_embed(node, attribute(node, "src") or attribute(node, "data-src"))
            return True
        if tag == _QUOTE and not self.quotes and _SOCIAL.search(attribute(node, "class")):
            links = [href for one in node.css("a")[-5:] if (href := attribute(one, "href"))]
            said = attribute(node, "cite") or attribute(node, "data-instgrm-permalink") or (links or [""])[-1]
            return self._take_embed(node, said, page_line(node.text(), _LONGEST_BLOCK))
        # What stands beside the page, but for a box of its text.
        return tag == _ASIDE and not _names_note(attribute(node, "class").lower())

    def _take_code(self, node: LexborNode) -> bool:
        self._finish()
        text = shown_code(storable(node.text()[:LONGEST_TEXT]))
        if text:
            self.letters += len(text)
            self._add(BodyBlock(kind=BlockKind.CODE, depth=self._depth(), text=text, language=language_of_code(node)))
        return True

    def _take_table(self, node: LexborNode) -> bool:
        self._finish()
        # Each is looked through: of many inside of each other that takes the square of their number.
        read = rows_of_table(node) if self.tables < _MOST_TABLES_AROUND else None
        if read is None:
            return False
        rows, has_header, marks = read
        self.letters += sum(len(cell) for row in rows for cell in row)
        caption = node.css_first("caption")
        said = page_line(caption.text()) if caption is not None else ""
        links = sum(len(one.text()) for one in node.css("a")[:1_000])
        share = links / (sum(len(cell) for row in rows for cell in row) or 1)
        self._add(
            BodyBlock(
                kind=BlockKind.TABLE,
                depth=self._depth(),
                rows=rows,
                has_header=has_header,
                caption=said,
                cell_marks=marks,
            ),
            share,
        )
        return True

    def _take_figure(self, node: LexborNode) -> bool:
        caption = node.css_first("figcaption")
        said = page_line(caption.text(separator=" ")) if caption is not None else ""
        if (image := node.css_first("img")) is not None:
            self._take_image(image, said, is_figure=True)
            return True
        if (embed := node.css_first("iframe, video, audio")) is not None:
            source = embed.css_first("source")
            url = (
                attribute(embed, "src") or attribute(embed, "data-src") or (attribute(source, "src") if source else "")
            )
            return self._take_embed(embed, url, said)
        return False

    def _take_image(self, node: LexborNode, caption: str = "", *, is_figure: bool = False) -> None:
        url = _image_url(node)
        alt = page_line(attribute(node, "alt"))
        is_small = any(said.isdecimal() and len(said) < 6 and int(said) < _SMALL for said in _sizes(node))
        # A picture in a line of text is a sign of it; one in a link announces where that leads.
        if not url or is_small or (not is_figure and (self.pieces or self.links or not alt)):
            return
        self._add(
            BodyBlock(kind=BlockKind.FIGURE, depth=self._depth(), url=url, alt=alt, caption=caption),
            float(bool(self.links)),
        )

    def _take_embed(self, node: LexborNode, said: str, caption: str = "") -> bool:
        url = absolute(said, self.base)[:_LONGEST_URL]
        host = urlsplit(url).hostname or "" if url else ""
        if not url or (node.tag_id == _IFRAME and not _PLAYERS.search(host)):
            return False
        self._finish()
        title = page_line(attribute(node, "title") or attribute(node, "aria-label"))
        self._add(BodyBlock(kind=BlockKind.EMBED, depth=self._depth(), url=url, alt=title, caption=caption))
        return True

    def _say(self, text: str) -> None:
        """White space is a single space as soon as it is read, so that marks know their places."""
        if self.length >= _LONGEST_BLOCK:
            return
        if not text.isprintable():
            text = storable(text)
        words = " ".join(text[:_LONGEST_BLOCK].split())
        if not words:
            if self.pieces and not self.pieces[-1].endswith(" ") and text:
                self._append(" ")
            return
        if text[0].isspace() and self.pieces and not self.pieces[-1].endswith(" "):
            words = f" {words}"
        self._append(words + (" " if text[-1].isspace() else ""))
        self.linked += len(words) if self.links else 0

    def _append(self, words: str) -> None:
        self.pieces.append(words)
        self.length += len(words)
        self.letters += len(words)

    def _mark(self, begin: int, end: int, kind: MarkKind, url: str) -> None:
        if self.marked > MOST_MARKS_OF_PAGE:
            return
        if begin < end and len(self.marks) < MOST_MARKS and (url or kind is not MarkKind.LINK):
            self.marked += 1 + len(url) // 50
            self.marks.append(InlineMark(begin, end, kind, url))

    def _finish(self, holder: LexborNode | None = None) -> None:
        if not self.pieces:
            return
        outer = holder.parent if holder is not None else None
        around = (holder.mem_id if holder is not None else 0, outer.mem_id if outer is not None else 0)
        for _, marked, begin, url in reversed(self.opened):
            self._mark(begin, self.length, marked, url)
        text = "".join(self.pieces).rstrip()
        if self.opened:
            self.opened = [(number, marked, 0, url) for number, marked, _, url in self.opened]
        length = len(text)
        marks = tuple(
            one if one.end <= length else replace(one, end=length) for one in self.marks if one.begin < length
        )
        linked = self.linked / (self.length or 1)
        self.pieces, self.marks, self.length, self.linked = [], [], 0, 0
        if KEPT_BREAK in text:
            # Code of a highlighter that writes no <pre>.
            self._add(BodyBlock(kind=BlockKind.CODE, depth=self._depth(), text=shown_code(text)))
        elif text and self.heading and text == self.headline:
            self.headline = ""
        elif text:
            kind, depth, number, level, label = self._shape_of_line()
            self._add(
                BodyBlock(kind=kind, text=text, level=level, depth=depth, number=number, label=label, marks=marks),
                linked,
                around,
            )

    def _shape_of_line(self) -> _Shape:
        depth = self._depth()
        if self.heading:
            return _Shape(BlockKind.HEADING, level=self.heading)
        if self.item is not None:
            begun, self.item = self.item, None
            return begun
        if self.notes:
            return _Shape(BlockKind.NOTE, depth, level=int(self.note_title > 0), label=self.notes[-1])
        return _Shape(BlockKind.QUOTE if self.quotes else BlockKind.PARAGRAPH, depth)

    def _depth(self) -> int:
        return min(len(self.lists), DEEPEST_LIST)

    def _add(self, block: BodyBlock, linked: float = 0.0, around: tuple[int, int] = (0, 0)) -> None:
        if len(self.found) < MOST_BLOCKS:
            self.found.append(FoundBlock(block, linked, self.entry != 0, around))


def _names_note(names: str) -> bool:
    return _NOTE_WORDS.search(names) is not None and _ADMONITION.search(names) is not None


def _sizes(image: LexborNode) -> tuple[str, str]:
    return attribute(image, "width").removesuffix("px"), attribute(image, "height").removesuffix("px")


def _image_url(image: LexborNode) -> str:
    """Pictures that are loaded when they are looked at name themselves elsewhere."""
    for name in ("src", "data-src", "data-lazy-src", "data-original"):
        said = attribute(image, name).strip()
        if said and not said.startswith("data:"):
            return said[:_LONGEST_URL]
    first = (attribute(image, "srcset") or attribute(image, "data-srcset"))[:_LONGEST_URL].split(maxsplit=1)
    return first[0].rstrip(",") if first else ""


def with_addresses(block: BodyBlock, base: str) -> BodyBlock:
    """With whole URLs: asked of blocks that are kept, as resolving every link of a page takes longer than the walk."""
    if not (block.marks or block.cell_marks or block.url):
        return block
    return replace(
        block,
        url=_whole(block.url, base) if block.url else "",
        marks=_with_urls(block.marks, base),
        cell_marks=_with_urls(block.cell_marks, base),
    )


def _with_urls(marks: tuple[Mark, ...], base: str) -> tuple[Mark, ...]:
    """Links that lead nowhere are none."""
    whole = (one if one.kind is not MarkKind.LINK else replace(one, url=_whole(one.url, base)) for one in marks)
    return tuple(one for one in whole if one.url or one.kind is not MarkKind.LINK)


def _whole(href: str, base: str) -> str:
    target, sign, part = href.partition("#")
    url = absolute(target or base, base)
    return (url + sign + one_line(part, _LONGEST_URL).replace(" ", "%20"))[:_LONGEST_URL] if url else ""
