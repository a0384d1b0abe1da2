"""Which blocks of a training page are its text, by the word of those who read it before."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from headwater.extraction.templates.blocks import Block
from headwater.extraction.templates.steps import HEADINGS, tag_of
from headwater.extraction.text import comparable, count_words

# Beside the general extractor's, a text this much shorter is a summary and would vote paragraphs out.
_LONG_ENOUGH = 0.6
_SHORTEST_WITHIN = 25
_ITEM = "- "
_BAR = re.compile(r"(?<!\\)\|")
_RUN = 4
_FEWEST_RUNS = 5
_FEWEST_LINES = 2
_SURELY, _HARDLY = 0.6, 0.3
_EMBED = re.compile(r"twitter|instagram|tiktok|facebook|embed|newsletter|disclaimer", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Vote:
    """`keep` is none where nobody can tell, or where other pages say the same: then `if_own` is the teachers' word, for
    `repeats.settled` to judge by.
    """

    block: Block
    key: str
    keep: bool | None
    is_repeated: bool = False
    if_own: bool | None = None


class Teacher:
    """One reader's text, asked block by block."""

    def __init__(self, text: str) -> None:
        lines = [comparable(line) for line in text.split("\n")]
        self._items = [comparable(line) for line in text.split("\n") if line.startswith(_ITEM)]
        cells = [comparable(cell) for line in text.split("\n") for cell in cells_in(line)]
        self._lines = frozenset([*lines, *cells])
        self._cells = f" {' | '.join(cells)} "
        self._whole = f" {' '.join(lines)} "
        self._is_flat = len(lines) < _FEWEST_LINES
        self._runs = frozenset(_runs(self._whole.split()))

    def keeps(self, key: str, *, is_in_cell: bool = False) -> bool | None:
        if key in self._lines or (len(key) >= _SHORTEST_WITHIN and f" {key} " in self._whole):
            return True
        if is_in_cell and f" {key} " in self._cells:
            # All lines of a cell are written as one.
            return True
        if any(item.startswith(f"{key} ") for item in self._items):
            # A general extractor writes all that an item holds as one line, its heading first.
            return True
        runs = list(_runs(key.split()))
        if len(runs) < _FEWEST_RUNS:
            # Where all paragraphs are one line, a label in it is none to be seen.
            return None if self._is_flat and f" {key} " in self._whole else False
        share = sum(run in self._runs for run in runs) / len(runs)
        return True if share >= _SURELY else False if share <= _HARDLY else None


def teachers_of(general: str, *others: str) -> list[Teacher]:
    """The general extractor always; the others where they have as much to say."""
    words = count_words(general)
    return [Teacher(general), *(Teacher(text) for text in others if text and count_words(text) >= words * _LONG_ENOUGH)]


def votes_on(
    blocks: Sequence[Block], teachers: Sequence[Teacher], titles: frozenset[str], repeated: frozenset[str]
) -> list[Vote]:
    votes, said = list[Vote](), set[str]()
    for block, key in ((block, key) for block in blocks if (key := comparable(block.text))):
        word = None if _is_void(block, key, titles) else _majority(block, key, teachers)
        # That a link was left out says nothing; but a table may be of links.
        word = None if block.is_reference and not word else word
        # A page may hold its text twice: the second time it is neither wanted nor unwanted.
        word = None if word and key in said else word
        is_repeated = key in repeated
        votes.append(Vote(block, key, None if is_repeated else word, is_repeated, word if is_repeated else None))
        said.add(key)
    return votes


def repeated_texts(pages: Sequence[Sequence[Block]]) -> frozenset[str]:
    """Texts that stand on two of these pages or more: the host may say them rather than the story."""
    counted = Counter(key for blocks in pages for key in {comparable(block.text) for block in blocks})
    return frozenset(key for key, times in counted.items() if times > 1)


def lines_of(text: str) -> list[str]:
    """As `comparable` writes them, tables cell by cell."""
    cells = (cell for line in text.split("\n") for cell in cells_in(line) or [line])
    return [line for cell in cells if (line := comparable(cell))]


def cells_in(line: str) -> list[str]:
    """A general extractor writes a row of a table as one line."""
    return _BAR.split(line) if line.startswith("|") else []


def is_embed(block: Block) -> bool:
    return any(map(_names_embed, block.path[-3:]))


@lru_cache(maxsize=8_192)
def _names_embed(step: str) -> bool:
    return _EMBED.search(step) is not None


def _is_void(block: Block, key: str, titles: frozenset[str]) -> bool:
    return (block.is_reference and block.cell is None) or key in titles or is_embed(block)


def _majority(block: Block, key: str, teachers: Sequence[Teacher]) -> bool | None:
    answers = [teacher.keeps(key, is_in_cell=block.cell is not None) for teacher in teachers]
    if tag_of(block.path[-1]) in HEADINGS:
        # Structured data and feeds leave them out of what is a whole text otherwise.
        answers = [answers[0], *(answer for answer in answers[1:] if answer)]
    balance = answers.count(True) - answers.count(False)
    return None if balance == 0 else balance > 0


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
