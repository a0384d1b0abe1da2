"""Documents and vacancies, as hits of a search and whole."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from headwater.archive.reads import StoredBlocks, StoredVersion
from headwater.blocks.block import json_of
from headwater.blocks.markdown import markdown_of
from headwater.reports.archive import DetailedHit, SearchAnswer
from headwater.reports.documents import Inspected
from headwater.reports.vacancies import VacancyRow
from headwater.search.facets import Facets
from headwater.storable import as_laid_out
from headwater.urls.fingerprint import DocumentKey

if TYPE_CHECKING:
    from headwater.ingest.replay import Replayed


def document_hit_as_dict(one: DetailedHit) -> dict[str, Any]:
    hit = one.hit
    return {
        "id": hit.hash.hex(),
        "url": hit.url,
        "title": hit.title,
        "source": one.about["source"],
        "source_id": hit.source_id,
        "language": hit.language,
        "published_at": hit.published_at,
        "first_seen_at": hit.first_seen_at,
        "word_count": one.about["word_count"],
        "is_duplicate": hit.is_duplicate,
        "snippet": hit.snippet,
        "rank": hit.rank,
    }


def job_hit_as_dict(one: DetailedHit) -> dict[str, Any]:
    about = {name: value for name, value in one.about.items() if name not in ("bucket", "hash")}
    hit = one.hit
    return about | {
        "canonical_hash": hit.hash.hex(),
        "title": hit.title,
        "apply_url": hit.url,
        "source_id": hit.source_id,
        "language": hit.language,
        "snippet": hit.snippet,
        "rank": hit.rank,
    }


def account_of(answer: SearchAnswer) -> dict[str, Any]:
    return {
        "cursor": answer.cursor,
        "has_more": answer.has_more,
        "is_complete": answer.is_complete,
        "engine": answer.engine,
        "took_ms": round(answer.took.total_seconds() * 1000, 1),
    }


def facets_as_dict(facets: Facets) -> dict[str, Any]:
    return {
        "counted": facets.counted,
        "is_complete": facets.is_complete,
        "counts": [asdict(one) for one in facets.counts],
    }


def document_as_dict(inspected: Inspected) -> dict[str, Any]:
    related = [{"relation": one.relation, "id": one.hash.hex(), "url": one.url} for one in inspected.relatives]
    around = {"source": inspected.source, "relatives": related, "why_not_canonical": inspected.why_not_canonical}
    return record_as_dict(inspected.document) | around


def version_as_dict(one: StoredVersion) -> dict[str, Any]:
    return record_as_dict(one)


def blocks_as_dict(one: StoredBlocks) -> dict[str, Any]:
    return {
        "version": one.version,
        "blocks": [json_of(block) for block in one.blocks],
        "markdown": as_laid_out(markdown_of(one.blocks)),
    }


def record_as_dict(record: Any) -> dict[str, Any]:
    """Hashes in hex, keys as the ids of documents."""
    fields = {name: getattr(record, name) for name in record.__dataclass_fields__}
    told = {name: _plain(value) for name, value in fields.items()}
    return ({"id": told.pop("key")} if "key" in told else {}) | told


def _plain(value: Any) -> Any:
    match value:
        case DocumentKey():
            return value.url_hash.hex()
        case bytes():
            return value.hex()
    return value


def vacancy_as_dict(found: VacancyRow) -> dict[str, Any]:
    about = found.about
    hashes = {
        "canonical_hash": about["canonical_hash"].hex(),
        "document_hash": about["document_hash"] and about["document_hash"].hex(),
    }
    return about | hashes | {"sightings": found.sightings, "ending": found.ending and asdict(found.ending)}


def replayed_as_dict(one: "Replayed") -> dict[str, Any]:
    told = {"url": one.url, "outcome": one.outcome, "why": one.why or None}
    if one.difference is None:
        return told
    fields = {name: {"before": before, "after": after} for name, (before, after) in one.difference.fields.items()}
    return told | asdict(one.difference) | {"fields": fields}
