"""The raw_content layout: an index for each source, with the mapping and the documents that classifiers read. Pure.

The mapping is strict and shared with programs of others: a field that it does not name rejects the whole document.
"""

import re
from collections.abc import Mapping
from typing import Any

from headwater.deliver.records import Record

SUFFIX = "_raw_content"
UNNAMED = "unknown"
# Names of indexes are limited to 255 bytes, and ours are ASCII.
LONGEST_NAME = 255 - len(SUFFIX)
# Lucene refuses a document for one term beyond this, whatever field it stands in.
LONGEST_TERM_BYTES = 32_766
LARGEST_INTEGER = 2**31 - 1

_KEYWORD = {"type": "keyword"}
_TEXT = {"type": "text", "analyzer": "standard"}
_INTEGER = {"type": "integer"}
_DATE = {"type": "date", "format": "strict_date_optional_time||epoch_millis"}
_TEXT_AND_KEYWORD = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}

_LINKED_DATA = {
    "jsonld_headline": _TEXT,
    "jsonld_description": _TEXT,
    "jsonld_article_section": _KEYWORD,
    "jsonld_author": _TEXT,
    "jsonld_publisher_name": _TEXT,
    "jsonld_url": _KEYWORD,
    "jsonld_image_url": _KEYWORD,
    "jsonld_date_published": _DATE,
    "jsonld_date_created": _DATE,
    "jsonld_date_modified": _DATE,
    "jsonld_word_count": _INTEGER,
    "jsonld_keywords": _KEYWORD,
    "jsonld_schema_type": _KEYWORD,
    "jsonld_location": _TEXT,
    "jsonld_raw": {"type": "object", "enabled": False},
}
_META = {
    "twitter_card": _KEYWORD,
    "twitter_site": _KEYWORD,
    "og_site_name": _KEYWORD,
    "article_opinion": _KEYWORD,
    "article_content_tier": _KEYWORD,
    "og_image_width": _INTEGER,
    "og_image_height": _INTEGER,
    "created_at": _DATE,
    "updated_at": _DATE,
    "detected_content_type": _TEXT_AND_KEYWORD,
    "page_type": _TEXT_AND_KEYWORD,
    "indigenous_region": _TEXT_AND_KEYWORD,
}
MAPPING: Mapping[str, Any] = {
    "dynamic": "strict",
    "properties": {
        "id": _KEYWORD,
        "url": _KEYWORD,
        "source_name": _KEYWORD,
        "title": _TEXT,
        "raw_text": _TEXT,
        "raw_html": {"type": "text", "index": False},
        "author": {"type": "text"},
        "og_type": _KEYWORD,
        "og_title": _TEXT,
        "og_description": _TEXT,
        "og_image": _KEYWORD,
        "og_url": _KEYWORD,
        "meta_description": _TEXT,
        "meta_keywords": _KEYWORD,
        "canonical_url": _KEYWORD,
        "article_section": _KEYWORD,
        "crawled_at": _DATE,
        "published_date": _DATE,
        "classified_at": _DATE,
        "classification_status": _KEYWORD,
        "word_count": _INTEGER,
        "json_ld_data": {"properties": _LINKED_DATA},
        "meta": {"properties": _META},
    },
}


def index_of(source_name: str) -> str:
    """Two sources whose names differ only in signs share an index."""
    name = re.sub(r"[^a-z0-9]+", "_", source_name.lower()).strip("_")[:LONGEST_NAME].rstrip("_")
    return (name or UNNAMED) + SUFFIX


def document_of(record: Record) -> dict[str, Any]:
    """As a writer leaves it for a classifier: pending, with what the page says under the contract's names."""
    fields = record.fields
    said: Mapping[str, Any] = fields.get("metadata") or {}
    text = fields.get("text") or ""
    found = {
        **said,
        "author": fields.get("author"),
        "canonical_url": fields.get("canonical_url"),
        "article_section": said.get("article_section") or fields.get("section"),
        "raw_html": record.html,
        "json_ld_data": _fitting(said.get("json_ld_data") or {}, _LINKED_DATA),
        "meta": _fitting(_meta(fields, said), _META),
    }
    return {
        **_fitting(found, MAPPING["properties"]),
        "id": record.id,
        "url": fields["url"],
        "source_name": record.source.name,
        "title": fields.get("title") or "",
        "raw_text": text,
        "word_count": len(text.split()),
        "crawled_at": fields["crawled_at"],
        "published_date": fields.get("published_at"),
        "classification_status": "pending",
    }


def _meta(fields: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    # `detected_content_type` outranks all that a classifier finds out itself: it is left to those who are that sure.
    return {
        **said,
        "created_at": fields.get("first_seen_at"),
        "updated_at": fields.get("changed_at"),
        "page_type": fields.get("page_type"),
    }


def _fitting(values: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the mapping names and would take, without empty ones."""
    return {
        name: value
        for name, value in values.items()
        if name in properties and value not in (None, "", [], {}) and _fits(value, properties[name].get("type"))
    }


def _fits(value: Any, kind: str | None) -> bool:
    """A field that does not fit is left out: it would take the document with it."""
    if kind == "integer":
        return isinstance(value, int) and abs(value) <= LARGEST_INTEGER
    if kind == "keyword":
        return all(
            isinstance(one, str) and len(one.encode()) <= LONGEST_TERM_BYTES
            for one in (value if isinstance(value, list) else [value])
        )
    if kind == "object":
        return isinstance(value, dict)
    return True
