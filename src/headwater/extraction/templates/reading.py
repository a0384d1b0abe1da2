"""A page read by one variant of a template: every block judged, and the figures to trust the result by."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median_low
from typing import NamedTuple

from headwater.extraction.structure.live import is_signature
from headwater.extraction.templates.blocks import Block
from headwater.extraction.templates.containers import depth_in
from headwater.extraction.templates.steps import HEADINGS, HIDDEN, tag_of
from headwater.extraction.templates.tables import CELLS, tables_of_data
from headwater.extraction.templates.template import Variant, hash_of
from headwater.extraction.templates.verdicts import BlockVerdict
from headwater.extraction.templates.votes import is_embed
from headwater.extraction.text import comparable

# A paragraph, as opposed to a caption, a teaser or a notice: what is outside the container and this long counts, or
# nearly as long as the page's own paragraphs: on some hosts, and in scripts of few letters, these are short.
_PARAGRAPH, _LIKE_ITS_OWN = 120, 0.7
_HEADLINE = 15
_LINKED = 0.25
_TEASER = 80
_PIECE, _MOST_PIECES = 120, 12  # longer than a sentence that is said again on purpose
_FEWEST_OF_MANY = 4
_LONG_WORD, _FEWEST_WORDS = 4, 3
_BEGINNING = 5_000  # letters, in which a story says what its title promised
_FEWEST_ANNOUNCED, _FEWEST_TEASERS = 3, 2
_TERM, _TERM_DEPTH = "dt", 3
_SENTENCE, _ROW = 60, 5  # letters, labels
_PUNCTUATION = 20  # letters that a title loses when it is made comparable
_OUTSIDE = BlockVerdict(keep=False, why="outside the container", is_seen=True, loses=True)
_LINK = BlockVerdict(keep=False, why="nothing but a link", is_seen=True)
_EMBED = BlockVerdict(keep=False, why="embedded from elsewhere", is_seen=True)
_TITLE = BlockVerdict(keep=False, why="the title again", is_seen=True)
_HEADING = BlockVerdict(keep=True, why="unseen path; heads text that is kept", is_seen=False)
_TWICE = BlockVerdict(keep=False, why="said before on this page", is_seen=True)
_HOST = BlockVerdict(keep=False, why="said on other pages of the host", is_seen=True)
_OF_TABLE = BlockVerdict(keep=True, why="a cell of a table that is kept", is_seen=True)
_ENTRY = BlockVerdict(keep=True, why="an entry of the live blog", is_seen=True)
_SIGNATURE = BlockVerdict(keep=False, why="signs an entry", is_seen=True)
_STRANGE_CELL = BlockVerdict(keep=False, why="unseen path, in a table", is_seen=False)
# Reasons against a text of its own, which say nothing against a cell: a table is kept whole.
_NO_TEXT_OF_ITS_OWN = (_LINK, _HOST, _TITLE, _TWICE)


class Judged(NamedTuple):
    """`hash` is of the text of what was kept or stands on an unknown path."""

    block: Block
    verdict: BlockVerdict
    hash: int = 0


class Traits(NamedTuple):
    """Signs that a page only looks like a story, as shares: 0 for most.

    `announced` are the kept blocks right below a link, as the teasers of a listing are, `teasers` the letters of those
    that carry such a link themselves, `copied` the long ones that stand on the page again, cut another way.
    """

    announced: float = 0.0
    teasers: float = 0.0
    copied: float = 0.0


@dataclass(frozen=True, slots=True)
class Measures:
    """Letters and shares of letters; `linked` is of what was kept, `kept` and `linked_around` of all inside.

    `unseen` is what unknown paths gave to the text or took from it, `hosted` what was left out as said on other pages,
    both of the text with what was left out so. `prose` are the letters of sentences.
    `containers` are those that text was kept from, `outside` the letters of paragraphs that stand in none
    or below an element that never held any; `lost_cells` are those of tables on unknown paths. `entries` are letters in
    those of a live blog, which count nowhere else: they are all laid out alike.
    """

    containers: int
    letters: int
    kept: float
    linked: float
    linked_around: float
    unseen: float
    hosted: float
    outside: int
    block_letters: float
    traits: Traits
    prose: int
    lost_cells: int = 0
    entries: int = 0


class KnownText(NamedTuple):
    """Text that must not come out as that of this page: its titles, and the host's blocks by hash."""

    titles: frozenset[str] = frozenset()
    repeated: frozenset[int] = frozenset()


