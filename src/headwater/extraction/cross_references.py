"""Lines inside of a story that lead to another one, behind a label: `READ MORE: …`, `Lee también | …`. Pure."""

import re
from collections.abc import Collection, Sequence

from headwater.extraction.text import comparable
from headwater.languages import READ_MORE, fold

_LABEL = re.compile(r"[^:|>»→]{2,50}[:|>»→]\s+(?=\S)")
# How the target is shown: [VIDEO].
_KIND = re.compile(r"\s*\[[^\[\]]{1,20}\][\s|]*$")
_MOST_LABEL_WORDS, _FEWEST_WORDS, _LONGEST_LABEL = 5, 3, 60
_LONGEST = 400
_ENDS, _MARKS = (":", "…", "..."), "-–—* "
_LABELS = re.compile(rf"(?:{'|'.join(sorted(map(re.escape, map(fold, READ_MORE)), key=len, reverse=True))})(?!\w)")


def is_cross_reference(line: str, links: Collection[str]) -> bool:
    """All that follows its label, or stands before the word on its kind, is one of these links, as `comparable`s."""
    if len(line) > _LONGEST:
        return False
    label = _LABEL.match(line)
    behind = line[label.end() :] if label and len(label[0].split()) <= _MOST_LABEL_WORDS else line
    said = _KIND.sub("", behind)
    if said == line:
        return False
    target = comparable(said)
    return target in links and len(target.split()) >= _FEWEST_WORDS


def is_label(line: str) -> bool:
    """It announces what follows it: nothing is left of it where that is left out."""
    if len(line) > _LONGEST_LABEL:
        return False
    return line.endswith(_ENDS) or _LABELS.match(fold(line).strip(_MARKS)) is not None


def without_labels(lines: Sequence[str], are_left_out: Sequence[bool]) -> list[bool]:
    """Which lines stay: labels go with all that they announced."""
    kept = [not gone for gone in are_left_out]
    for at in range(len(lines) - 2, -1, -1):
        if kept[at] and not kept[at + 1] and is_label(lines[at]):
            kept[at] = False
    return kept
