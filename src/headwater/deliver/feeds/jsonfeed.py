"""JSON Feed 1.1."""

from collections.abc import Iterable
from typing import Any

import orjson

from headwater.deliver.feeds.entries import FeedAbout, FeedEntry, moment_in_feed

VERSION = "https://jsonfeed.org/version/1.1"


def json_feed(about: FeedAbout, entries: Iterable[FeedEntry]) -> bytes:
    told = {"version": VERSION, "title": about.title, "home_page_url": about.url, "feed_url": about.self_url}
    kept: dict[str, Any] = {name: value for name, value in told.items() if value}
    return orjson.dumps(kept | {"items": [_item(one) for one in entries]}, option=orjson.OPT_INDENT_2)


def _item(entry: FeedEntry) -> dict[str, Any]:
    """An item must have its content as text or as HTML."""
    summary = " — ".join(filter(None, (" · ".join(entry.facts), entry.summary)))
    content = {"content_html": entry.html} if entry.text else {"content_text": summary or entry.title}
    told = {
        "id": entry.urn,
        "url": entry.url,
        "title": entry.title,
        "summary": summary if entry.text else "",
        "date_published": moment_in_feed(entry.published_at),
        "date_modified": moment_in_feed(entry.updated_at),
        "authors": [{"name": name} for name in entry.names],
        "tags": [entry.source] if entry.source else [],
        "language": entry.language,
    }
    return {name: value for name, value in told.items() if value} | content
