"""From one page to an article: the function to read first here."""

from datetime import datetime
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.article import Article, NoArticleReason, NotAnArticle
from headwater.extraction.body import ArticleBody, Chosen, KnownFacts, Producer, body_of
from headwater.extraction.byline import author_of
from headwater.extraction.dates import not_in_the_future
from headwater.extraction.elements import Elements
from headwater.extraction.hidden import visible_page
from headwater.extraction.language import language_of
from headwater.extraction.overview import Overview, overview_of
from headwater.extraction.page import Page
from headwater.extraction.page_type import (
    SHORTEST_ARTICLE_WORDS,
    SHORTEST_BRIEF_WORDS,
    PageType,
    is_challenge,
    is_soft_404,
    page_type_of,
)
from headwater.extraction.paywall import is_sold
from headwater.extraction.plugins import PluginAnswer, given_by_plugin
from headwater.extraction.quality import QualitySigns, quality_of
from headwater.extraction.selectors import selected_text
from headwater.extraction.similarity import simhash
from headwater.extraction.text import content_hash
from headwater.extraction.timing import guess_date, timing_of


def extract(page: Page, now: datetime) -> Article | NotAnArticle:
    """`now` bounds what a page may claim about its dates. Raises UrlRejected if the page's own URL is none."""
    given = given_by_plugin(page)
    tree = visible_page(page.markup())
    elements = Elements(tree)
    seen = overview_of(elements, page, now)
    timing, author = timing_of(tree, page, seen, now), author_of(tree, page, seen)
    structured = seen.linked_data.article_body if seen.linked_data.is_about_this_page else ""
    known = _known(seen)
    body = body_of(elements, page, _chosen(tree, page, given), structured, known)
    facts = _facts(page, seen, body, given)
    if reason := _why_no_article(seen, body):
        return NotAnArticle(reason=reason, **facts)
    published_at = not_in_the_future(given.published_at, now) or timing.published_at or _learned_date(body, now)
    if published_at is None and not page.is_hurried:
        published_at = guess_date(page.html(), page, now)
    return Article(
        **facts,
        text=body.text,
        produced_by=body.produced_by,
        description=seen.description,
        author=given.author or author or (body.served.author if body.served else ""),
        section=seen.section,
        language=language_of(body.text, given.language, *seen.languages),
        keywords=seen.keywords,
        images=seen.images,
        published_at=published_at,
        updated_at=timing.updated_at,
        quality=quality_of(_evidence(seen, body, published_at)),
        content_hash=content_hash(body.text),
        simhash=simhash(body.text),
    )


def _known(seen: Overview) -> KnownFacts:
    about = seen.linked_data.raw if seen.linked_data.is_about_this_page else None
    return KnownFacts(
        seen.titles,
        seen.anchors,
        is_sold=is_sold(about, seen.said.get("article:content_tier", "")),
        summary=seen.description,
        is_article=seen.signs.is_article_by_linked_data or seen.signs.is_article_by_og,
    )


def _chosen(tree: LexborHTMLParser, page: Page, given: PluginAnswer) -> Chosen:
    if given.text:
        return Chosen(given.text, given.producer)
    return Chosen(selected_text(tree, page.selectors), Producer.SELECTORS)


def _facts(page: Page, seen: Overview, body: ArticleBody, given: PluginAnswer) -> dict[str, Any]:
    return {
        "url": page.url,
        "canonical_url": seen.canonical_url,
        "title": given.title or _title(page, seen, body),
        "page_type": _page_type(seen, body),
        "word_count": body.words,
        "metadata": seen.metadata,
        "linked_data": seen.linked_data,
        "robots": seen.robots,
        "links": () if seen.robots.nofollow else seen.anchors.links,
        "unfollowed": () if seen.robots.nofollow else seen.anchors.unfollowed,
        "is_soft_404": is_soft_404(seen.title, body.words),
        "guided": body.guided,
        "plugin_failure": given.failure,
        "readings": body.readings,
    }


def _title(page: Page, seen: Overview, body: ArticleBody) -> str:
    """The feed's, then the one at the place that proved right on the host's other pages."""
    is_given = page.hints.title or "title" in page.selectors.fields
    return seen.title if is_given or body.served is None else body.served.title or seen.title


def _learned_date(body: ArticleBody, now: datetime) -> datetime | None:
    return not_in_the_future(body.served.published_at, now) if body.served else None


def _page_type(seen: Overview, body: ArticleBody) -> PageType:
    return page_type_of(seen.signs, words=body.words, has_title=bool(seen.title), is_teasers=body.is_teasers)


def _why_no_article(seen: Overview, body: ArticleBody) -> NoArticleReason | None:
    if is_challenge(seen.signs, seen.title, body.words):
        return NoArticleReason.CHALLENGE
    if not seen.title and not body.text:
        return NoArticleReason.EMPTY
    return NoArticleReason.TOO_SHORT if body.words < _shortest(seen) else None


def _shortest(seen: Overview) -> int:
    """A page that says it is an article may be a brief one."""
    is_said = seen.signs.is_article_by_linked_data or seen.signs.is_article_by_og
    return SHORTEST_BRIEF_WORDS if is_said else SHORTEST_ARTICLE_WORDS


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
