"""Runs of channels, and the pages of a crawl."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.actions.urls import CrawlStory
    from headwater.discover.crawling import CrawledPage
    from headwater.reports.discovery import Run


def run_as_dict(run: "Run") -> dict[str, Any]:
    return asdict(run)


def crawl_as_dict(story: "CrawlStory") -> dict[str, Any]:
    crawl = story.crawl
    state = {"state": crawl.state, "reason": crawl.reason, "pages": crawl.pages, "limits_reached": story.limits}
    return {**state, "data": [page_as_dict(one) for one in story.pages.items], "cursor": story.pages.cursor}


def page_as_dict(one: "CrawledPage") -> dict[str, Any]:
    return {name: value for name, value in asdict(one).items() if name != "key"}
