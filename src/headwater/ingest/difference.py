"""The difference between two readings of one page, and their likeness. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

import orjson

from headwater.archive.documents import RENEWED, TRACKED, NewDocument
from headwater.archive.reads import Document
from headwater.blocks.block import BodyBlock, unpack_blocks
from headwater.storable import storable, storable_json

# Beside what makes a new version: shown with it, since rules are judged by it.
SHOWN = (*TRACKED, "word_count", "quality", "produced_by")
SHOWN_LINES = 3
# A page may have a hundred thousand lines.
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """The change. `likeness`: how much of the two texts' words they share, 0 to 1, in whatever order.

    `is_of_parts`: what is said is the same, and only what belongs to the text is read otherwise.
    """

    fields: Mapping[str, tuple[Any, Any]]
    likeness: float = 1.0
    lines_gone: tuple[str, ...] = ()
    lines_come: tuple[str, ...] = ()
    is_change: bool = False
    is_of_parts: bool = False


def difference(old: Document, blocks: tuple[BodyBlock, ...], new: NewDocument) -> Difference:
    """By the rules of the archive: where it would write nothing, nothing is different. `blocks` are the old one's."""
    before, after = ({name: storable(getattr(one, name)) for name in SHOWN} for one in (old, new))
    before["rights"], after["rights"] = old.rights["statements"], new.rights.said
    is_text_changed = old.content_hash != new.content_hash
    is_said_anew = is_text_changed or any(before[name] != after[name] for name in (*TRACKED, "rights"))
    parts = dict(_parts_that_differ(old, blocks, new))
    if not is_said_anew and not parts:
        return Difference({})
    fields = {name: (before[name], after[name]) for name in before if before[name] != after[name]} | parts
    if not is_text_changed:
        return Difference(fields, is_change=True, is_of_parts=not is_said_anew)
    then, now = old.text, storable(new.text)
    return Difference(fields, likeness(then, now), only_in(then, now), only_in(now, then), is_change=True)


def _parts_that_differ(
    old: Document, blocks: tuple[BodyBlock, ...], new: NewDocument
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Of blocks only how many there are; of the metadata each name by itself."""
    made = unpack_blocks(new.blocks, new.text)
    if blocks != made:
        yield "blocks", (len(blocks), len(made))
    for name in RENEWED:
        before, after = getattr(old, name), storable(getattr(new, name))
        if not isinstance(before, Mapping):
            if before != after:
                yield name, (before, after)
            continue
        after = orjson.loads(storable_json(after))
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                yield f"{name}.{key}", (before.get(key), after.get(key))


def likeness(one: str, other: str) -> float:
    """Linear in their lengths, which an alignment would not be: a page may have a hundred thousand words."""
    words, others = Counter(one.split()), Counter(other.split())
    return 2 * (words & others).total() / max(1, words.total() + others.total())


def only_in(text: str, other: str) -> tuple[str, ...]:
    """The first lines of a text that the other one lacks."""
    known = {line.strip() for line in other.splitlines()}
    return tuple(line.strip() for line in text.splitlines() if line.strip() not in known)[:SHOWN_LINES]


def side_by_side(one: str, other: str) -> tuple[tuple[str, str], ...]:
    """Lines that only one text has, beside those that stand in the same place of the other; linear, as `likeness`."""
    lines, others = ([line.strip() for line in text.splitlines() if line.strip()] for text in (one, other))
    shared = {*lines} & {*others}
    ours, theirs = _by_place(lines, shared), _by_place(others, shared)
    rows = (row for place in ours for row in zip_longest(ours[place], theirs[place], fillvalue=""))
    return tuple(islice(rows, MOST_ROWS))


def _by_place(lines: Iterable[str], shared: set[str]) -> dict[str, list[str]]:
    """Lines of one text alone, by the shared line before them; with every shared line, so that its order is known."""
    before = ""
    found: dict[str, list[str]] = {before: []}
    for line in lines:
        if line in shared:
            before = line
            found.setdefault(line, [])
        else:
            found[before].append(line)
    return found
