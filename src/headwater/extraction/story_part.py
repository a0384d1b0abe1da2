"""The part of a pruned page that holds its story: where to look for its text, and where that ends."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.elements import outermost
from headwater.extraction.templates.steps import step_of
from headwater.extraction.text import comparable, count_words

# Where these hold a story, the rest of the page is furniture: it takes the extractor half its time, and misleads it.
_STORY_PLACES = ("article", "main")
_STORY_CHARACTERS = 1_000
_STORY_SHARE = 0.4
_LONG_PAGE = 1_500  # of letters without a paragraph
_MOST_PARAGRAPHS, _MOST_STEPS_OUT = 0.7, 3
# A text that goes on this long below its densest part is in several parts.
_MOST_LOOKED_THROUGH = 200_000_000
_LONGEST_TAIL, _LONGEST_NOTICE, _MOST_NOTICES = 0.1, 0.25, 2
_IN_ONE_PART = 0.7
_LINE_BEGINS = 40
_SHORTEST_PROSE, _FEWEST_LETTERS, _MOST_PARTS_AROUND, _MOST_BREAKS = 80, 150, 30, 1_000
_STEPS_ALIKE = 3
_QUOTATION = "blockquote"
_MOST_LETTERS, _MOST_COUNTED = 2_000_000, 20_000


_LINKED_HEADLINES = ", ".join(f"h{level} > a[href]" for level in range(2, 6))
_FEWEST_CARDS, _MOST_CARDS, _LONGEST_CARD = 6, 500, 600


def remove_river(tree: LexborHTMLParser) -> int:
    """Changes the tree: cards of other stories below a story go, a linked headline with a line or two each; how many.

    They stay where they are what the page is for, as on a front page.
    """
    rows: dict[int, list[LexborNode]] = defaultdict(list)
    for link in tree.css(_LINKED_HEADLINES)[:_MOST_CARDS]:
        heading = link.parent
        card = heading.parent if heading is not None else None
        row = card.parent if card is not None else None
        if card is not None and row is not None and len(card.text()) <= _LONGEST_CARD:
            rows[row.mem_id].append(card)
    cards = outermost([card for row in rows.values() if len(row) >= _FEWEST_CARDS for card in row])
    if not cards:
        return 0
    is_of_paragraphs = _length_of_paragraphs(tree) - sum(map(_length_of_paragraphs, cards)) >= _STORY_CHARACTERS
    if not is_of_paragraphs and _length_of_text(tree) - sum(len(card.text()) for card in cards) < _LONG_PAGE:
        return 0
    for card in cards:
        card.decompose()
    return len(cards)


def html_of_story(tree: LexborHTMLParser) -> str:
    """Of the page's only <article> or <main>, where that is what the page is for; else of all of it."""
    for css in _STORY_PLACES:
        places = tree.css(css)
        if len(places) == 1:
            inside = _length_of_paragraphs(places[0])
            # A river of teasers below the story may hold as much text as the story does.
            if inside >= _STORY_CHARACTERS and inside >= _STORY_SHARE * _length_of_paragraphs(tree):
                return _page_of(places[0].html or "")
    return tree.html or ""


def densest_part(tree: LexborHTMLParser) -> LexborNode | None:
    """The smallest part around the densest one that holds most of the page's paragraphs."""
    letters: Counter[int] = Counter()
    holders: dict[int, LexborNode] = {}
    paragraphs = tree.css("p")
    for paragraph, length in zip(paragraphs, _lengths(paragraphs), strict=False):
        if (holder := _holder_of(paragraph)) is not None:
            letters[holder.mem_id] += length
            holders[holder.mem_id] = holder
    if not letters:
        return None
    densest = max(letters, key=lambda one: letters[one])
    part, inside = holders[densest], letters[densest]
    for _ in range(_MOST_STEPS_OUT):
        if inside >= _MOST_PARAGRAPHS * letters.total() or part.parent is None or part.parent.tag == "body":
            break
        part = part.parent
        inside = _length_of_paragraphs(part)
    return part


def _holder_of(paragraph: LexborNode) -> LexborNode | None:
    """What is quoted stands in the story, and holds none."""
    holder = paragraph.parent
    while holder is not None and holder.tag == _QUOTATION:
        holder = holder.parent
    return holder


def html_of_densest(tree: LexborHTMLParser) -> str:
    part = densest_part(tree)
    return _page_of(part.html or "") if part is not None else tree.html or ""


def text_of_densest(tree: LexborHTMLParser) -> str:
    part = densest_part(tree)
    return comparable(part.text()) if part is not None else ""


class Paragraph(NamedTuple):
    """A paragraph of a page that is long enough for a story's, and what it stands in; `begins` is comparable."""

    holder: LexborNode
    begins: str
    letters: int


def prose_in(tree: LexborHTMLParser) -> list[Paragraph]:
    found, left = list[Paragraph](), _MOST_LETTERS
    for node in tree.css("p")[:_MOST_COUNTED]:
        text = node.text()
        if len(text) >= _SHORTEST_PROSE and (holder := node.parent) is not None:
            found.append(Paragraph(holder, comparable(text[:_LINE_BEGINS]), len(text)))
        left -= len(text)
        if left < 0:
            break
    return [*found, *_lines_in(tree)]


