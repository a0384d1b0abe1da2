from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from multidict import CIMultiDict

from headwater.archive.raw import KeptBody, RawBody
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.extraction.article import Article
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page
from headwater.ingest.stored_pages import lease_of
from headwater.learning.template_cache import TemplateCache
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

NOW = datetime(2026, 5, 4, tzinfo=UTC)
STORY = (
    b"<title>A story of tides</title><article>" + b"<p>The tide tables were printed this week. " * 20 + b"</article>"
)


@pytest.mark.parametrize(
    ("reader", "teaches"), [("trafilatura", True), ("selectors", False), ("plugin:acme-reader", False)]
)
def test_a_host_learns_from_pages_that_were_read_by_general_rules(reader: str, teaches: bool) -> None:
    url = canonicalise("https://news.example/1")
    body = RawBody(DocumentKey(url.bucket, url.url_hash), UUID(int=1), url.url, 200, CIMultiDict(), STORY)
    read = extract(Page(url=url.url, body=STORY), NOW)
    assert isinstance(read, Article)
    cache = TemplateCache(SystemClock(), random_from(1))
    cache.note(lease_of(KeptBody(NOW, body)), replace(read, produced_by=reader))
    assert bool(cache.taken(is_all=False)) is teaches
