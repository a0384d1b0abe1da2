"""From a few pages of a host to its template: the function to read first here."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from statistics import median_low
from typing import NamedTuple
from urllib.parse import urlsplit

from headwater.extraction.dates import moment_from
from headwater.extraction.elements import Elements
from headwater.extraction.hidden import visible_page
from headwater.extraction.templates.blocks import blocks_of
from headwater.extraction.templates.containers import choose_containers, depth_in, holds
from headwater.extraction.templates.facts import (
    FEATURES,
    Facts,
    author_places,
    date_places,
    has_feature,
    title_places,
    value_at,
)
from headwater.extraction.templates.interstitials import asks_for_consent, says_nothing_is_here, sells_the_rest
from headwater.extraction.templates.reading import Judged, KnownText, Measures, measure, read, title_share, traits_of
from headwater.extraction.templates.repeats import settle_repeats
from headwater.extraction.templates.server import attempts
from headwater.extraction.templates.steps import HEADINGS, tag_of
from headwater.extraction.templates.tables import CELLS
from headwater.extraction.templates.template import MOST_REPEATED, Places, Ranges, Template, Variant, hash_of
from headwater.extraction.templates.verdicts import BlockVerdict, ElementPath, learn_verdicts
from headwater.extraction.templates.votes import Teacher, Vote, repeated_texts, teachers_of, votes_on
from headwater.extraction.text import comparable, count_words

FEWEST_PAGES = 3
# So few stories are enough where the host's live blogs are as many: a host that is full of them has stories, too.
_FEWEST_STORIES = 2
FEWEST_AGREEING = 2
_FEWEST_WORDS = 50
# Lower than one would think: a template is worth most on hosts where the general extractor is wrong.
_AGREEMENT = 0.75
_MOSTLY = 0.4
_SAME_LETTERS = 0.5
_FEWEST_HEADINGS, _FEWEST_CELLS = 2, 6


class NotLearnedReason(StrEnum):
    TOO_FEW_PAGES = "too_few_pages"
    NO_CONTAINER = "no_container"
    DISAGREES = "disagrees_with_teachers"


@dataclass(frozen=True, slots=True)
class NotLearned:
    reason: NotLearnedReason


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPage:
    """A page with what the general extractor and the feed said about it; `feed` is text, one paragraph a line."""

    url: str
    html: str
    general: str
    feed: str = ""
    title: str = ""
    author: str = ""
    authors: tuple[str, ...] = ()
    published_at: datetime | None = None
    zone: tzinfo = UTC


class _Example(NamedTuple):
    page: TrainingPage
    facts: Facts
    votes: Sequence[Vote]


class _Result(NamedTuple):
    judged: Sequence[Judged]
    measures: Measures
    named: float

    @property
    def hashes(self) -> list[int]:
        return [one.hash for one in self.judged if one.hash]


def learn(pages: Sequence[TrainingPage]) -> Template | NotLearned:
    """Equal pages in equal order teach equal templates. Pages with the same path count once, short ones not at all."""
    told = _examples(_distinct(pages))
    examples = [example for example in told if _is_story(example)]
    if not _are_enough(examples, told):
        return NotLearned(NotLearnedReason.TOO_FEW_PAGES)
    selectors = choose_containers([example.votes for example in examples])
    if not selectors:
        return NotLearned(NotLearnedReason.NO_CONTAINER)
    others = [example for example in told if not _is_story(example)]
    examples = _settled(selectors, examples, [frozenset(vote.key for vote in one.votes) for one in others])
    variants = tuple(_variant(selector, selectors, examples) for selector in selectors)
    results = [result for example in examples if (result := _agreeing(variants, example))]
    if len(results) < FEWEST_AGREEING or len(results) < len(examples) / 2:
        return NotLearned(NotLearnedReason.DISAGREES)
    wanted = {hash_of(vote.block.text) for example in examples for vote in example.votes if vote.keep}
    elsewhere = {hash_of(vote.block.text) for example in others for vote in example.votes}
    repeated = _on_several([result.hashes for result in results], elsewhere, wanted)
    template = Template(
        variants=variants,
        ranges=_ranges(results, repeated),
        required=tuple(name for name in FEATURES if all(has_feature(example.facts, name) for example in examples)),
        places=_places(examples),
        pages=len(examples),
        repeated=repeated,
    )
    if any(_is_misread(template, example) for example in examples):
        return NotLearned(NotLearnedReason.DISAGREES)
    return template


def _are_enough(stories: Sequence[_Example], told: Sequence[_Example]) -> bool:
    live = sum(example.facts.is_live for example in told)
    return len(stories) >= FEWEST_PAGES or (len(stories) >= _FEWEST_STORIES and live >= len(stories))


def _is_misread(template: Template, example: _Example) -> bool:
    """Whether a variant before its own would serve it: what a relaunch left in the old place may pass for a text."""
    own = _speaker_for(example, [one.selector for one in template.variants])
    first = next((one.selector for one in attempts(template, example.facts) if one.against is None), None)
    return own is not None and first is not None and first != own


def _distinct(pages: Sequence[TrainingPage]) -> list[TrainingPage]:
    """By address, and by text: the same story under two addresses would make all of it look like the host's own."""
    long = [page for page in pages if count_words(page.general) >= _FEWEST_WORDS]
    by_path = {urlsplit(page.url)[2:4]: page for page in long}
    kept: list[tuple[TrainingPage, frozenset[str]]] = []
    for page in reversed(by_path.values()):
        lines = frozenset(map(comparable, page.general.split("\n")))
        if not any(_are_the_same(lines, others) for _, others in kept):
            kept.append((page, lines))
    return [page for page, _ in reversed(kept)]


