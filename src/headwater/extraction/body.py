"""The text of the article: by a plug-in, the source's selectors, what was learned of its host, the general extractor,
the structured data or the feed.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from html import unescape
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.arbiter import (
    TriedReading,
    Witness,
    why_fuller,
    why_joined,
    why_partial,
    why_poor,
    why_thorough,
)
from headwater.extraction.blocks import text_of_html
from headwater.extraction.cross_references import said_by_reference, without_labels
from headwater.extraction.elements import Elements, attribute
from headwater.extraction.empty_elements import remove_empty
from headwater.extraction.head_lines import PageHead, is_head_line
from headwater.extraction.links import Anchors, leads_on, texts_of
from headwater.extraction.lxml_tree import lxml_tree
from headwater.extraction.page import Page
from headwater.extraction.page_type import SHORTEST_ARTICLE_WORDS
from headwater.extraction.paywall import without_calls
from headwater.extraction.scripted import scripted_text
from headwater.extraction.story_part import (
    Parts,
    html_of_densest,
    html_of_parts,
    html_of_story,
    parts_of_story,
    prose_in,
    remove_river,
    shown_words,
    story_ends,
    text_of_densest,
)
from headwater.extraction.templates.guide import DISAGREES, SAME_TEXT, Guided, agreement, doubted_sentences, template_in
from headwater.extraction.templates.server import ServedPage, serve_elements
from headwater.extraction.templates.steps import headings_of
from headwater.extraction.text import comparable, count_words, tidy
from headwater.urls.domains import registrable_domain

if TYPE_CHECKING:
    from trafilatura.settings import Extractor

# Never part of an article's text, and a third of what the extractor would otherwise walk through.
_SURROUNDINGS = [
    *("script", "style", "noscript", "svg", "iframe", "template", "nav", "footer", "aside"),
    *("head", "link", "meta", "picture", "source", "img", "audio", "video", "canvas"),
    *("input", "button", "select", "textarea"),
]
_TITLE_WITHIN_LINES, _HEAD_WITHIN_LINES, _SENTENCE_WORDS = 4, 8, 10
_SHORTEST_SUMMARY, _SUMMARY_BEGINS, _LONGEST_HEAD = 40, 60, 0.1  # letters, share of the text below
_SHORTEST_HEADLINE_WORDS, _LONGEST_HEADLINE_WORDS = 3, 25
_FEWEST_TEASERS = 8
_TEASING = 0.4
_LIST_MARK, _ADDRESS = "- ", "://"
_LIST_MARKS = frozenset("-–—•·*")
_LINKS, _MOST_LINKS = "a[href], area[href]", 10_000
_HOST = re.compile(r"(?:https?:)?//([\w.-]{1,255})(?=[/?#:]|$)", re.IGNORECASE)
# Where readers are sent to share a page or to follow its publisher.
_SHARING = frozenset({
    "facebook.com", "fb.com", "twitter.com", "x.com", "instagram.com", "linkedin.com", "pinterest.com", "whatsapp.com",
    "wa.me", "t.me", "telegram.me", "reddit.com", "tumblr.com", "youtube.com", "flipboard.com", "google.com",
    "xing.com", "vk.com", "ok.ru", "threads.net", "bsky.app", "getpocket.com", "tiktok.com", "line.me", "feedly.com",
    "addtoany.com", "apple.com", "spotify.com", "disqus.com",
})  # fmt: skip
_HEADINGS = "h2, h3, h4, h5, h6"
_MOST_HEADINGS, _MOST_AROUND = 1_000, 4
_SWALLOWED = "noscript article, noscript h1, noscript main"
_LAYOUT_TABLE = "td h1, td article, td > table"
_TAG = re.compile(r"</?[a-zA-Z]")
_ESCAPED_TAG = re.compile(r"&lt;(?:p|div|br)\b")
_TABLE_TAG = re.compile(r"<(/?)(?:table|tbody|thead|tfoot|tr|td|th)\b", re.IGNORECASE)

# They report on every odd page at error level, and what became of a page is already our answer.
for _name in ("trafilatura", "htmldate"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class Producer(StrEnum):
    """The extractor that made the text, where no template did."""

    SELECTORS = "selectors"
    STRUCTURED = "structured"
    TRAFILATURA = "trafilatura"
    THOROUGH = "trafilatura_thorough"
    JOINED = "trafilatura_joined"
    HURRIED = "trafilatura_cropped"
    SCRIPTED = "scripted"
    FEED = "feed"
    FEED_ONLY = "feed_only"  # the page itself is refused: every word is the channel's


class ArticleBody(NamedTuple):
    """`is_teasers`: most of what was found announces other pages. `served` is what a template said, if it spoke.
    `is_cut`: calls to pay stood in the text. `is_given`: a person chose all of it, by selectors or a plug-in.
    `readings` are all that were tried, in turn.
    """

    text: str
    produced_by: str
    words: int
    is_teasers: bool = False
    guided: Guided | None = None
    served: ServedPage | None = None
    is_cut: bool = False
    is_given: bool = False
    readings: tuple[TriedReading, ...] = ()


class _Line(NamedTuple):
    text: str
    compared: str


_NONE = 0, _Line("", "")


@dataclass(frozen=True)
class _LinkTexts:
    """The texts of a pruned page's links; `sections` are headings of the page itself, `host` is its own."""

    tree: LexborHTMLParser
    nodes: Sequence[LexborNode]
    sections: frozenset[str]
    host: str

    @cached_property
    def all(self) -> frozenset[str]:
        return texts_of(self.nodes)

    @cached_property
    def announcing(self) -> frozenset[str]:
        return self.all - self.sections

    @cached_property
    def own(self) -> frozenset[str]:
        """Those that lead to pages of the same site, or to where a page is shared."""
        return texts_of(node for node in self.nodes if not self._is_reference(attribute(node, "href")))

    @cached_property
    def headings(self) -> frozenset[str]:
        """Of the page, as far as they lead nowhere."""
        headings = self.tree.css(f"h1, {_HEADINGS}")[:_MOST_HEADINGS]
        return texts_of(one for one in headings if not _is_in_link(one) and not leads_on(one))

    @cached_property
    def elsewhere(self) -> frozenset[str]:
        """Without those of a table of contents."""
        return texts_of(node for node in self.nodes if not attribute(node, "href").strip().startswith("#"))

    def _is_reference(self, href: str) -> bool:
        led = _HOST.match(href.strip())
        domain = registrable_domain(led[1]) if led else ""
        return bool(domain) and domain != registrable_domain(self.host) and domain not in _SHARING


