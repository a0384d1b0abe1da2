"""A page read by its host's template, or the reason why it must be read the general way."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum

from headwater.extraction.elements import Elements
from headwater.extraction.hidden import visible_page
from headwater.extraction.page_type import SHORTEST_ARTICLE_WORDS
from headwater.extraction.structure.live import live_blog_in
from headwater.extraction.templates.blocks import blocks_of
from headwater.extraction.templates.facts import Facts, has_feature, moment_at, value_at
from headwater.extraction.templates.interstitials import asks_for_consent, says_nothing_is_here, sells_the_rest
from headwater.extraction.templates.reading import Judged, KnownText, Measures, is_sentence, measure, read, title_share
from headwater.extraction.templates.steps import tag_of
from headwater.extraction.templates.tables import rows_of, tables_of_data
from headwater.extraction.templates.template import Ranges, Template
from headwater.extraction.text import LONGEST_TEXT, count_words, page_line

_FAR = 8
_SHORTEST_LETTERS, _LONG_FOR_ONE = 250, 500  # the second of a single paragraph
_NOTICE, _SURELY_ENOUGH = 1_200, 3_000  # letters: few notices are longer than the one, none than the other
_MOST_UNSEEN, _A_TABLE = 0.1, 4
_HALF = 0.5
_MANY_FEATURES = 3
_LINKED, _LINKED_AROUND = 0.25, 0.5
_OUTSIDE = 0.2
_CHOPPED = 0.3
_ANNOUNCED = 0.35
_TEASERS, _COPIED, _HOSTED = 0.12, 0.1, 0.1
_UNNAMED, _WELL_NAMED = 0.1, 0.5
_ITEM, _ITEMS, _NEAR = "- ", frozenset({"li", "dt", "dd"}), 3


class TemplateRefusalReason(StrEnum):
    """Why a template does not speak for a page."""

    FEATURE_MISSING = "feature_missing"
    LIVE_BLOG = "live_blog"
    SOFT_404 = "soft_404"
    NO_CONTAINER = "no_container"
    TOO_MANY_CONTAINERS = "too_many_containers"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    UNSEEN_PATHS = "unseen_paths"
    TOO_LITTLE_KEPT = "too_little_kept"
    TOO_MANY_LINKS = "too_many_links"
    TEXT_OUTSIDE = "text_outside"
    CHOPPED = "chopped"
    LISTING = "listing"
    TEASERS = "teasers"
    SAID_TWICE = "said_twice"
    SAID_ELSEWHERE = "said_elsewhere"
    OFF_ITS_TITLE = "off_its_title"
    CONSENT_WALL = "consent_wall"
    PAYWALL = "paywall"


@dataclass(frozen=True, slots=True)
class TemplateRefusal:
    reason: TemplateRefusalReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedPage:
    """`hashes` name the paragraphs, 0 what is none; a fact is empty where the template knows no place for it."""

    paragraphs: tuple[str, ...]
    title: str
    author: str
    published_at: datetime | None
    selector: str
    measures: Measures
    hashes: tuple[int, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.paragraphs)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One variant on one page: what it would say, and what speaks against it."""

    selector: str
    judged: Sequence[Judged]
    measures: Measures
    against: TemplateRefusalReason | None


def serve(template: Template, html: str | bytes, zone: tzinfo = UTC) -> ServedPage | TemplateRefusal:
    return serve_elements(template, Elements(visible_page(html)), zone)


def serve_elements(template: Template, elements: Elements, zone: tzinfo = UTC) -> ServedPage | TemplateRefusal:
    """For a page that is parsed already; its tree stays as it is."""
    facts = facts_of(elements, zone)
    if reason := reason_in_facts(template, facts):
        return TemplateRefusal(reason)
    tried: list[Attempt] = []
    for attempt in attempts(template, facts):
        if attempt.against is None:
            return _served(template, facts, attempt)
        tried.append(attempt)
    found = (one.against for one in tried if one.against and one.against is not TemplateRefusalReason.NO_CONTAINER)
    return TemplateRefusal(next(found, TemplateRefusalReason.NO_CONTAINER))


