"""A page read by one variant of a template: every block judged, and the figures to trust the result by."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from headwater.extract.templates.blocks import Block
from headwater.extract.templates.containers import depth_in
from headwater.extract.templates.steps import tag_of
from headwater.extract.templates.template import SAME_STORY, Variant, hash_of
from headwater.extract.templates.verdicts import Verdict
from headwater.extract.templates.votes import is_embed
from headwater.extract.text import comparable

# A paragraph, as opposed to a caption, a teaser or a notice: what is outside the container and this long counts.
_PARAGRAPH = 120
_HEADLINE = 15
_FEWEST_TEASERS = 3
# Text lost on an unknown path is worse than a notice too many.
_LOST = 2
_PUNCTUATION = 20  # letters that a title loses when it is made comparable
_OUTSIDE = Verdict(keep=False, why="outside the container", is_seen=True)
_LINK = Verdict(keep=False, why="nothing but a link", is_seen=True)
_EMBED = Verdict(keep=False, why="embedded from elsewhere", is_seen=True)
_TITLE = Verdict(keep=False, why="the title again", is_seen=True)
_TWICE = Verdict(keep=False, why="said before on this page", is_seen=True)
_HOST = Verdict(keep=False, why="said on other pages of the host", is_seen=True)


class Judged(NamedTuple):
    block: Block
    verdict: Verdict
    hash: int = 0


@dataclass(frozen=True, slots=True)
class Measures:
    """Letters and shares of letters; `linked` is of what was kept, `kept`, `linked_around` and `unseen` of all inside.

    On unseen paths, letters that were dropped count twice.
    `containers` are those that text was kept from, `outside` the letters of paragraphs that stand in none, `announced`
    is the share of the kept blocks above which a link stands, as it does above the teasers of a listing.
    """

    containers: int
    letters: int
    kept: float
    linked: float
    linked_around: float
    unseen: float
    outside: int
    block_letters: float
    announced: float


class Seen(NamedTuple):
    """What must not come out as text of this page: its titles, and the host's blocks by hash."""

    titles: frozenset[str] = frozenset()
    repeated: frozenset[int] = frozenset()
    emitted: frozenset[int] = frozenset()


def read(variant: Variant, blocks: Sequence[Block], seen: Seen) -> list[Judged]:
    """Every block in document order with what becomes of it."""
    # Most paragraphs of a page share one path, and a verdict depends on nothing else.
    by_path: dict[tuple[str, ...], Verdict] = {}
    said: set[int] = set()
    judged: list[Judged] = []
    longest_title = max(map(len, seen.titles), default=0) + _PUNCTUATION
    for block in blocks:
        verdict = by_path.get(block.path) or by_path.setdefault(block.path, _verdict(variant, block))
        if not verdict.keep:
            judged.append(Judged(block, verdict))
        elif len(block.text) <= longest_title and comparable(block.text) in seen.titles:
            judged.append(Judged(block, _TITLE))
        else:
            judged.append(_second_look(block, verdict, seen, said))
    return _without_emitted(judged, seen)


def measure(variant: Variant, judged: Sequence[Judged]) -> Measures:
    inside = [one for one in judged if one.verdict is not _OUTSIDE]
    kept = [one.block for one in inside if one.verdict.keep]
    letters, around = _letters(kept), _letters(one.block for one in inside)
    unseen = sum(len(one.block.text) * (1 if one.verdict.keep else _LOST) for one in inside if not one.verdict.is_seen)
    return Measures(
        containers=_containers(variant, kept),
        letters=letters,
        kept=letters / (around or 1),
        linked=_linked(kept) / (letters or 1),
        linked_around=_linked(one.block for one in inside) / (around or 1),
        unseen=unseen / (around or 1),
        outside=sum(len(one.block.text) for one in judged if one.verdict is _OUTSIDE and _is_paragraph(one.block)),
        block_letters=letters / (len(kept) or 1),
        announced=_announced(inside) / (len(kept) or 1),
    )


def _verdict(variant: Variant, block: Block) -> Verdict:
    depth = depth_in(block, variant.selector)
    if depth < 0:
        return _OUTSIDE
    return _EMBED if is_embed(block) else variant.verdicts.of(block.path[depth + 1 :])


def _second_look(block: Block, verdict: Verdict, seen: Seen, said: set[int]) -> Judged:
    """At a block that its path would keep."""
    if block.is_link:
        return Judged(block, _LINK)
    own = hash_of(block.text)
    if own in seen.repeated or own in said:
        return Judged(block, _TWICE if own in said else _HOST)
    said.add(own)
    return Judged(block, verdict, own)


def _without_emitted(judged: list[Judged], seen: Seen) -> list[Judged]:
    """Without what other pages said before, unless that is most of the text: then it is the same story again."""
    known = [one.block for one in judged if one.hash in seen.emitted and one.verdict.keep]
    if not known or _letters(known) > SAME_STORY * _letters(one.block for one in judged if one.verdict.keep):
        return judged
    return [Judged(one.block, _HOST) if one.verdict.keep and one.hash in seen.emitted else one for one in judged]


def _containers(variant: Variant, kept: Sequence[Block]) -> int:
    depths: dict[tuple[str, ...], int] = {}
    for block in kept:
        if block.path not in depths:
            depths[block.path] = depth_in(block, variant.selector)
    return len({block.places[depths[block.path]] for block in kept})


def _announced(inside: Sequence[Judged]) -> int:
    announced = sum(one.verdict.keep and _is_headline(above.block) for above, one in pairwise(inside))
    return announced if announced >= _FEWEST_TEASERS else 0


def _is_headline(block: Block) -> bool:
    return len(block.text) >= _HEADLINE and block.is_link


def _is_paragraph(block: Block) -> bool:
    return len(block.text) >= _PARAGRAPH and not block.is_link and tag_of(block.path[-1]) == "p"


def _letters(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _linked(blocks: Iterable[Block]) -> int:
    return sum(block.linked for block in blocks)