class KnownFacts(NamedTuple):
    """Facts already known of the page, which must not be taken for its text."""

    titles: frozenset[str]
    anchors: Anchors
    head: PageHead = PageHead()
    is_sold: bool = False
    witness: Witness = Witness()
    is_article: bool = False  # by its own word


class Chosen(NamedTuple):
    """A text that a person chose, by selectors or a plug-in: it comes first, unless it is too short to be one."""

    text: str
    producer: str


def body_of(elements: Elements, page: Page, given: Chosen, structured: str, known: KnownFacts) -> ArticleBody:
    """Changes the tree: the last thing to be done with it."""
    by_hand = ArticleBody(given.text, given.producer, count_words(given.text), is_given=True)
    chosen = _first(by_hand, "chosen by hand")
    if chosen.words < SHORTEST_ARTICLE_WORDS:
        chosen = _learned(elements, page, known) if page.guide else _general(elements.tree, page, known)
        chosen = _fuller(_without_calls(chosen) if known.is_sold else chosen, structured, Producer.STRUCTURED)
    return _fuller(chosen, page.hints.content, Producer.FEED)


def _without_calls(body: ArticleBody) -> ArticleBody:
    text = without_calls(body.text)
    return body if text == body.text else body._replace(text=text, words=count_words(text), is_cut=True)


def _fuller(chosen: ArticleBody, html: str, producer: Producer) -> ArticleBody:
    """The other text, if beside it the chosen one is thin."""
    if not html:
        return chosen
    other = text_of_html(_as_markup(html))
    reason = why_fuller(chosen.text, other)
    return _ruled(chosen, ArticleBody(other, producer, count_words(other)), reason, "it is at hand")


