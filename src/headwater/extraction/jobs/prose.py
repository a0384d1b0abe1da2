"""`Label: value` wherever it stands in text: a line each, behind bullets, or one after the other without a sign."""

import re
from functools import cache

from headwater.extraction.jobs.countries import leading_place
from headwater.extraction.jobs.dates import first_day_in
from headwater.extraction.jobs.labels import LABELS_IN_PROSE, OTHER_LABELS, fact_named
from headwater.extraction.jobs.vacancy import LONGEST_FACT
from headwater.languages import fold

# So much of a text is looked at, and so much behind a label.
_LONGEST_TEXT = 20_000
_LONGEST_VALUE = 200
_MOST_WORDS = 12
_SIGNS = re.compile(r"[\n|•·●▪■►]|\s[*]\s")
_SEPARATORS = re.compile(rf"{_SIGNS.pattern}|\s[–—-]\s")
_SENTENCE_ENDS = re.compile(r"(?<=[^\W\d_]{3})[.!?](?:\s|$)")
_PLACES = frozenset({"location", "country", "city"})
_DAYS = frozenset({"deadline", "posted"})


def facts_in_text(text: str) -> dict[str, str]:
    """The first value of each fact that a text labels with a colon."""
    text = text[:_LONGEST_TEXT]
    labels = list(_labels().finditer(text))
    facts: dict[str, str] = {}
    for at, label in enumerate(labels):
        end = labels[at + 1].start() if at + 1 < len(labels) else len(text)
        # Where nothing but the text's end closes a value, it may have run into what follows.
        is_closed = at + 1 < len(labels)
        name = fact_named(label["label"])
        value = _value(name, text[label.end() : min(end, label.end() + _LONGEST_VALUE)], is_closed=is_closed)
        if name and value:
            facts.setdefault(name, value[:LONGEST_FACT])
    return facts


def _value(name: str, behind: str, *, is_closed: bool) -> str:
    # A value may stand on the line below its label.
    behind = behind.lstrip()
    # `Masaka – Uganda` is one place.
    if name in _PLACES and (place := leading_place(_SIGNS.split(behind, maxsplit=1)[0])):
        return place
    cut = _SEPARATORS.split(behind, maxsplit=1)
    value, is_closed = cut[0].strip(" \t,;*_"), is_closed or len(cut) > 1
    if name in _DAYS:
        return value if first_day_in(value) or len(value.split()) <= _MOST_WORDS else ""
    value = _SENTENCE_ENDS.split(value, maxsplit=1)[0].strip()
    return value if is_closed or len(value.split()) <= _MOST_WORDS else ""


@cache
def _labels() -> re.Pattern[str]:
    """Before a colon, with a remark in brackets at most; not inside a word, and not behind `the` or `our`."""
    known = sorted({spelt for term in (*LABELS_IN_PROSE, *OTHER_LABELS) for spelt in (term, fold(term))})
    terms = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in sorted(known, key=len, reverse=True))
    return re.compile(rf"(?<![\w'’/-])(?P<label>{terms})(?:\s*\([^)\n]{{0,40}}\))?\s*[:：]", re.IGNORECASE)
