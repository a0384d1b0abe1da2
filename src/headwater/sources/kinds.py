"""The kinds of channels. Apart from all that is stored: children know them too, and load no database."""

from enum import StrEnum


class ChannelKind(StrEnum):
    FEED = "feed"
    SITEMAP = "sitemap"
    LISTING = "listing"
    API = "api"
    CRAWL = "crawl"  # start pages, whose links lead on
    SEARCH = "search"  # looks for the others
    BACKFILL = "backfill"  # reads the past of its source, once
