"""Records, sinks and rights to send, for tests of the sink elasticsearch."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.deliver.http import SinkClient
from headwater.deliver.records import DOCUMENT_FIELDS, JOB_FIELDS, Record, RecordKey, RecordSource
from headwater.deliver.sink import Fence, Removal, SinkContext, Upsert
from headwater.deliver.sinks.elasticsearch import KIND, ElasticsearchOptions, ElasticsearchSink
from headwater.log import make_logger
from headwater.net.guard import OperatorGuard
from headwater.net.identity import Identity
from headwater.net.transport import Transport
from headwater.record_kind import RecordKind
from headwater.rights.record import rights_as_dict
from headwater.urls.canonical import canonicalise

CRAWLED_AT = datetime(2026, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
SOURCE = RecordSource(UUID(int=7), "The Daily Test", "https://daily.test/")
LISTS = {
    *("keywords", "images", "mission_tags", "functional_tags", "benefits", "policy_flags", "donor_context"),
    *("crisis_type", "humanitarian_cluster", "impact_domain", "functional_role", "data_quality_issues"),
}


def document(
    url: str = "https://daily.test/story",
    *,
    version: int = 1,
    source: RecordSource = SOURCE,
    html: str | None = None,
    **fields: Any,
) -> Record:
    """An article with everything that a page may say."""
    key = RecordKey(RecordKind.DOCUMENT, 3, canonicalise(url).url_hash)
    told = {
        "url": url,
        "canonical_url": url,
        "title": "A story",
        "text": "Some words of\na story.",
        "summary": "Some words",
        "author": "A. Writer",
        "authors": ["A. Writer"],
        "published_at": datetime(2026, 5, 6, 7, tzinfo=UTC),
        "updated_at": None,
        "language": "en",
        "section": "World",
        "keywords": ["one", "two"],
        "images": ["https://daily.test/1.jpg"],
        "word_count": 5,
        "page_type": "article",
        "quality": 80,
        "produced_by": "headwater 1",
        "metadata": METADATA,
        "crawled_at": CRAWLED_AT,
        "first_seen_at": CRAWLED_AT,
        "changed_at": CRAWLED_AT,
        "rights": rights_as_dict([], None),
        "content_hash": "ab" * 32,
        "near_duplicate_of": None,
    }
    assert set(told) >= set(DOCUMENT_FIELDS)
    return Record(key, version, source, {**_about(key, version, source), **told, **fields}, html)


def vacancy(number: int = 1, *, version: int = 1, **fields: Any) -> Record:
    key = RecordKey(RecordKind.JOB, 3, bytes([number]) * 32)
    told: dict[str, Any] = {name: [] if name in LISTS else None for name in JOB_FIELDS}
    told |= {
        "job_id": UUID(int=number),
        "title": "Nurse",
        "org_name": "Clinic",
        "deadline": date(2026, 6, 1),
        "application_window": {"opens": "2026-05-01"},
        "raw_metadata": {"unknown": ["x"]},
        "compensation_min_usd": 1000.5,
        "sdgs": [3],
        "international_eligible": True,
        "fetched_at": CRAWLED_AT,
        "status": "active",
    }
    return Record(key, version, SOURCE, {**_about(key, version, SOURCE), **told, **fields})


METADATA = {
    "og_title": "A story, shared",
    "og_description": "Words",
    "og_image": "https://daily.test/1.jpg",
    "og_url": "https://daily.test/story",
    "og_type": "article",
    "og_site_name": "Daily",
    "og_image_width": 1200,
    "og_image_height": 630,
    "meta_description": "Words",
    "meta_keywords": "one, two",
    "twitter_card": "summary",
    "twitter_site": "@daily",
    "article_section": "World",
    "article_opinion": "false",
    "article_content_tier": "free",
    "json_ld_data": {
        "jsonld_schema_type": "NewsArticle",
        "jsonld_headline": "A story",
        "jsonld_description": "Words",
        "jsonld_article_section": "World",
        "jsonld_author": "A. Writer",
        "jsonld_publisher_name": "Daily",
        "jsonld_url": "https://daily.test/story",
        "jsonld_image_url": "https://daily.test/1.jpg",
        "jsonld_date_published": "2026-05-06T07:00:00+00:00",
        "jsonld_date_created": "2026-05-06T07:00:00.123456+02:00",
        "jsonld_date_modified": "2026-05-06T07:00:00+00:00",
        "jsonld_word_count": 5,
        "jsonld_keywords": ["one", "two"],
        "jsonld_location": "Here",
        "jsonld_raw": {"@type": "NewsArticle", "wordCount": {"odd": [1, "x"]}},
    },
}


def _about(key: RecordKey, version: int, source: RecordSource) -> dict[str, Any]:
    return {
        "id": key.id,
        "kind": str(key.kind),
        "version": version,
        "source_id": source.id,
        "source_name": source.name,
    }


def upsert(sink: ElasticsearchSink, record: Record, position: int) -> Upsert:
    return Upsert(record, position, sink.place_of(record))


def removal(sink: ElasticsearchSink, record: Record, position: int) -> Removal:
    return Removal(record.key, position, record.version + 1, sink.place_of(record))


def right_to_send(seconds: float = 60, batch_number: int = 1) -> Fence:
    clock = SystemClock()
    return Fence(clock, "token", clock.monotonic() + seconds, batch_number)


@asynccontextmanager
async def sink_context(log: io.StringIO | None = None, timeout: float = 15.0) -> AsyncIterator[SinkContext]:
    clock = SystemClock()
    async with Transport(Identity("Tester/1"), OperatorGuard(), clock) as transport:
        yield SinkContext(
            "search",
            clock,
            random_from(1),
            make_logger("debug", "json", stream=log or io.StringIO()),
            Path("unused"),
            {"env:KEY": "the-key", "env:PASSWORD": "the-password"}.__getitem__,
            lambda address: SinkClient(transport, address, timeout=timeout),
        )


@asynccontextmanager
async def open_sink(
    url: str, log: io.StringIO | None = None, timeout: float = 15.0, **options: Any
) -> AsyncIterator[ElasticsearchSink]:
    async with sink_context(log, timeout) as context:
        sink = KIND.make(ElasticsearchOptions(url=url, **options), context)
        assert isinstance(sink, ElasticsearchSink)
        yield sink
        await sink.close()
