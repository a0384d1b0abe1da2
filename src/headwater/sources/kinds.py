"""The kinds of channels: one entry each, and everything that differs from kind to kind stands in it.

A new kind is an entry here and a reader. Apart from all that is stored: children know the kinds too, and load no
database. Readers are named and not imported, because most processes read nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Self

# A sitemap may be larger than any page.
SITEMAP_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    reader: str = ""  # `module:function` of an answer; empty: nothing is asked for
    origin: str = ""  # of its items in the frontier; empty: that of the channel that is really read
    mode: str = "any"  # of ingestion: the ingestion modes other than this one leave it out
    usual_places: tuple[str, ...] = ()  # paths where a search looks for one
    interval: timedelta | None = None  # usual between polls; None: by the policy of its source
    most_answers: int | None = None  # of one run; None: as many pages as its source and its host allow
    body_bytes: int | None = None  # of one answer; None: as of any page
    brings_news: bool = True  # what is not polled for news keeps the interval of searches
    is_found: bool = False  # by a search
    has_one_source: bool = False  # two sources never follow the same one
    has_past: bool = False  # a backfill reads it
    has_pages: bool = False  # one that cannot be read is missed; parts of a sitemap come and go
    is_never_empty: bool = False  # without items something is wrong with it
    is_budgeted: bool = False  # it lists a site rather than its news: `max_pages` counts for it
    remembers_items: bool = False  # by address; items of others are told apart by the frontier alone
    remembers_answers: bool = True  # validators of its further answers
    learns_rhythm: bool = False  # it lists news, not all there is
    names_vacancies: bool = False  # of a job source
    reads_since_last: bool = False  # its answer depends on when it was last asked
    asks_plugins: bool = False  # a reader that another distribution brings for its host goes before ours
    reads_in_scope: bool = False  # its reader goes by the places of the source
    may_be_pushed: bool = False  # by the hub that its answers name
    links_in_scope: bool = False  # its items may lie only where the source says; a feed may link anywhere


_READING = "headwater.discover.polls.reading"
_FEED_PLACES = ("/feed", "/rss", "/atom.xml", "/feed.xml", "/rss.xml", "/index.xml", "/feed.json")
_SITEMAP_PLACES = ("/sitemap.xml", "/news-sitemap.xml", "/sitemap_index.xml", "/sitemap.xml.gz")


class ChannelKind(StrEnum):
    traits: KindTraits

    def __new__(cls, value: str, traits: KindTraits = KindTraits()) -> Self:  # noqa: B008 - a frozen value
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.traits = traits
        return kind

    FEED = (
        "feed",
        KindTraits(
            reader=f"{_READING}:read_feed_answer",
            origin="feed",
            mode="feed",
            usual_places=_FEED_PLACES,
            is_found=True,
            has_one_source=True,
            has_past=True,
            is_never_empty=True,
            remembers_items=True,
            learns_rhythm=True,
            names_vacancies=True,
            asks_plugins=True,
            may_be_pushed=True,
        ),
    )
    SITEMAP = (
        "sitemap",
        KindTraits(
            reader=f"{_READING}:read_sitemap_answer",
            origin="sitemap",
            mode="feed",
            usual_places=_SITEMAP_PLACES,
            interval=timedelta(hours=6),
            most_answers=50,
            body_bytes=SITEMAP_BYTES,
            is_found=True,
            has_past=True,
            is_budgeted=True,
            reads_since_last=True,
            reads_in_scope=True,
        ),
    )
    LISTING = (
        "listing",
        KindTraits(
            reader=f"{_READING}:read_listing_answer",
            origin="spider",
            mode="spider",
            is_found=True,
            has_pages=True,
            is_never_empty=True,
            remembers_items=True,
            learns_rhythm=True,
            names_vacancies=True,
            asks_plugins=True,
            reads_in_scope=True,
            links_in_scope=True,
            may_be_pushed=True,
        ),
    )
    API = (
        "api",
        KindTraits(
            reader=f"{_READING}:read_api_answer",
            origin="api",
            has_pages=True,
            remembers_items=True,
            remembers_answers=False,  # its pages have one address
            learns_rhythm=True,
            names_vacancies=True,
            asks_plugins=True,
            reads_since_last=True,
        ),
    )
    # Start pages, whose links lead on.
    CRAWL = ("crawl", KindTraits(origin="spider", mode="spider", interval=timedelta(days=7), links_in_scope=True))
    # Looks for the others.
    SEARCH = (
        "search",
        KindTraits(reader=f"{_READING}:read_search_answer", mode="feed", brings_news=False, remembers_answers=False),
    )
    # Reads the past of its source, once: feeds and sitemaps, each by its own reader.
    BACKFILL = (
        "backfill",
        KindTraits(
            reader=f"{_READING}:read_feed_answer",
            most_answers=500,
            brings_news=False,
            is_budgeted=True,
            remembers_answers=False,
            reads_in_scope=True,
        ),
    )


def kinds_that(is_such: Callable[[KindTraits], object]) -> list[str]:
    """For a query's parameter."""
    return [str(kind) for kind in ChannelKind if is_such(kind.traits)]


NEWS = kinds_that(lambda traits: traits.brings_news)