def read(variant: Variant, blocks: Sequence[Block], seen: KnownText) -> list[Judged]:
    """Every block in document order with what becomes of it."""
    # Most paragraphs of a page share one path, and a verdict depends on nothing else.
    by_path: dict[tuple[str, ...], BlockVerdict] = {}
    said = _SaidSoFar({}, [])
    judged: list[Judged] = []
    longest_title = max(map(len, seen.titles), default=0) + _PUNCTUATION
    for block in blocks:
        if block.is_in_entry:
            judged.append(Judged(block, _verdict_on_entry(block)))
            continue
        verdict = by_path.get(block.path) or by_path.setdefault(block.path, _verdict(variant, block))
        if verdict.is_seen and not verdict.keep:
            judged.append(Judged(block, verdict))
        elif len(block.text) <= longest_title and comparable(block.text) in seen.titles:
            judged.append(Judged(block, _TITLE))
        else:
            judged.append(_second_look(block, verdict, seen, said, len(judged)))
    for at in said.copies():
        judged[at] = Judged(judged[at].block, _TWICE)
    for at in reversed(_strange_headings(judged)):
        if at + 1 < len(judged) and judged[at + 1].verdict.keep:
            judged[at] = judged[at]._replace(verdict=_HEADING)
    _judge_tables(judged)
    return judged


def measure(variant: Variant, judged: Sequence[Judged]) -> Measures:
    inside = [one for one in judged if one.verdict is not _OUTSIDE and not one.block.is_in_entry]
    kept = [one.block for one in inside if one.verdict.keep]
    letters, around = _letters(kept), _letters(one.block for one in inside)
    block_letters = letters / (len(kept) or 1)
    strange = [one for one in inside if not one.verdict.is_seen and not _is_like_its_text(one, block_letters)]
    lost = _letters(one.block for one in strange if not one.verdict.keep)
    hosted = _letters(one.block for one in inside if one.verdict is _HOST)
    return Measures(
        containers=_containers(variant, kept),
        letters=letters,
        kept=letters / (around or 1),
        linked=_linked(kept) / (letters or 1),
        linked_around=_linked(one.block for one in inside) / (around or 1),
        unseen=_letters(one.block for one in strange) / (letters + lost or 1),
        hosted=hosted / (letters + hosted or 1),
        outside=_outside(judged, kept),
        block_letters=block_letters,
        traits=traits_of(inside),
        prose=_letters(block for block in kept if is_sentence(block)),
        lost_cells=sum(one.verdict is _STRANGE_CELL for one in strange),
        entries=_letters(one.block for one in judged if one.verdict is _ENTRY),
    )


def is_sentence(block: Block) -> bool:
    return len(block.text) >= _SENTENCE


def _is_like_its_text(one: Judged, block_letters: float) -> bool:
    """A paragraph as long as others of the page, in a nesting of known elements that no training page had; or a heading
    of what is kept.
    """
    block = one.block
    if one.verdict is _HEADING:
        return len(block.text) <= _PARAGRAPH and not block.linked
    is_long = len(block.text) >= min(_PARAGRAPH, _LIKE_ITS_OWN * block_letters)
    is_prose = not block.teases and block.linked <= _LINKED * len(block.text)
    return one.verdict.keep and one.verdict.is_kin and is_long and is_prose


def traits_of(judged: Sequence[Judged]) -> Traits:
    kept = [one.block for one in judged if one.verdict.keep]
    # A teaser that other pages had too is one nonetheless.
    told = [one.block for one in judged if one.verdict.keep or one.verdict is _HOST]
    return Traits(
        announced=_announced(judged) / (len(kept) or 1),
        teasers=_teasers(told) / (_letters(told) or 1),
        copied=_copied(kept),
    )


def title_share(titles: Iterable[str], judged: Iterable[Judged]) -> float:
    """The share of a title's words that the text says; of several titles the one that fits best.

    On some hosts the first heading is the name of the paper.
    """
    text = " ".join(one.block.text for one in judged if one.verdict.keep)[:_BEGINNING].casefold()
    split = [[word for word in title.split() if len(word) >= _LONG_WORD] for title in titles]
    said = {word for word in {word for words in split for word in words} if word in text}
    shares = (len(said.intersection(words)) / len(words) for words in split if len(words) >= _FEWEST_WORDS)
    return max(shares, default=0.0)


def _verdict(variant: Variant, block: Block) -> BlockVerdict:
    depth = depth_in(block, variant.selector)
    if depth < 0:
        return _OUTSIDE
    return _EMBED if is_embed(block) else variant.verdicts.of(block.path[depth + 1 :])


def _verdict_on_entry(block: Block) -> BlockVerdict:
    if block.is_reference:
        return _LINK
    return _EMBED if is_embed(block) else _SIGNATURE if is_signature(block.text) else _ENTRY


def _second_look(block: Block, verdict: BlockVerdict, seen: KnownText, said: "_SaidSoFar", at: int) -> Judged:
    """At a block that its path would keep, or that stands on an unknown one."""
    if block.is_reference:
        return Judged(block, _LINK)
    own = hash_of(block.text)
    if own in seen.repeated:
        return Judged(block, _HOST)
    said.note(own, block, at)
    return Judged(block, verdict, own)


def _strange_headings(judged: Sequence[Judged]) -> list[int]:
    """On paths that training never saw: few stories have headings or terms, and seldom those that taught."""
    return [
        at
        for at, (block, verdict, own) in enumerate(judged)
        if own
        and not verdict.is_seen
        and (tag_of(block.path[-1]) in HEADINGS or _is_term(block))
        and not any(HIDDEN in step for step in block.path)
    ]