def _as_markup(written: str) -> str:
    """Line breaks separate paragraphs in plain text, and nothing in HTML; that may be escaped once too often."""
    if _TAG.search(written):
        return written
    return unescape(written) if _ESCAPED_TAG.search(written) else written.replace("\n", "<br>")


def _learned(elements: Elements, page: Page, known: KnownFacts) -> ArticleBody:
    """By the host's template; where it refuses, or is audited and disagrees, by the general extractor."""
    assert page.guide is not None
    tree, template = elements.tree, template_in(page.guide)
    if template is None:
        return _general(tree, page, known)
    answer = serve_elements(template, elements, page.zone())
    if not isinstance(answer, ServedPage):
        return _general(tree, page, known)._replace(guided=Guided(refused=answer.reason))
    served = ArticleBody(answer.text, page.guide.name, count_words(answer.text), served=answer)
    body = _first(served, "the host's template knows the page")
    if not page.guide.audits:
        return body._replace(guided=Guided())
    headings = headings_of(tree)  # of the tree as it is
    general = _general(tree, page, known)
    agreed = agreement(answer.text, general.text, headings)
    if agreed < SAME_TEXT:
        return general._replace(guided=Guided(refused=DISAGREES, agreement=agreed))
    return body._replace(guided=Guided(agreement=agreed, doubted=doubted_sentences(answer, general.text)))


def _general(tree: LexborHTMLParser, page: Page, known: KnownFacts) -> ArticleBody:
    """Quickly; where that found little, thoroughly, and where a page shows next to nothing, from its scripts."""
    sections = _sections(tree, known.anchors)  # of the tree as it is
    has_layout_tables = tree.css_first(_LAYOUT_TABLE) is not None
    _without_surroundings(tree)
    remove_river(tree)
    links = _LinkTexts(tree, tree.css(_LINKS)[:_MOST_LINKS], sections, urlsplit(page.url).hostname or "")
    densest = "" if page.is_hurried else text_of_densest(tree)

    def read(html: str, producer: Producer) -> ArticleBody:
        found = _text_in(html, has_layout_tables=has_layout_tables, is_quick=producer is not Producer.THOROUGH)
        lines = [_Line(line, comparable(line)) for line in found.split("\n")]
        end = _whole_list(lines, story_ends([line.compared for line in lines], densest))
        story = [line for line in lines[:end] if line.text.strip()]
        own = _without_title(_without_links(story, links), known)
        own = _without_head(_without_what_stands_above(known.witness.summary, own, links), known)
        text = tidy([line.text for line in own])
        return ArticleBody(text, producer, count_words(text), _are_teasers(lines, links.announcing))

    if page.is_hurried:
        return _first(read(html_of_densest(tree), Producer.HURRIED), "pages wait to be read")
    part = html_of_story(tree)
    quick = _first(read(part, Producer.TRAFILATURA), "the usual reading")
    parts = Parts((), 0) if quick.is_teasers else parts_of_story(prose_in(tree), quick.text)
    if doubt := why_partial(quick.text, parts.lost):
        joined = read(html_of_parts(parts), Producer.JOINED)
        quick = _ruled(quick, joined, why_joined(quick.text, joined.text), doubt)
    # A list of other pages is no better for being read thoroughly.
    reason = "" if quick.is_teasers else why_poor(quick.text, shown_words(tree))
    if not reason:
        return quick
    thorough = _seen_among(_linked_headings(tree), read(part, Producer.THOROUGH))
    best = _ruled(quick, thorough, why_thorough(quick.text, thorough.text, known.witness), reason)
    return best if best.words >= SHORTEST_ARTICLE_WORDS else _scripted(best, page, known)


def _linked_headings(tree: LexborHTMLParser) -> int:
    return sum(map(leads_on, tree.css(_HEADINGS)[:_MOST_HEADINGS]))


def _whole_list(lines: Sequence[_Line], end: int) -> int:
    """The end, or that of the list that it would cut."""
    mark = lines[end - 1].text[:1] if end else ""
    while mark in _LIST_MARKS and end < len(lines) and lines[end].text.startswith(mark):
        end += 1
    return end


