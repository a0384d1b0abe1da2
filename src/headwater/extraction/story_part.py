"""The part of a pruned page that holds its story: where to look for its text, and where that ends."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.elements import outermost
from headwater.extraction.text import comparable, count_words

# Where these hold a story, the rest of the page is furniture: it takes the extractor half its time, and misleads it.
_STORY_PLACES = ("article", "main")
_STORY_CHARACTERS = 1_000
_STORY_SHARE = 0.4
_LONG_PAGE = 1_500  # of letters without a paragraph
_MOST_PARAGRAPHS, _MOST_STEPS_OUT = 0.7, 3
# A text that goes on this long below its densest part is in several parts.
_MOST_LOOKED_THROUGH = 200_000_000
_LONGEST_TAIL = 0.1
_IN_ONE_PART = 0.75
_LINE_BEGINS = 40


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
    everything = _length_of_paragraphs(tree)
    for css in _STORY_PLACES:
        places = tree.css(css)
        if len(places) == 1:
            inside = _length_of_paragraphs(places[0])
            # A river of teasers below the story may hold as much text as the story does.
            if inside >= _STORY_CHARACTERS and inside >= _STORY_SHARE * everything:
                return _page_of(places[0].html or "")
    return tree.html or ""


def densest_part(tree: LexborHTMLParser) -> LexborNode | None:
    """The smallest part around the densest one that holds most of the page's paragraphs."""
    letters: Counter[int] = Counter()
    holders: dict[int, LexborNode] = {}
    for paragraph in tree.css("p"):
        if (holder := paragraph.parent) is not None:
            letters[holder.mem_id] += len(paragraph.text())
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


def html_of_densest(tree: LexborHTMLParser) -> str:
    part = densest_part(tree)
    return _page_of(part.html or "") if part is not None else tree.html or ""


def text_of_densest(tree: LexborHTMLParser) -> str:
    part = densest_part(tree)
    return comparable(part.text()) if part is not None else ""


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
    is_in_one_part = own >= _IN_ONE_PART * sum(letters)
    return end if is_in_one_part and sum(letters[end:]) <= _LONGEST_TAIL * sum(letters) else len(lines)


def _page_of(html: str) -> str:
    return f"<html><body>{html}</body></html>"


def _length_of_text(tree: LexborHTMLParser) -> int:
    return len(tree.body.text()) if tree.body else 0


def _length_of_paragraphs(within: LexborHTMLParser | LexborNode) -> int:
    return sum(len(paragraph.text()) for paragraph in within.css("p"))