def reason_in_facts(template: Template, facts: Facts) -> TemplateRefusalReason | None:
    """The page's statements about itself come first: it costs nothing to believe. Of many one may be missing, as where
    the linked data tell of other stories as well: then its text has to speak for it, see `attempts`.
    """
    if _missing(template, facts) > (len(template.required) >= _MANY_FEATURES):
        return TemplateRefusalReason.FEATURE_MISSING
    is_known = any(block.is_in_entry for block in facts.blocks)
    return TemplateRefusalReason.LIVE_BLOG if facts.is_live and not is_known else None


def _missing(template: Template, facts: Facts) -> int:
    return sum(not has_feature(facts, name) for name in template.required)


def facts_of(elements: Elements, zone: tzinfo) -> Facts:
    """With the entries of a live blog where its linked data know them, too: what else comes in a row may be teasers."""
    facts = Facts(elements, [], zone)
    live = live_blog_in(elements, elements.tree, zone, is_said=True) if facts.is_live else None
    facts.blocks = blocks_of(elements.tree, live.entries if live and live.is_told else ())
    return facts


def attempts(template: Template, facts: Facts) -> Iterator[Attempt]:
    seen = KnownText(facts.titles, frozenset(template.repeated))
    is_doubted = _missing(template, facts) > 0
    for variant in template.variants:
        judged = read(variant, facts.blocks, seen)
        measures = measure(variant, judged)
        against = _first_reason(measures, template.ranges, variant.containers) or _reason_in_text(
            facts, judged, measures.letters, template.ranges
        )
        if against is None and is_doubted and not _is_plain_story(measures, template.ranges):
            against = TemplateRefusalReason.FEATURE_MISSING
        yield Attempt(variant.selector, judged, measures, against)


def _is_plain_story(seen: Measures, learned: Ranges) -> bool:
    """As long as the host's stories are, and nothing of a list about it."""
    return max(seen.traits) == 0 and seen.letters + seen.entries >= learned.shortest * _HALF


def _first_reason(seen: Measures, learned: Ranges, containers: int) -> TemplateRefusalReason | None:
    return next((reason for reason, holds in _CHECKS.items() if holds(seen, learned, containers)), None)


# In the order in which they explain most: what follows from another reason is not named before it.
_CHECKS: dict[TemplateRefusalReason, Callable[[Measures, Ranges, int], bool]] = {
    TemplateRefusalReason.NO_CONTAINER: lambda seen, _, __: seen.containers == 0,
    # Where a host cuts its text into several, one page says little about how many the next will have.
    TemplateRefusalReason.TOO_MANY_CONTAINERS: lambda seen, _, most: (
        seen.containers > (most if most == 1 else 3 * most)
    ),
    TemplateRefusalReason.UNSEEN_PATHS: lambda seen, _, __: seen.unseen > _MOST_UNSEEN or seen.lost_cells >= _A_TABLE,
    TemplateRefusalReason.TOO_SHORT: lambda seen, learned, _: (
        seen.letters + seen.entries < max(_SHORTEST_LETTERS, learned.shortest / _FAR)
    ),
    TemplateRefusalReason.TOO_LONG: lambda seen, learned, _: seen.letters > learned.longest * _FAR,
    TemplateRefusalReason.TOO_MANY_LINKS: lambda seen, learned, _: (
        seen.linked > max(_LINKED, 2 * learned.most_linked)
        or seen.linked_around > max(_LINKED_AROUND, 2 * learned.most_linked_around)
    ),
    TemplateRefusalReason.TOO_LITTLE_KEPT: lambda seen, learned, _: seen.kept < learned.least_kept * _HALF,
    TemplateRefusalReason.TEXT_OUTSIDE: lambda seen, learned, _: (
        seen.outside > 2 * learned.outside + seen.letters * _OUTSIDE
    ),
    TemplateRefusalReason.LISTING: lambda seen, learned, _: (
        seen.traits.announced > max(_ANNOUNCED, 2 * learned.announced)
    ),
    TemplateRefusalReason.TEASERS: lambda seen, learned, _: seen.traits.teasers > max(_TEASERS, 2 * learned.teasers),
    TemplateRefusalReason.SAID_TWICE: lambda seen, learned, _: seen.traits.copied > max(_COPIED, 2 * learned.copied),
    # The background of a story that goes on stands on several pages, too.
    TemplateRefusalReason.SAID_ELSEWHERE: lambda seen, learned, _: seen.hosted > max(_HOSTED, 2 * learned.hosted),
    # Below a story of the usual kind may stand a list of names.
    TemplateRefusalReason.CHOPPED: lambda seen, learned, _: (
        seen.block_letters < learned.shortest_blocks * _CHOPPED and seen.prose < learned.shortest * _HALF
    ),
}


