"""Records as rows of a table: the columns of each kind, in an order and with types that stay. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from headwater.deliver.records import DOCUMENT_FIELDS, JOB_FIELDS, Record
from headwater.record_kind import RecordKind


class ColumnType(StrEnum):
    TEXT = "text"
    TEXTS = "list of texts"
    WHOLE = "whole number"
    WHOLES = "list of whole numbers"
    NUMBER = "number"
    FLAG = "yes or no"
    MOMENT = "time"
    DAY = "date"
    JSON = "JSON as text"


# Those that are no text.
_TYPES = {
    ColumnType.TEXTS: (
        *(
            "authors",
            "keywords",
            "images",
            "mission_tags",
            "functional_tags",
            "benefits",
            "policy_flags",
            "donor_context",
        ),
        *("crisis_type", "humanitarian_cluster", "impact_domain", "functional_role", "data_quality_issues"),
    ),
    ColumnType.WHOLE: ("version", "word_count", "quality", "contract_duration_months", "data_quality_score"),
    ColumnType.WHOLES: ("sdgs",),
    ColumnType.NUMBER: ("compensation_min_usd", "compensation_max_usd", "compensation_confidence"),
    ColumnType.FLAG: ("international_eligible", "surge_required", "compensation_visible"),
    ColumnType.MOMENT: (
        *("published_at", "updated_at", "crawled_at", "first_seen_at", "changed_at"),
        *("fetched_at", "last_seen_at", "created_at"),
    ),
    ColumnType.DAY: ("deadline",),
    ColumnType.JSON: ("metadata", "application_window", "raw_metadata", "rights"),
}
_TYPE_OF = {name: kind for kind, names in _TYPES.items() for name in names}

_ABOUT = ("id", "version", "source_id", "source_name")
_NAMES = {
    RecordKind.DOCUMENT: (*_ABOUT, *DOCUMENT_FIELDS, "content_hash", "near_duplicate_of"),
    RecordKind.JOB: (*_ABOUT, "job_id", *JOB_FIELDS),
}
COLUMNS: Mapping[RecordKind, Mapping[str, ColumnType]] = MappingProxyType(
    {
        kind: MappingProxyType({name: _TYPE_OF.get(name, ColumnType.TEXT) for name in names})
        for kind, names in _NAMES.items()
    }
)


def row_of(record: Record) -> dict[str, Any]:
    """Its values by column; None where it has none."""
    return {name: record.fields.get(name) for name in COLUMNS[record.key.kind]}