def _are_the_same(lines: frozenset[str], others: frozenset[str]) -> bool:
    """By letters: recipes may share most of their lines, and none of their sentences."""
    both, *each = (sum(map(len, chosen)) for chosen in (lines & others, lines, others))
    return both > _SAME_LETTERS * min(each)


def _examples(pages: Sequence[TrainingPage]) -> list[_Example]:
    facts = [_facts(page) for page in pages]
    repeated = repeated_texts([one.blocks for one in facts])
    return [
        _Example(page, one, votes_on(one.blocks, _teachers(page, one), one.titles, repeated))
        for page, one in zip(pages, facts, strict=True)
    ]


def _is_story(example: _Example) -> bool:
    """Whether it is what templates are for: what a host showed us holds its listings, walls and live blogs too."""
    facts, text = example.facts, example.page.general
    words = count_words(text)
    if facts.is_live or says_nothing_is_here((facts.page_title, facts.heading)) or asks_for_consent(text, words):
        return False
    voted = [Judged(vote.block, BlockVerdict(vote.keep is True, "by vote", is_seen=True)) for vote in example.votes]
    return max(traits_of(voted)) <= _MOSTLY and not sells_the_rest(text, words, is_short=False)


def _facts(page: TrainingPage) -> Facts:
    tree = visible_page(page.html)
    return Facts(Elements(tree), blocks_of(tree), page.zone)


def _teachers(page: TrainingPage, facts: Facts) -> list[Teacher]:
    said = facts.article.node.get("articleBody")
    structured = said if isinstance(said, str) and has_feature(facts, "linked:article") else ""
    return teachers_of(page.general, structured, page.feed)


def _settled(
    selectors: Sequence[str], examples: Sequence[_Example], others: Sequence[Collection[str]]
) -> list[_Example]:
    """With the votes on repeated texts decided, in the container that speaks for each page."""
    found = list(examples)
    for selector in selectors:
        own = [at for at, example in enumerate(examples) if _speaker_for(example, selectors) == selector]
        settled = settle_repeats([_ways(selector, examples[at]) for at in own], others)
        for at, page in zip(own, settled, strict=True):
            decided = {id(vote.block): vote for _, vote in page}
            found[at] = found[at]._replace(votes=[decided.get(id(vote.block), vote) for vote in found[at].votes])
    return found


def _variant(selector: str, selectors: Sequence[str], examples: Sequence[_Example]) -> Variant:
    """Learned from the pages it will speak for."""
    own = [example for example in examples if _speaker_for(example, selectors) == selector]
    verdicts = learn_verdicts([_ways(selector, example) for example in own])
    return Variant(selector, max(_containers(selector, example.votes) for example in own), verdicts)


def _speaker_for(example: _Example, selectors: Sequence[str]) -> str | None:
    return next((one for one in selectors if holds(one, example.votes)), None)


def _ways(selector: str, example: _Example) -> list[tuple[ElementPath, Vote]]:
    found = ((depth_in(vote.block, selector), vote) for vote in example.votes)
    return [(vote.block.path[depth + 1 :], vote) for depth, vote in found if depth >= 0]