def _seen_among(headings: int, body: ArticleBody) -> ArticleBody:
    """With a word on teasers whose headlines were left out as links: each of them leads on above a line or two."""
    is_list = headings >= max(_FEWEST_TEASERS, _TEASING * len(body.text.split("\n")))
    return body._replace(is_teasers=body.is_teasers or is_list)


def _scripted(best: ArticleBody, page: Page, known: KnownFacts) -> ArticleBody:
    text = scripted_text(page.markup()) if known.is_article else ""
    other = ArticleBody(text, Producer.SCRIPTED, count_words(text))
    if other.words < SHORTEST_ARTICLE_WORDS:
        return best
    return _ruled(best, other, why_fuller(best.text, text), "the page shows hardly any text")


def _first(body: ArticleBody, why: str) -> ArticleBody:
    return body._replace(readings=(TriedReading(body.produced_by, body.words, why),))


def _ruled(chosen: ArticleBody, other: ArticleBody, why: str, doubt: str) -> ArticleBody:
    """The other one if there is a reason why; else the first. Both are remembered."""
    said = TriedReading(other.produced_by, other.words, why or f"asked because {doubt}; not believed")
    winner = other._replace(guided=chosen.guided) if why else chosen
    return winner._replace(readings=(*chosen.readings, said))


def _sections(tree: LexborHTMLParser, anchors: Anchors) -> frozenset[str]:
    """Headings that a table of contents repeats: they are linked to, and announce no other page."""
    if not anchors.texts_within:
        return frozenset()
    headings = tree.css(_HEADINGS)[:_MOST_HEADINGS]
    return anchors.texts_within & texts_of(heading for heading in headings if not leads_on(heading))


def _without_surroundings(tree: LexborHTMLParser) -> None:
    if tree.css_first(_SWALLOWED):
        # Left open by a page, it takes in all that follows.
        tree.unwrap_tags(["noscript"])
    tree.strip_tags(_SURROUNDINGS)
    for link in tree.css("pre a"):
        # Code whose names are linked is no menu.
        link.unwrap(delete_empty=True)
    remove_empty(tree)


def _text_in(html: str, *, has_layout_tables: bool, is_quick: bool) -> str:
    import trafilatura

    if has_layout_tables:
        # A table that holds the page is no table: read as one, its columns become one line.
        html = _TABLE_TAG.sub(r"<\1div", html)
    tree = lxml_tree(html)
    return "" if tree is None else trafilatura.extract(tree, options=_reading_options(is_quick)) or ""


@cache
def _reading_options(is_quick: bool) -> "Extractor":
    """Kept, as it reads its defaults from a file's worth of text."""
    from trafilatura.settings import Extractor

    return Extractor(fast=is_quick, comments=False)


def _without_title(lines: list[_Line], known: KnownFacts) -> list[_Line]:
    top = [line for line in lines[:_TITLE_WITHIN_LINES] if line.compared not in known.titles]
    return top + lines[_TITLE_WITHIN_LINES:]


def _without_head(lines: list[_Line], known: KnownFacts) -> list[_Line]:
    """Down to the first sentence: below it, the same words belong to the story."""
    kept = list[_Line]()
    for at, line in enumerate(lines[:_HEAD_WITHIN_LINES]):
        if is_head_line(line.text, known.head):
            continue
        kept.append(line)
        if len(line.text.split()) >= _SENTENCE_WORDS:
            return kept + lines[at + 1 :]
    return kept + lines[_HEAD_WITHIN_LINES:]


def _without_what_stands_above(summary: str, lines: list[_Line], links: _LinkTexts) -> list[_Line]:
    """Where the first sentence is what the page says it is about: above it stand dates and the owner of a picture.

    Headings stay, and so does all that is more than a few words beside the text: rows, verses, ingredients.
    """
    said = comparable(summary)[:_SUMMARY_BEGINS]
    begin, first = next(((at, line) for at, line in enumerate(lines[:_HEAD_WITHIN_LINES]) if _is_sentence(line)), _NONE)
    if not begin or len(said) < _SHORTEST_SUMMARY or first.compared[:_SUMMARY_BEGINS] != said:
        return lines
    above, below = (sum(len(line.text) for line in part) for part in (lines[:begin], lines[begin:]))
    if above > _LONGEST_HEAD * below or any(line.text.startswith("|") for line in lines[:begin]):
        return lines
    return [*(line for line in lines[:begin] if line.compared in links.headings), *lines[begin:]]


