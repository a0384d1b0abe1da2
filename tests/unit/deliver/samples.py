"""Records as the archive gives them, made by hand, and titles that somebody wrote to harm."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from headwater.deliver.records import DOCUMENT_FIELDS, JOB_FIELDS, Record, RecordKey, RecordSource
from headwater.deliver.sink import Removal, Upsert
from headwater.record_kind import RecordKind
from headwater.rights.record import rights_as_dict

NOW = datetime(2026, 11, 18, 14, 5, 9, tzinfo=UTC)
SOURCE = RecordSource(UUID(int=7), "Harbour News", "https://harbour.example/", "news", ("sea", "local"))
HOSTILE = (
    "=cmd|' /C calc'!A0",
    "two\nlines\r\nof it",
    "]]></title><script>alert(1)</script>",
    "nul\0and\x1b[31mred",
    "lone \ud800 surrogate",
    "\u202egnp.exe\u202c",
    '"quoted" & <b>bold</b>',
    "../../etc/passwd",
    "---\nkey: value",
    "\u2028line\u0085ends\ufeff\ufffe",
    "",
)
LISTS = {
    *("keywords", "images", "mission_tags", "functional_tags", "benefits", "policy_flags", "donor_context"),
    *("crisis_type", "humanitarian_cluster"),
}


def key(number: int, kind: RecordKind = RecordKind.DOCUMENT) -> RecordKey:
    digest = sha256(f"{kind} {number}".encode()).digest()
    return RecordKey(kind, digest[0], digest)


def document(number: int = 1, **said: Any) -> Record:
    at = NOW - timedelta(minutes=number)
    fields: dict[str, Any] = dict.fromkeys(DOCUMENT_FIELDS)
    url = f"https://harbour.example/{number}"
    fields |= {
        "url": url,
        "canonical_url": url,
        "title": f"Tides {number}",
        "text": f"High water.\nLow water {number}.",
    }
    fields |= {
        "summary": "",
        "author": "Ann",
        "authors": ["Ann"],
        "language": "en",
        "section": "",
        "page_type": "article",
    }
    fields |= {"keywords": ["sea", "tide"], "images": [], "word_count": 5, "quality": 80, "metadata": {"a": [1]}}
    fields |= {"produced_by": "x", "published_at": at, "crawled_at": NOW, "first_seen_at": NOW, "changed_at": NOW}
    fields |= {"rights": rights_as_dict([], None)}
    return made(key(number), fields | {"content_hash": "00" * 32, "near_duplicate_of": None}, said)


def job(number: int = 1, **said: Any) -> Record:
    fields: dict[str, Any] = {name: [] if name in LISTS else None for name in JOB_FIELDS}
    fields |= {"title": f"Nurse {number}", "org_name": "Relief", "apply_url": f"https://jobs.example/{number}"}
    fields |= {"language": "en", "location_raw": "Nairobi, Kenya", "country": "Kenya", "city": "Nairobi"}
    fields |= {"deadline": NOW.date(), "description_snippet": "Care.", "application_window": {}, "raw_metadata": {}}
    fields |= {"international_eligible": True, "compensation_visible": False, "data_provenance": "list", "sdgs": [3]}
    fields |= {"compensation_min_usd": 1200.5, "status": "active", "page_url": "https://jobs.example/"}
    fields |= dict.fromkeys(("fetched_at", "last_seen_at", "created_at", "updated_at"), NOW)
    return made(key(number, RecordKind.JOB), fields | {"job_id": UUID(int=number)}, said)


def made(of: RecordKey, fields: dict[str, Any], said: dict[str, Any]) -> Record:
    source, version = said.pop("source", SOURCE), said.pop("version", 1)
    about = {"id": of.id, "kind": str(of.kind), "version": version, "source_id": source.id, "source_name": source.name}
    return Record(of, version, source, about | fields | said)


def upsert(position: int, record: Record | None = None) -> Upsert:
    return Upsert(record or document(position), position)


def removal(position: int, of: RecordKey) -> Removal:
    return Removal(of, position, 2)


def renamed(record: Record, name: str) -> Record:
    return replace(record, source=replace(record.source, name=name))