def _reason_in_text(
    facts: Facts, judged: Sequence[Judged], letters: int, learned: Ranges
) -> TemplateRefusalReason | None:
    if letters > _SURELY_ENOUGH:
        return None
    kept = [one for one in judged if one.verdict.keep]
    text = "\n".join(one.block.text for one in kept)
    words = count_words(text)
    if words < SHORTEST_ARTICLE_WORDS:
        return TemplateRefusalReason.TOO_SHORT
    if says_nothing_is_here((facts.page_title, facts.heading)):
        return TemplateRefusalReason.SOFT_404
    if asks_for_consent(text, words):
        return TemplateRefusalReason.CONSENT_WALL
    if sells_the_rest(text, words, is_short=letters < learned.shortest):
        return TemplateRefusalReason.PAYWALL
    # A brief looks like the beginning of a story whose rest stands where nobody knows.
    if letters < min(learned.shortest, _LONG_FOR_ONE) and sum(is_sentence(one.block) for one in kept) == 1:
        return TemplateRefusalReason.TOO_SHORT
    # Whatever else stands in the place of a story; asked only where the host's own are known to repeat their titles.
    is_asked = letters < max(_NOTICE, learned.shortest * _HALF) and learned.least_named >= _WELL_NAMED
    return TemplateRefusalReason.OFF_ITS_TITLE if is_asked and title_share(facts.titles, judged) < _UNNAMED else None


def _served(template: Template, facts: Facts, attempt: Attempt) -> ServedPage:
    lines = _bounded(_lines([one for one in attempt.judged if one.verdict.keep]))
    places = template.places
    return ServedPage(
        paragraphs=tuple(text for text, _ in lines),
        title=page_line(value_at(facts, places.title)) if places.title else "",
        author=page_line(value_at(facts, places.author)) if places.author else "",
        published_at=moment_at(facts, places.published),
        selector=attempt.selector,
        measures=attempt.measures,
        hashes=tuple(own for _, own in lines),
    )


def _lines(kept: Sequence[Judged]) -> Iterator[tuple[str, int]]:
    """As the general extractor writes them, items marked and tables row by row, with the hash of a text in one line."""
    tables = tables_of_data(one.block for one in kept)
    rows = {numbers[0]: rows_of([kept[at].block for at in numbers]) for numbers in tables.values()}
    inside = {at for numbers in tables.values() for at in numbers}
    begun, by_path = set[int](), dict[tuple[str, ...], int]()
    for at, (block, _, own) in enumerate(kept):
        if at in inside:
            yield from ((row, 0) for row in rows.get(at, ()))
            continue
        if (depth := by_path.get(block.path)) is None:
            depth = by_path[block.path] = _item_in(block.path)
        # Only where an item begins.
        is_item = depth >= 0 and block.places[depth] not in begun
        if is_item:
            begun.add(block.places[depth])
        yield (_ITEM + block.text if is_item else block.text), own


def _bounded(lines: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    left, kept = LONGEST_TEXT, list[tuple[str, int]]()
    for text, own in lines:
        if left <= 0:
            break
        kept.append((text[:left], own))
        left -= len(text) + 1
    return kept


def _item_in(path: Sequence[str]) -> int:
    """Which step is an item of a list, the innermost and near to the text; -1 if none is."""
    near = range(len(path) - 1, max(len(path) - 1 - _NEAR, -1), -1)
    return next((at for at in near if tag_of(path[at]) in _ITEMS), -1)
