from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from headwater.discover.feeds import read_feed
from headwater.discover.items import Reading

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
Read = Callable[..., Reading]


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def read() -> Read:
    """Reads what has to be readable."""

    def reading(
        document: str | bytes, content_type: str = "", base_url: str = "https://site.example/news/feed"
    ) -> Reading:
        body = document.encode() if isinstance(document, str) else document
        found = read_feed(body, content_type, base_url, NOW)
        assert isinstance(found, Reading), found
        return found

    return reading


@pytest.fixture
def rss(read: Read) -> Read:
    """Reads RSS around what is given: what stands in the channel."""

    def reading(inside: str, **options: str) -> Reading:
        names = 'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        names += 'xmlns:content="http://purl.org/rss/1.0/modules/content/" '
        names += 'xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
        return read(f'<rss version="2.0" {names}><channel>{inside}</channel></rss>', **options)

    return reading


@pytest.fixture
def atom(read: Read) -> Read:
    def reading(inside: str, **options: str) -> Reading:
        return read(f'<feed xmlns="http://www.w3.org/2005/Atom">{inside}</feed>', **options)

    return reading
