"""From one page to an article: the function to read first here."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from headwater.blocks.block import BlockKind, BodyBlock
from headwater.extraction.access import access_of
from headwater.extraction.arbiter import Witness
from headwater.extraction.article import Article, NoArticleReason, NotAnArticle
from headwater.extraction.author_names import authors_in
from headwater.extraction.body import ArticleBody, Chosen, KnownFacts, Producer, body_of
from headwater.extraction.byline import authors_of
from headwater.extraction.dates import not_in_the_future
from headwater.extraction.elements import Elements
from headwater.extraction.head_lines import page_head
from headwater.extraction.hidden import visible_page
from headwater.extraction.language import language_of
from headwater.extraction.lead_image import lead_image_of
from headwater.extraction.overview import Overview, overview_of
from headwater.extraction.page import Page
from headwater.extraction.page_type import (
    SHORTEST_ARTICLE_WORDS,
    SHORTEST_BRIEF_WORDS,
    PageType,
    is_challenge,
    is_soft_404,
    page_type_of,
    showing_type,
)
from headwater.extraction.paywall import is_sold
from headwater.extraction.plugins import PluginAnswer, given_by_plugin
from headwater.extraction.quality import QualitySigns, quality_of
from headwater.extraction.selectors import selected_text
from headwater.extraction.similarity import simhash
from headwater.extraction.structure.live import LiveBlog, live_blog_in
from headwater.extraction.structure.page_blocks import NO_ENTRIES, FoundBlock, blocks_of_page
from headwater.extraction.structure.structure import structure_of, structure_of_live
from headwater.extraction.text import content_hash, count_words
from headwater.extraction.timing import guess_date, timing_of

_MOST_IMAGES = 50


def extract(page: Page, now: datetime) -> Article | NotAnArticle:
    """`now` bounds what a page may claim about its dates. Raises UrlRejected if the page's own URL is none."""
    given = given_by_plugin(page)
    tree = visible_page(page.markup())
    elements = Elements(tree)
    seen = overview_of(elements, page, now)
    timing, authors = timing_of(elements, page, seen, now), authors_of(elements, page, seen)
    structured = seen.linked_data.article_body if seen.linked_data.is_about_this_page else seen.linked_data.steps
    about = seen.linked_data.raw if seen.linked_data.is_about_this_page else None
    lead = lead_image_of(tree, seen.base, seen.metadata, about)
    live = live_blog_in(elements, tree, page.zone(), is_said=seen.linked_data.is_live)
    shown = blocks_of_page(tree, seen.base, live.entries if live else NO_ENTRIES)
    known = _known(seen, about, authors)
    body = body_of(elements, page, _chosen(tree, page, given), structured, known)
    body, blocks = _with_blocks(body, shown, tree, page, seen, live)
    facts = _facts(page, seen, body, given, is_live=live is not None)
    if reason := _why_no_article(seen, body, facts["page_type"]):
        return NotAnArticle(reason=reason, **facts)
    published_at = not_in_the_future(given.published_at, now) or timing.published_at or _learned_date(body, now)
    if published_at is None and not page.is_hurried:
        published_at = guess_date(page.html(), page, now)
    authors = authors_in([given.author]) or authors or authors_in([body.served.author if body.served else ""])
    return Article(
        **facts,
        text=body.text,
        blocks=blocks,
        produced_by=body.produced_by,
        description=seen.description,
        author=", ".join(authors),
        authors=authors,
        section=seen.section,
        language=language_of(body.text, given.language, *seen.languages),
        keywords=seen.keywords,
        images=_images(seen, blocks),
        lead_image=lead,
        access=access_of(
            about,
            seen.metadata.article_content_tier,
            body.text,
            body.words,
            seen.linked_data.word_count,
            is_cut=body.is_cut,
        ),
        published_at=published_at,
        updated_at=timing.updated_at,
        quality=quality_of(_evidence(seen, body, published_at)),
        content_hash=content_hash(body.text),
        simhash=simhash(body.text),
    )


def _known(seen: Overview, about: Mapping[str, Any] | None, authors: Sequence[str]) -> KnownFacts:
    return KnownFacts(
        seen.titles,
        seen.anchors,
        page_head((seen.metadata.article_section, seen.linked_data.article_section), authors),
        is_sold=is_sold(about, seen.said.get("article:content_tier", "")),
        witness=Witness(seen.description, (about and seen.linked_data.word_count) or 0),
        is_article=seen.signs.is_article_by_linked_data or seen.signs.is_article_by_og,
    )


