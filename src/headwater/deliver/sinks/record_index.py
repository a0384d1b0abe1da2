"""The documents layout: an index and an alias for each kind of records, with a mapping of our own. Pure.

Fields that a later version adds are kept and not searched, until the index is made anew: `dynamic` is false.
"""

from collections.abc import Mapping
from typing import Any

from headwater.deliver.records import Record
from headwater.record_kind import RecordKind
from headwater.rights.record import PageUse

_SORTABLE = {"type": "keyword", "ignore_above": 8_191}  # characters of four bytes at most within Lucene's longest term
_TEXT = {"type": "text"}
_TITLE = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 1_024}}}
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "double"}
_YES_OR_NO = {"type": "boolean"}
_DATE = {"type": "date"}
_KEPT = {"type": "object", "enabled": False}

_RIGHTS = {
    "properties": {**dict.fromkeys((*map(str, PageUse), "licences"), _SORTABLE), "statements": _KEPT},
}
_KEYWORDS = {
    RecordKind.DOCUMENT: (
        *("url", "canonical_url", "language", "section", "authors", "keywords", "images", "page_type"),
        "produced_by",
        *("content_hash", "near_duplicate_of"),
    ),
    RecordKind.JOB: (
        *("job_id", "apply_url", "page_url", "language", "country", "country_iso", "country_name", "city"),
        *("region_code", "level_norm", "mission_tags", "functional_tags", "org_type", "career_type", "contract_type"),
        *("contract_urgency", "work_modality", "work_hours", "benefits", "policy_flags", "donor_context"),
        *("project_modality", "procurement_vehicle", "crisis_type", "response_phase", "humanitarian_cluster"),
        *("deployment_timeframe", "duty_station_hardship", "compensation_type", "compensation_currency"),
        *("data_provenance", "impact_domain", "functional_role", "experience_level", "data_quality_issues", "status"),
    ),
}
_OTHERS: Mapping[RecordKind, Mapping[str, Mapping[str, Any]]] = {
    RecordKind.DOCUMENT: {
        "title": _TITLE,
        "text": _TEXT,
        "summary": _TEXT,
        "author": _TITLE,
        "published_at": _DATE,
        "updated_at": _DATE,
        "crawled_at": _DATE,
        "first_seen_at": _DATE,
        "changed_at": _DATE,
        "word_count": _INTEGER,
        "quality": _INTEGER,
        "metadata": _KEPT,
        "rights": _RIGHTS,
        "raw_html": {"type": "text", "index": False},
    },
    RecordKind.JOB: {
        "title": _TITLE,
        "org_name": _TITLE,
        "location_raw": _TITLE,
        "description_snippet": _TEXT,
        "international_eligible": _YES_OR_NO,
        "surge_required": _YES_OR_NO,
        "compensation_visible": _YES_OR_NO,
        "compensation_min_usd": _NUMBER,
        "compensation_max_usd": _NUMBER,
        "compensation_confidence": _NUMBER,
        "contract_duration_months": _INTEGER,
        "data_quality_score": _INTEGER,
        "sdgs": _INTEGER,
        "deadline": _DATE,
        "fetched_at": _DATE,
        "last_seen_at": _DATE,
        "created_at": _DATE,
        "updated_at": _DATE,
        "application_window": _KEPT,
        "raw_metadata": _KEPT,
    },
}
_OF_ALL = {"id": _SORTABLE, "kind": _SORTABLE, "version": _INTEGER, "source_id": _SORTABLE, "source_name": _SORTABLE}


def mapping_of(kind: RecordKind) -> dict[str, Any]:
    return {
        "dynamic": False,
        "properties": {**_OF_ALL, **dict.fromkeys(_KEYWORDS[kind], _SORTABLE), **_OTHERS[kind]},
    }


def document_of(record: Record) -> dict[str, Any]:
    return {**record.fields, "raw_html": record.html} if record.html else dict(record.fields)
