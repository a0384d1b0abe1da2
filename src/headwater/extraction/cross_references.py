"""Lines inside of a story that lead to another one, behind a label: `READ MORE: …`, `Lee también | …`. Pure."""

import re
from collections.abc import Sequence

from headwater.extraction.text import comparable
from headwater.languages import READ_MORE, fold

_LABEL = re.compile(r"[^:|>»→]{2,50}[:|>»→]\s+(?=\S)")
# How the target is shown: [VIDEO].
_KIND = re.compile(r"\s*\[[^\[\]]{1,20}\][\s|]*$")
_MOST_LABEL_WORDS, _FEWEST_WORDS, _LONGEST_LABEL = 5, 3, 60
_LONGEST = 400
_MARKS = "-–—* "
_LABELS = re.compile(rf"(?:{'|'.join(sorted(map(re.escape, map(fold, READ_MORE)), key=len, reverse=True))})(?!\w)")


def said_by_reference(line: str) -> str:
    """What such a line would lead to if it is a link: all behind its label, before the word on its kind; `comparable`.

    Nothing where it has neither.
    """
    if len(line) > _LONGEST:
        return ""
    said = line[label_letters(line) :]
    said = _KIND.sub("", said) if "]" in said else said
    return comparable(said) if said != line and len(said.split()) >= _FEWEST_WORDS else ""


def label_letters(line: str) -> int:
    """How long the label is that a line begins with; 0 where it begins with none."""
    label = _LABEL.match(line)
    return label.end() if label and len(label[0].split()) <= _MOST_LABEL_WORDS else 0


def is_link_behind_label(line: str, linked: int) -> bool:
    """By how many of its letters are linked."""
    label = label_letters(line) if linked and len(line) <= _LONGEST else 0
    return label > 0 and linked >= len(line) - label and len(line[label:].split()) >= _FEWEST_WORDS


def without_labels(lines: Sequence[str], are_left_out: Sequence[bool]) -> list[bool]:
    """Which lines stay: a label goes with all that it announced, and from the end of a text."""
    kept, leads_to_text = [not gone for gone in are_left_out], False
    for at in range(len(lines) - 1, -1, -1):
        is_empty = kept[at] and not leads_to_text and _is_label(lines[at], is_last=at == len(lines) - 1)
        leads_to_text = kept[at] = kept[at] and not is_empty
    return kept


def _is_label(line: str, *, is_last: bool) -> bool:
    if len(line) > _LONGEST_LABEL:
        return False
    # What a text ends with may announce code, which is found later.
    return (line.endswith(":") and not is_last) or _LABELS.match(fold(line).strip(_MARKS)) is not None
