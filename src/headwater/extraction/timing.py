"""When it was published and last changed, by the best witness there is."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from headwater.extraction.dates import moment_from, not_in_the_future
from headwater.extraction.overview import Overview
from headwater.extraction.page import Page
from headwater.extraction.selectors import selected_value

_PUBLISHED = (
    "article:published_time", "article:published", "og:published_time", "datepublished", "pubdate", "publishdate",
    "publish-date", "parsely-pub-date", "sailthru.date", "date", "dc.date", "dc.date.issued", "dcterms.created",
    "dcterms.issued",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time",
    "article:modified",
    "og:updated_time",
    "datemodified",
    "last-modified",
    "dcterms.modified",
)
# Surest first: an element said to be the time of publication, one inside the story, any at all.
_SHOWN = (
    "time[pubdate], time[itemprop=datePublished], time.published",
    "article time[datetime], main time[datetime]",
    "time[datetime]",
    ".published-date, .post-date, .entry-date, .article-date",
)
_LONGEST_LOOK = 3


class Timing(NamedTuple):
    published_at: datetime | None
    updated_at: datetime | None


def timing_of(tree: LexborHTMLParser, page: Page, seen: Overview, now: datetime) -> Timing:
    """Without guesses: those are made by `guess_date`."""
    zone, linked, hints = page.zone(), seen.linked_data, page.hints
    selected = selected_value(tree, page.selectors, "published_time", "publish_date")
    published = (
        moment_from(selected, zone)
        or _first_said(seen, _PUBLISHED, page)
        or (linked.date_published if linked.is_about_this_page else None)
        or hints.published_at
        or next(_shown(tree, page), None)
    )
    updated = _first_said(seen, _MODIFIED, page) or linked.date_modified or hints.updated_at
    return _in_order(not_in_the_future(published, now), not_in_the_future(updated, now))


def guess_date(html: str, page: Page, now: datetime) -> datetime | None:
    """By the patterns of many sites; a day without a time. Slow, so only where nothing else is known."""
    from htmldate import find_date

    latest = (now + timedelta(days=1)).strftime("%Y-%m-%d")
    try:
        found = find_date(html, extensive_search=False, original_date=True, max_date=latest)
    except ValueError:
        # A character reference named something that the parser behind this refuses to hold.
        return None
    return not_in_the_future(moment_from(found, page.zone()), now) if found else None


def _first_said(seen: Overview, names: Sequence[str], page: Page) -> datetime | None:
    moments = (moment_from(seen.said[name], page.zone()) for name in names if name in seen.said)
    return next((moment for moment in moments if moment), None)


def _shown(tree: LexborHTMLParser, page: Page) -> Iterator[datetime]:
    for css in _SHOWN:
        for node in tree.css(css)[:_LONGEST_LOOK]:
            moment = moment_from(node.attributes.get("datetime") or node.text(separator=" "), page.zone())
            if moment:
                yield moment


def _in_order(published: datetime | None, updated: datetime | None) -> Timing:
    """A change before publication is a template's mistake."""
    return Timing(published, None if published and updated and updated < published else updated)
