"""When it was published and last changed, by the best witness there is."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from headwater.extraction.dates import ToldTime, instant_of, moment_from, not_in_the_future, told_ago, told_in
from headwater.extraction.elements import Elements
from headwater.extraction.heading_lines import lines_beside_heading
from headwater.extraction.lxml_tree import lxml_tree
from headwater.extraction.overview import Overview
from headwater.extraction.page import Page
from headwater.extraction.selectors import selected_value
from headwater.languages import CHANGED, fold

_PUBLISHED = (
    "article:published_time", "article:published", "og:published_time", "datepublished", "pubdate", "publishdate",
    "publish-date", "parsely-pub-date", "sailthru.date", "date", "dc.date", "dc.date.issued", "dcterms.created",
    "dcterms.issued",
)  # fmt: skip
# Often by a clock on the wall: asked after the linked data, which names a zone.
_PUBLISHED_TOO = (
    "cxenseparse:recs:publishtime", "cxenseparse:publishtime", "article.published",
    "article:published_date", "article:publish_date", "article:post_date", "og:article:published_time",
    "published_time", "published_at", "publication_date", "published-date", "originalpublicationdate", "dc.created",
    "dc.date.created", "dcterms.date", "datecreated", "article:created_time", "citation_online_date",
    "citation_publication_date", "bt:pubdate", "displaydate", "article_date_original",
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
    "time[pubdate], time[itemprop=datePublished], time.published, [itemprop=datePublished]",
    "article time[datetime], main time[datetime]",
    "time[datetime]",
    ".published-date, .post-date, .entry-date, .article-date, .article__date, .pubdate, .publish-date, .date-published",
    # Beside the heading: elsewhere they belong to teasers.
    "h1 ~ .datetime, h1 ~ * .datetime, h1 ~ .date, h1 ~ * .date, h1 ~ .timestamp, h1 ~ * .timestamp, h1 ~ * time",
)
_LONGEST_LOOK, _LONGEST_SHOWN = 3, 120
_CHANGED = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(map(fold, CHANGED), key=len, reverse=True)))})\b")
# One event told as a day here and as a minute there; editions carry the next day's date.
_SAME_EVENT = timedelta(hours=36)
_FURTHEST_ZONE = timedelta(days=200)
_FARTHEST_CLOCK, _QUARTER = timedelta(hours=14), timedelta(minutes=15)
_END_OF_A_TITLE = re.compile(r"(?:.*[|–—,(])?([^|–—,(]{6,30})\)?$", re.DOTALL)


class Timing(NamedTuple):
    published_at: datetime | None
    updated_at: datetime | None


def timing_of(elements: Elements, page: Page, seen: Overview, now: datetime) -> Timing:
    """Without guesses: those are made by `guess_date`."""
    zone, linked, hints = page.zone(), seen.linked_data, page.hints
    changes = (*_said(seen, _MODIFIED, page), linked.date_modified, hints.updated_at)
    updated = next((moment for one in changes if (moment := not_in_the_future(one, now))), None)
    said = _credible(_said_published(elements, page, seen), zone, now)
    if hints.published_at and not _has_time(said):
        said += _credible([ToldTime(hints.published_at, has_time=True)], zone, now)
    if not _has_time(said):
        said += _credible([*_told_by_title(seen), *_shown(elements, page, now)], zone, now)
    if not _has_time(said):
        said += _credible(_beside_heading(elements, page, now), zone, now)
    return _in_order(not_in_the_future(published_from(said, zone, updated), now), updated)


def _credible(told: Iterable[ToldTime | None], zone: tzinfo, now: datetime) -> list[ToldTime]:
    """Without those that are clearly in the future: such a page has another witness, or none."""
    return [one for one in told if one and not_in_the_future(instant_of(one.at, zone), now)]


def _has_time(said: Sequence[ToldTime]) -> bool:
    return any(told.has_time for told in said)


def published_from(said: Sequence[ToldTime], zone: tzinfo, updated: datetime | None = None) -> datetime | None:
    """The instant that `said`, best witness first, agree on; `zone` where nobody names one. Pure.

    A day gives way to a minute of about that day. The hour of a wall clock that one witness calls UTC and another one
    local is local: systems that write the wrong zone add a `Z`, none adds its own place. An hour without a zone that is
    whole quarters of one away from a witness in UTC is that one's, by another clock. And a publication that is the
    last change to the minute gives way to an earlier one.
    """
    if not said:
        return None
    first = said[0]
    timed = [told for told in said if told.has_time]
    best = first if first.has_time else next((one for one in timed if _is_near(one, first)), first)
    if best.has_time:
        best = next((one for one in timed if _is_local(one) and _shows_the_same(one, best)), best)
        best = next((one for one in timed if _is_by_another_clock(one, best)), best)
    found = instant_of(_placed(best, said), zone)
    if found is None or updated is None or abs(updated - found) >= timedelta(minutes=1):
        return found
    others = (instant_of(_placed(one, said), zone) for one in timed if not _is_by_another_clock(best, one))
    return min((one for one in others if one), default=found)


def _said_published(elements: Elements, page: Page, seen: Overview) -> Iterator[ToldTime | None]:
    yield told_in(selected_value(elements.tree, page.selectors, "published_time", "publish_date"))
    yield from (told_in(seen.said[name]) for name in _PUBLISHED if name in seen.said)
    if seen.linked_data.is_about_this_page:
        yield told_in(seen.linked_data.published)
    yield from (told_in(seen.said[name]) for name in _PUBLISHED_TOO if name in seen.said)


def _is_near(one: ToldTime, other: ToldTime) -> bool:
    return abs(one.wall - other.wall) <= _SAME_EVENT


def _is_local(told: ToldTime) -> bool:
    return bool(told.at.utcoffset())


def _shows_the_same(one: ToldTime, best: ToldTime) -> bool:
    return not _is_local(best) and abs(one.wall - best.wall) < timedelta(minutes=1)


def _is_by_another_clock(one: ToldTime, other: ToldTime) -> bool:
    """The first in UTC, the second by the clock of a place that it does not name."""
    apart = abs(one.wall - other.wall)
    is_possible = timedelta() < apart <= _FARTHEST_CLOCK and apart % _QUARTER < timedelta(seconds=1)
    return is_possible and other.at.tzinfo is None and one.at.utcoffset() == timedelta()


def _placed(told: ToldTime, said: Sequence[ToldTime]) -> datetime:
    """In the zone of another witness, where the chosen one names none."""
    if told.at.tzinfo is not None:
        return told.at
    zones = (one.at.tzinfo for one in said if _is_local(one) and abs(one.wall - told.wall) < _FURTHEST_ZONE)
    return told.at.replace(tzinfo=next(zones, None))


def _told_by_title(seen: Overview) -> Iterator[ToldTime]:
    """`… | DW | 28.04.2023`, `…, 26.04.2024`."""
    found = _END_OF_A_TITLE.match(seen.page_title)
    if found and (told := told_in(found[1])):
        yield told


def guess_date(html: str, page: Page, now: datetime) -> datetime | None:
    """By the patterns of many sites; a day without a time. Slow, so only where nothing else is known."""
    from htmldate import find_date

    # Never as text: one that begins with `http` and has no space in it would be fetched.
    tree = lxml_tree(html)
    if tree is None:
        return None
    latest = (now + timedelta(days=1)).strftime("%Y-%m-%d")
    try:
        found = find_date(tree, extensive_search=False, original_date=True, max_date=latest)
    except ValueError:
        # A character reference named something that the parser behind this refuses to hold.
        return None
    return not_in_the_future(moment_from(found, page.zone()), now) if found else None


def _said(seen: Overview, names: Sequence[str], page: Page) -> Iterator[datetime | None]:
    return (moment_from(seen.said[name], page.zone()) for name in names if name in seen.said)


def _shown(elements: Elements, page: Page, now: datetime) -> Iterator[ToldTime]:
    for css in _SHOWN:
        for node in islice(elements.tree.css(css), _LONGEST_LOOK):
            if told := _told_by(node, page, now):
                yield told


def _beside_heading(elements: Elements, page: Page, now: datetime) -> Iterator[ToldTime]:
    """`erstellt: 01. April 2025, 15:25`: the first line with a time that is not said to be that of a change."""
    lines = (_before_changes(line) for line in lines_beside_heading(elements) if any(map(str.isdigit, line)))
    told = (told_in(line) or told_ago(line, now, page.zone()) for line in lines if line)
    return islice((one for one in told if one and one.has_time), 1)


def _before_changes(line: str) -> str:
    """Letters are as many when they are folded, but for a few: those only shift where the line is cut."""
    found = _CHANGED.search(fold(line))
    return line[: found.start()] if found else line


def _told_by(node: LexborNode, page: Page, now: datetime) -> ToldTime | None:
    """Its attribute, and the minute from its text where the attribute is only a day."""
    declared = told_in(node.attributes.get("datetime") or node.attributes.get("content") or "")
    if declared and declared.has_time:
        return declared
    text = " ".join(node.text(separator=" ").split())
    shown = (told_in(text) or told_ago(text, now, page.zone())) if len(text) <= _LONGEST_SHOWN else None
    return shown if shown and (shown.has_time or not declared) else declared


def _in_order(published: datetime | None, updated: datetime | None) -> Timing:
    """A change before publication is a template's mistake."""
    return Timing(published, None if published and updated and updated < published else updated)
