"""A host's template beside one of its pages: what it is sent with, and what came of it."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import orjson

from headwater.extraction.templates.repeats import SHORTEST_NOTICE
from headwater.extraction.templates.server import ServedPage
from headwater.extraction.templates.template import Template, template_from, template_to_json
from headwater.extraction.templates.votes import Teacher, cells_in, lines_of
from headwater.extraction.text import comparable, tokens

PRODUCER = "template"
DISAGREES = "disagrees"
# Below this the two read different texts, and the one that knows nothing of the host is believed.
SAME_TEXT = 0.4
_RUN = 3
_FEWEST_CELLS, _LONGEST_CELL = 2, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """`name` is what a document will say it was read by, `template` what `template_to_json` wrote, as JSON."""

    name: str
    template: str
    audits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Guided:
    """`refused` says why the template did not speak for the page; `agreement` is with the general extractor, where
    that was asked as well; `doubted_sentences` are the blocks that only the template kept, for `Template.after`.
    """

    refused: str = ""
    agreement: float | None = None
    doubted: tuple[int, ...] = ()


def pack_template(template: Template) -> str:
    """For a guide: what audits doubted is nothing a page has to know."""
    return orjson.dumps(template_to_json(replace(template, doubted=()))).decode()


def name_of(section: str, version: int) -> str:
    """`template@3`, or `template/sport@3` where only a section of the host is laid out like this."""
    return f"{PRODUCER}{f'/{section}' if section else ''}@{version}"


def template_in(guide: Guide) -> Template | None:
    return _unpacked(guide.template)


@lru_cache(1_024)
def _unpacked(template: str) -> Template | None:
    return template_from(orjson.loads(template))


def agreement(ours: str, general: str, headings: Collection[str] = ()) -> float:
    """How much of what a template and the general extractor read is the same, 0 to 1: the least of words, lines,
    headings and rows of tables. A text that lost all its headings, or the form of its tables, still says nearly every
    word.

    `headings` are those of the page, as `comparable` writes them.
    """
    return min(_agreeing_words(ours, general), _agreeing_lines(ours, general, headings), _agreeing_rows(ours, general))


def doubted_sentences(answer: ServedPage, general: str) -> tuple[int, ...]:
    """The sentences of a page that only its template kept."""
    teacher = Teacher(general)
    told = zip(answer.paragraphs, answer.hashes, strict=False)
    long = ((line, own) for line, own in told if own and len(line) >= SHORTEST_NOTICE)
    return tuple(own for line, own in long if teacher.keeps(comparable(line)) is False)


def _agreeing_words(one: str, other: str) -> float:
    """The runs of three words they share."""
    ours, theirs = _runs(one), _runs(other)
    return _share((ours & theirs).total() * 2, ours.total() + theirs.total())


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = tokens(text)
    return Counter(zip(*(words[at:] for at in range(_RUN)), strict=False))


def _agreeing_lines(ours: str, general: str, headings: Collection[str]) -> float:
    """Each counts once, however short it is."""
    kept, wanted = lines_of(ours), lines_of(general)
    known, other = Teacher(ours), Teacher(general)
    has = {line: known.keeps(line) is not False for line in wanted}
    both = sum(has[line] for line in wanted) + sum(other.keeps(line) is not False for line in kept)
    led = [line for line, below in pairwise(wanted) if line in headings and (has[below] or below in headings)]
    # One more than there are: a single heading may be the general extractor's mistake.
    return min(_share(both, len(kept) + len(wanted)), _share(1 + sum(has[line] for line in led), 1 + len(led)))


def _agreeing_rows(ours: str, general: str) -> float:
    wanted, kept = _rows(general), _rows(ours)
    # One more than there are: a single row may be the general extractor's mistake.
    return _share(1 + (wanted & kept).total(), 1 + wanted.total())


def _rows(text: str) -> Counter[tuple[str, ...]]:
    """By their cells that say something. What has long texts in its cells lays out the page."""
    rows = (tuple(filter(None, map(comparable, cells_in(line)))) for line in text.split("\n"))
    return Counter(row for row in rows if len(row) >= _FEWEST_CELLS and max(map(len, row)) <= _LONGEST_CELL)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