def _is_term(block: Block) -> bool:
    """Of a list of definitions, whose meaning comes next; what it is written with may stand between."""
    return any(tag_of(step) == _TERM for step in block.path[-_TERM_DEPTH:])


def _judge_tables(judged: list[Judged]) -> None:
    """Changes the list: a table of which something is kept is kept whole, but for what its path says."""
    cells = [at for at, one in enumerate(judged) if one.block.cell and one.verdict is not _OUTSIDE]
    for numbers in tables_of_data(judged[at].block for at in cells).values():
        table = [cells[number] for number in numbers]
        is_kept = any(judged[at].verdict.keep for at in table)
        for block, verdict, own, at in ((*judged[at], at) for at in table):
            if is_kept and verdict in _NO_TEXT_OF_ITS_OWN:
                judged[at] = Judged(block, _OF_TABLE)
            elif own and not verdict.keep and not any(HIDDEN in step for step in block.path):
                judged[at] = Judged(block, _STRANGE_CELL, own)


class _Again(NamedTuple):
    """A block that was said before: where it stands, its number and that of the first among those looked at twice."""

    at: int
    number: int
    first: int
    block: Block

    @property
    def is_sentence(self) -> bool:
        return is_sentence(self.block)


class _SaidSoFar(NamedTuple):
    """The blocks of a page so far, by hash, and those that came again."""

    first: dict[int, int]
    again: list[_Again]

    def note(self, own: int, block: Block, at: int) -> None:
        number = len(self.first) + len(self.again)
        first = self.first.setdefault(own, number)
        if first != number:
            self.again.append(_Again(at, number, first, block))

    def copies(self) -> Iterator[int]:
        """Places of a copy of the page's text: of a sentence said again, or of labels in a row. A label alone may be
        said again, as "1 tsp salt" in a second list; and so may all answers in a table.
        """
        run: list[_Again] = []
        for one in self.again:
            if run and (one.number, one.first) != (run[-1].number + 1, run[-1].first + 1):
                yield from _copied_in(run)
                run = []
            run.append(one)
        yield from _copied_in(run)


def _copied_in(run: Sequence[_Again]) -> Iterator[int]:
    is_copy = any(one.is_sentence for one in run)
    labels = () if is_copy else [one for one in run if tag_of(one.block.path[-1]) not in CELLS]
    return (one.at for one in run) if is_copy or len(labels) >= _ROW else iter(())


def _containers(variant: Variant, kept: Sequence[Block]) -> int:
    depths: dict[tuple[str, ...], int] = {}
    for block in kept:
        if block.path not in depths:
            depths[block.path] = depth_in(block, variant.selector)
    return len({block.places[depths[block.path]] for block in kept})


def _announced(inside: Sequence[Judged]) -> int:
    announced = sum(one.verdict.keep and _is_headline(above.block) for above, one in pairwise(inside))
    return announced if announced >= _FEWEST_ANNOUNCED else 0


def _is_headline(block: Block) -> bool:
    return len(block.text) >= _HEADLINE and block.is_link


def _outside(judged: Sequence[Judged], kept: Sequence[Block]) -> int:
    """Letters that nobody would miss on a usual page. Of whatever kind of element: a site that moves its text may well
    stop calling it paragraphs.
    """
    own = median_low(len(block.text) for block in kept) if kept else _PARAGRAPH
    least = min(_PARAGRAPH, _LIKE_ITS_OWN * own)
    # Inside the container every word counts: a list of text may stand where only lists of links did.
    lost = (
        one.block
        for one in judged
        if one.verdict.loses and (one.verdict is not _OUTSIDE or len(one.block.text) >= least)
    )
    # A gallery says the same caption below every picture.
    texts = {block.text for block in lost if not block.is_link}
    return sum(map(len, texts.difference(block.text for block in kept)))


def _teasers(told: Sequence[Block]) -> int:
    teasing = [block for block in told if block.teases and len(block.text) >= _TEASER]
    return _letters(teasing) if len(teasing) >= _FEWEST_TEASERS else 0


def _copied(kept: Sequence[Block]) -> float:
    """By a piece from the middle of some long blocks: a copy may join the blocks, or cut them elsewhere."""
    text = " ".join(block.text for block in kept)
    begins = accumulate((len(block.text) + 1 for block in kept), initial=0)
    middles = [
        begin + (len(block.text) - _PIECE) // 2
        for begin, block in zip(begins, kept, strict=False)
        if len(block.text) >= _PARAGRAPH
    ]
    asked = middles[:: len(middles) // _MOST_PIECES + 1]
    again = sum(text.find(text[at : at + _PIECE], at + 1) >= 0 for at in asked)
    # One of many is a quotation that is shown large, or a summary.
    return 0.0 if again == 1 and len(asked) >= _FEWEST_OF_MANY else again / (len(asked) or 1)


def _letters(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _linked(blocks: Iterable[Block]) -> int:
    return sum(block.linked for block in blocks)
