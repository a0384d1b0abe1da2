"""Lines between a page's heading and its story that only say the section, who wrote it and when. Pure."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from headwater.extraction.dates import told_in
from headwater.extraction.text import comparable
from headwater.languages import AND, BEFORE_BY, BY, CHANGED, ROLES, fold, month_of, weekday_of

_LONGEST = 160
_NAMES_OF_SECTIONS = re.compile(r"[,/>|»›]")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN_NAMES = frozenset(map(fold, (*BY, *BEFORE_BY, *AND, *CHANGED, *ROLES)))
# Zones, halves of the day, and the small words that dates are written with.
_DATE_WORDS = "am pm a p m at on um uhr h le las il the of de del th st nd rd utc gmt z cet cest"
_AROUND_DATES = frozenset(_DATE_WORDS.split())


class PageHead(NamedTuple):
    """What the page says of itself, as `comparable` writes it."""

    sections: frozenset[str] = frozenset()
    authors: tuple[str, ...] = ()


def page_head(sections: Iterable[str], authors: Iterable[str]) -> PageHead:
    parts = (part for said in sections for part in (said, *_NAMES_OF_SECTIONS.split(said)))
    # Of two names the longer first, so that none leaves a part of the other.
    names = sorted({comparable(author) for author in authors} - {""}, key=len, reverse=True)
    return PageHead(frozenset(map(comparable, parts)) - {""}, tuple(names))


def is_head_line(line: str, head: PageHead) -> bool:
    """Nothing is left of it without the names of its authors, words like "by" and a date."""
    if len(line) > _LONGEST:
        return False
    compared = comparable(line)
    if compared in head.sections:
        return True
    left = f" {compared} "
    for name in head.authors:
        left = left.replace(f" {name} ", "  ")
    words = _WORD.findall(fold(left))
    is_said = len(left) < len(compared) + 2 or told_in(line) is not None
    return is_said and all(map(_is_around, words))


def _is_around(word: str) -> bool:
    return word in _BETWEEN_NAMES or word in _AROUND_DATES or bool(month_of(word)) or weekday_of(word) is not None