def _containers(selector: str, votes: Iterable[Vote]) -> int:
    found = ((depth_in(vote.block, selector), vote.block) for vote in votes if vote.keep)
    return len({block.places[depth] for depth, block in found if depth >= 0})


def _agreeing(variants: Sequence[Variant], example: _Example) -> _Result | None:
    """The page as its own variant reads it, unless its teachers would not know it again."""
    selector = _speaker_for(example, [one.selector for one in variants])
    variant = next((one for one in variants if one.selector == selector), None)
    if variant is None:
        return None
    judged = read(variant, example.facts.blocks, KnownText(example.facts.titles))
    kept = {id(one.block) for one in judged if one.verdict.keep}
    wanted = {id(vote.block) for vote in example.votes if vote.keep}
    letters = {id(block): len(block.text) for block in example.facts.blocks}
    both, either = (sum(letters[one] for one in chosen) for chosen in (kept & wanted, [*kept, *wanted]))
    inside = _ways(variant.selector, example)
    is_lossy = _loses_most(inside, kept, HEADINGS, _FEWEST_HEADINGS) or _loses_most(inside, kept, CELLS, _FEWEST_CELLS)
    if is_lossy or not 2 * both >= _AGREEMENT * either > 0:
        return None
    return _Result(judged, measure(variant, judged), title_share(example.facts.titles, judged))


def _loses_most(
    inside: Sequence[tuple[ElementPath, Vote]], kept: Collection[int], tags: frozenset[str], fewest: int
) -> bool:
    """Of the headings or cells that its teachers kept: letters alone would hardly show it."""
    wanted = [vote.block for way, vote in inside if vote.keep and not tags.isdisjoint(map(tag_of, way[-1:]))]
    return len(wanted) >= fewest and sum(id(block) in kept for block in wanted) < len(wanted) / 2


def _ranges(results: Sequence[_Result], repeated: Collection[int]) -> Ranges:
    measured = [result.measures for result in results]
    return Ranges(
        shortest=min(one.letters for one in measured),
        longest=max(one.letters for one in measured),
        least_kept=round(min(one.kept for one in measured), 3),
        most_linked=round(max(one.linked for one in measured), 3),
        most_linked_around=round(max(one.linked_around for one in measured), 3),
        outside=median_low(one.outside for one in measured),
        shortest_blocks=round(min(one.block_letters for one in measured), 1),
        announced=round(median_low(one.traits.announced for one in measured), 3),
        teasers=round(median_low(one.traits.teasers for one in measured), 3),
        copied=round(median_low(one.traits.copied for one in measured), 3),
        least_named=round(min(result.named for result in results), 3),
        hosted=round(median_low(_hosted(result, repeated) for result in results), 3),
    )


def _hosted(result: _Result, repeated: Collection[int]) -> float:
    told = [one for one in result.judged if one.hash]
    said = sum(len(one.block.text) for one in told if one.hash in repeated)
    return said / (sum(len(one.block.text) for one in told) or 1)


def _on_several(pages: Sequence[Sequence[int]], elsewhere: Collection[int], wanted: Collection[int]) -> tuple[int, ...]:
    """Said by two stories, or by one and by what else the host showed."""
    times = Counter(one for page in pages for one in set(page))
    said = (one for one, count in times.items() if count + (one in elsewhere) > 1 and one not in wanted)
    return tuple(sorted(said))[:MOST_REPEATED]


def _places(examples: Sequence[_Example]) -> Places:
    return Places(
        title=_right_place(examples, title_places, lambda page: page.title, comparable),
        author=_right_place(examples, author_places, lambda page: page.author, comparable),
        published=_right_place(
            examples,
            date_places,
            lambda page: page.published_at.isoformat() if page.published_at else "",
            lambda written: str(moment_from(written)),
        ),
    )


def _right_place(
    examples: Sequence[_Example],
    places: Callable[[Facts, str], Iterator[str]],
    known: Callable[[TrainingPage], str],
    form: Callable[[str], str],
) -> str:
    """The one that agrees with what is known on most pages; on a tie the first, as they come best first."""
    right: Counter[str] = Counter()
    for example in examples:
        truth = known(example.page)
        for place in dict.fromkeys(places(example.facts, truth)) if truth else ():
            right[place] += form(value_at(example.facts, place)) == form(truth)
    best = max(right, key=lambda place: right[place], default="")
    return best if best and right[best] * 2 > len(examples) else ""
