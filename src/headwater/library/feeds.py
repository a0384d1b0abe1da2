"""Feeds, read as a poll reads them."""

from headwater.clock import SystemClock
from headwater.discover.feeds.read import read_feed
from headwater.discover.items import Item, Unreadable
from headwater.errors import UnreadableInput
from headwater.library.given import bytes_of, reading, text_of
from headwater.library.values import Feed, FeedItem
from headwater.urls.canonical import canonicalise


def feed_from(body: object, url: object, content_type: str) -> Feed:
    # Text was decoded by the caller, whatever its declaration says.
    header = "; charset=utf-8" if isinstance(body, str) else text_of(content_type, "content_type")
    address = canonicalise(text_of(url, "url")).url if url else ""
    with reading("feed"):
        found = read_feed(bytes_of(body, "feed"), header, address, SystemClock().now())
    if isinstance(found, Unreadable):
        raise UnreadableInput(found.why)
    return Feed(
        title=found.title,
        items=tuple(map(_public, found.items)),
        language=found.language,
        hub=found.hub,
        ttl=found.ttl,
        skip_hours=found.skip_hours,
        skip_days=found.skip_days,
        next_pages=found.more,
        notes=found.notes,
        is_partial=found.is_partial,
    )


def _public(item: Item) -> FeedItem:
    return FeedItem(
        url=item.url,
        title=item.title,
        id=item.guid,
        author=item.author,
        summary=item.summary,
        content=item.content,
        language=item.language,
        published_at=item.published_at,
        updated_at=item.updated_at,
    )