def _chosen(tree: LexborHTMLParser, page: Page, given: PluginAnswer) -> Chosen:
    if given.text:
        return Chosen(given.text, given.producer)
    return Chosen(selected_text(tree, page.selectors), Producer.SELECTORS)


def _with_blocks(
    body: ArticleBody,
    shown: Sequence[FoundBlock],
    tree: LexborHTMLParser,
    page: Page,
    seen: Overview,
    live: LiveBlog | None,
) -> tuple[ArticleBody, tuple[BodyBlock, ...]]:
    """The body with the structure of its text; `shown` was the page before anything was taken out to read it."""
    if body.produced_by in (Producer.FEED, Producer.FEED_ONLY):
        shown, live = blocks_of_page(visible_page(page.hints.content), seen.base), None
    if live is not None and not body.is_given:
        said = structure_of_live(body.text, shown, seen.base, live)
    else:
        # Of a page whose text a person chose, nothing was taken out.
        shown = blocks_of_page(tree, seen.base) if live is not None else shown
        said = structure_of(body.text, shown, seen.base, seen.titles, adds=not body.is_given)
    if said.text == body.text:
        return body, said.blocks
    return body._replace(text=said.text, words=count_words(said.text)), said.blocks


def _facts(page: Page, seen: Overview, body: ArticleBody, given: PluginAnswer, *, is_live: bool) -> dict[str, Any]:
    return {
        "url": page.url,
        "canonical_url": seen.canonical_url,
        "title": given.title or _title(page, seen, body),
        "page_type": _page_type(seen, body, is_live=is_live),
        "word_count": body.words,
        "metadata": seen.metadata,
        "linked_data": seen.linked_data,
        "robots": seen.robots,
        "rights": seen.rights,
        "links": () if seen.robots.nofollow else seen.anchors.links,
        "unfollowed": () if seen.robots.nofollow else seen.anchors.unfollowed,
        "is_soft_404": is_soft_404(seen.title, body.words),
        "guided": body.guided,
        "plugin_failure": given.failure,
        "readings": body.readings,
    }


def _images(seen: Overview, blocks: Sequence[BodyBlock]) -> tuple[str, ...]:
    """The declared ones first, then those of the text in its order."""
    shown = (block.url for block in blocks if block.kind is BlockKind.FIGURE and block.url)
    return tuple(islice(dict.fromkeys((*seen.images, *shown)), _MOST_IMAGES))


def _title(page: Page, seen: Overview, body: ArticleBody) -> str:
    """The feed's, then the one at the place that proved right on the host's other pages."""
    is_given = page.hints.title or "title" in page.selectors.fields
    return seen.title if is_given or body.served is None else body.served.title or seen.title


def _learned_date(body: ArticleBody, now: datetime) -> datetime | None:
    return not_in_the_future(body.served.published_at, now) if body.served else None


def _page_type(seen: Overview, body: ArticleBody, *, is_live: bool) -> PageType:
    if is_live and body.words >= SHORTEST_ARTICLE_WORDS:
        return PageType.LIVE
    found = page_type_of(seen.signs, words=body.words, has_title=bool(seen.title), is_teasers=body.is_teasers)
    return showing_type(found, seen.linked_data.shows, seen.metadata.og_type, body.words)


def _why_no_article(seen: Overview, body: ArticleBody, page_type: PageType) -> NoArticleReason | None:
    if is_challenge(seen.signs, seen.title, body.words):
        return NoArticleReason.CHALLENGE
    if not seen.title and not body.text:
        return NoArticleReason.EMPTY
    return NoArticleReason.TOO_SHORT if body.words < _shortest(seen, page_type) else None


def _shortest(seen: Overview, page_type: PageType) -> int:
    """A page that says it is an article may be a brief one, and of a list no document is made in any case."""
    is_said = seen.signs.is_article_by_linked_data or seen.signs.is_article_by_og
    return SHORTEST_BRIEF_WORDS if is_said or page_type is PageType.LISTING else SHORTEST_ARTICLE_WORDS


def _evidence(seen: Overview, body: ArticleBody, published_at: datetime | None) -> QualitySigns:
    return QualitySigns(
        words=body.words,
        title=seen.title,
        description=seen.description,
        published_at=published_at,
        keywords=seen.keywords,
        has_canonical=seen.has_canonical,
        metadata=seen.metadata,
    )