def _lines_in(tree: LexborHTMLParser) -> Iterator[Paragraph]:
    """What pages of old write between line breaks."""
    holders = {node.mem_id: node for one in tree.css("br")[:_MOST_BREAKS] if (node := one.parent) is not None}
    for holder in holders.values():
        for line in islice(holder.iter(include_text=True), _MOST_BREAKS) if holder.tag != "p" else ():
            if line.is_text_node and len(text := (line.text_content or "").strip()) >= _SHORTEST_PROSE:
                yield Paragraph(holder, comparable(text[:_LINE_BEGINS]), len(text))


class Parts(NamedTuple):
    """Elements that hold a story; `lost` are letters of theirs that a reading did not say."""

    holders: Sequence[LexborNode]
    lost: int


def parts_of_story(prose: Sequence[Paragraph], text: str) -> Parts:
    """The element that holds most of what was read, and those beside it or made like it that hold more of the same."""
    said = comparable(text)[: max(20_000, _MOST_LOOKED_THROUGH // max(len(prose), 1))]
    own, others = Counter[int](), Counter[int]()
    for one in prose:
        (own if one.begins in said else others)[one.holder.mem_id] += one.letters
    if not own:
        return Parts((), 0)
    holders = {one.holder.mem_id: one.holder for one in prose}
    main = holders[max(own, key=lambda one: own[one])]
    wanted = {main.mem_id: main} | {
        number: node
        for number, node in holders.items()
        if own[number] + others[number] >= _FEWEST_LETTERS and _is_kin(node, main)
    }
    parts = [node for number, node in holders.items() if number in wanted and not _is_inside(node, wanted)]
    return Parts(parts, sum(others[node.mem_id] for node in parts))


def _is_kin(node: LexborNode, main: LexborNode) -> bool:
    around, beside = node.parent, main.parent
    is_beside = around is not None and beside is not None and around.mem_id == beside.mem_id and beside.tag != "body"
    return (is_beside or _steps_to(node) == _steps_to(main)) and not _is_of_another(node, main)


def _steps_to(node: LexborNode) -> list[str]:
    steps, around = list[str](), node
    for _ in range(_STEPS_ALIKE):
        said = around.attributes
        steps.append(step_of(around.tag or "", said.get("id") or "", said.get("class") or ""))
        if around.parent is None:
            break
        around = around.parent
    return steps


def _is_of_another(node: LexborNode, main: LexborNode) -> bool:
    """Whether it lies in a story with a title of its own, as where a page shows the next one below."""
    own, other = _story_around(main), _story_around(node)
    return (
        other is not None and (own is None or own.mem_id != other.mem_id) and other.css_first("h1, h2 > a") is not None
    )


def _story_around(node: LexborNode) -> LexborNode | None:
    around: LexborNode | None = node
    for _ in range(_MOST_PARTS_AROUND):
        if around is None or around.tag == "article":
            break
        around = around.parent
    return around if around is not None and around.tag == "article" else None


def html_of_parts(parts: Parts) -> str:
    """One after the other, as if they were one."""
    return _page_of(f"<article>{''.join(f'<div>{one.inner_html}</div>' for one in parts.holders)}</article>")


def _is_inside(node: LexborNode, others: Collection[int]) -> bool:
    around = node.parent
    for _ in range(_MOST_PARTS_AROUND):
        if around is None or around.mem_id in others:
            break
        around = around.parent
    return around is not None and around.mem_id in others


def shown_words(tree: LexborHTMLParser) -> int:
    return count_words(tree.body.text(separator=" ")) if tree.body else 0


def story_ends(lines: Sequence[str], densest: str) -> int:
    """How many lines are the story's, all as `comparable` writes them: below the densest part stands what a publisher
    says below all its stories, where it is little.
    """
    # Each line is looked for in all of it: of very much, the beginning.
    densest = densest[: max(20_000, _MOST_LOOKED_THROUGH // max(len(lines), 1))]
    is_inside = [line[:_LINE_BEGINS] in densest for line in lines]
    end = max((at + 1 for at, inside in enumerate(is_inside) if inside), default=0)
    letters = list(map(len, lines))
    own = sum(length for length, inside in zip(letters, is_inside, strict=True) if inside)
    tail, whole = letters[end:], sum(letters)
    # A story that goes on there does so in paragraphs.
    is_brief = whole < _STORY_CHARACTERS or sum(map(_is_long, tail)) > _MOST_NOTICES
    is_notice = sum(tail) <= (_LONGEST_TAIL if is_brief else _LONGEST_NOTICE) * whole
    return end if own >= _IN_ONE_PART * whole and is_notice else len(lines)


def _is_long(letters: int) -> bool:
    return letters >= _SHORTEST_PROSE


def _page_of(html: str) -> str:
    return f"<html><body>{html}</body></html>"


def _length_of_text(tree: LexborHTMLParser) -> int:
    return len(tree.body.text()) if tree.body else 0


def _length_of_paragraphs(within: LexborHTMLParser | LexborNode) -> int:
    return sum(_lengths(within.css("p")))


def _lengths(paragraphs: Sequence[LexborNode]) -> Iterator[int]:
    """Of the first, where there is more of them than a page has letters: they lie in one another."""
    left = _MOST_LETTERS
    for paragraph in paragraphs[:_MOST_COUNTED]:
        length = len(paragraph.text())
        left -= length
        yield length
        if left < 0:
            break