def _is_sentence(line: _Line) -> bool:
    return count_words(line.text) >= _SENTENCE_WORDS


def _without_links(lines: list[_Line], links: _LinkTexts) -> list[_Line]:
    """Without lines that are nothing but a link to another page of the site, or to another place of this one."""
    are_left_out = [_leads_on(line, links) and not _is_own_heading(at, lines, links) for at, line in enumerate(lines)]
    kept = without_labels([line.text for line in lines], list(_but_in_lists_of_text(lines, are_left_out)))
    return [line for line, stays in zip(lines, kept, strict=True) if stays]


def _but_in_lists_of_text(lines: Sequence[_Line], are_left_out: Sequence[bool]) -> Iterator[bool]:
    """A list of which less than a third leads on is the story's, and stays whole."""
    marked = zip((line.text.startswith(_LIST_MARK) for line in lines), are_left_out, strict=True)
    for is_list, run in groupby(marked, key=itemgetter(0)):
        gone = [is_gone for _, is_gone in run]
        is_of_text = is_list and sum(gone) * 3 < len(gone)
        yield from (is_gone and not is_of_text for is_gone in gone)


def _leads_on(line: _Line, links: _LinkTexts) -> bool:
    # A link that shows where it leads was written by hand, and so was one that leads to somebody else.
    if _ADDRESS in line.text:
        return False
    known = links.all if line.text.startswith(_LIST_MARK) else links.announcing
    # Where a link leads is asked for last: it takes a look at every link of the page.
    if line.compared in known:
        return line.compared in links.own
    said = said_by_reference(line.text)
    return said in links.all and said in links.own and said in links.elsewhere


def _is_in_link(node: LexborNode) -> bool:
    around = node.parent
    for _ in range(_MOST_AROUND):
        if around is None or around.tag == "a":
            break
        around = around.parent
    return around is not None and around.tag == "a"


def _is_own_heading(at: int, lines: Sequence[_Line], links: _LinkTexts) -> bool:
    """A heading between two sentences that leads nowhere is the story's, whatever menu repeats it."""
    is_heading = not lines[at].text.startswith(_LIST_MARK) and lines[at].compared in links.headings
    return (
        is_heading and any(map(_is_sentence, lines[at + 1 : at + 2])) and any(map(_is_sentence, reversed(lines[:at])))
    )


def _are_teasers(lines: list[_Line], link_texts: frozenset[str]) -> bool:
    shown = [line.compared for line in lines if line.compared]
    if len(shown) < _FEWEST_TEASERS:
        return False
    headlines = _Headlines.of(link_texts)
    teasers = sum(map(headlines.begin, shown))
    return teasers >= _FEWEST_TEASERS and teasers >= len(shown) * _TEASING


class _Headlines(NamedTuple):
    """The texts of links that are long enough to be headlines."""

    texts: frozenset[str]
    beginnings: frozenset[str]

    @classmethod
    def of(cls, link_texts: frozenset[str]) -> "_Headlines":
        return cls(link_texts, frozenset(_first_words(text) for text in link_texts))

    def begin(self, line: str) -> bool:
        """Whether a line starts with one of them."""
        # Nearly all fail here already: to try every length on every line took longer than to find the language.
        if _first_words(line) not in self.beginnings:
            return False
        words = line.split(maxsplit=_LONGEST_HEADLINE_WORDS)
        return any(" ".join(words[:n]) in self.texts for n in range(_SHORTEST_HEADLINE_WORDS, len(words) + 1))


def _first_words(line: str) -> str:
    return " ".join(line.split(maxsplit=_SHORTEST_HEADLINE_WORDS)[:_SHORTEST_HEADLINE_WORDS])
