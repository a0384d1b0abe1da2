"""A record on its way out: a document or a vacancy as it is now, with its source, under the names that readers get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from uuid import UUID

from headwater.archive.raw import unpack
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.blocks.block import BodyBlock, unpack_blocks
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.net.body import Packed
from headwater.net.charset import CharsetKind, charset_parameter, decode
from headwater.record_kind import RecordKind
from headwater.rights.record import rights_as_dict

queries = load_queries("headwater.deliver")

DOCUMENT_FIELDS = (
    *(
        "url",
        "canonical_url",
        "title",
        "text",
        "summary",
        "author",
        "authors",
        "published_at",
        "updated_at",
        "language",
        "section",
    ),
    *("keywords", "images", "word_count", "page_type", "quality", "produced_by", "metadata"),
    *("crawled_at", "first_seen_at", "changed_at"),
    "rights",
)
JOB_FIELDS = (
    *("title", "org_name", "apply_url", "language", "location_raw", "country", "country_iso", "country_name", "city"),
    *("region_code", "level_norm", "mission_tags", "functional_tags", "international_eligible", "deadline"),
    *("application_window", "description_snippet", "org_type", "career_type", "contract_type"),
    *("contract_duration_months", "contract_urgency", "work_modality", "work_hours", "benefits", "policy_flags"),
    *("donor_context", "project_modality", "procurement_vehicle", "crisis_type", "response_phase"),
    *("humanitarian_cluster", "surge_required", "deployment_timeframe", "duty_station_hardship"),
    *("compensation_visible", "compensation_type", "compensation_min_usd", "compensation_max_usd"),
    *("compensation_currency", "compensation_confidence", "data_provenance", "raw_metadata", "impact_domain"),
    *("functional_role", "experience_level", "sdgs", "data_quality_score", "data_quality_issues", "status", "page_url"),
    *("fetched_at", "last_seen_at", "created_at", "updated_at"),
)


class RecordKey(NamedTuple):
    kind: RecordKind
    bucket: int
    hash: bytes

    @property
    def id(self) -> str:
        """The public id: the hash of the document's URL, or of the vacancy."""
        return self.hash.hex()


@dataclass(frozen=True, slots=True)
class RecordSource:
    """As much of a source as travels with its records."""

    id: UUID
    name: str
    url: str = ""
    kind: str = ""
    tags: tuple[str, ...] = ()
    country: str | None = None
    # Where the sink asked for it: the address of its first feed.
    feed_url: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """`fields` are values that orjson writes, named as in DOCUMENT_FIELDS and JOB_FIELDS; besides `id`, `kind`,
    `version`, `source_id` and `source_name`. `html` is the raw page, where the sink asked for it and it is still kept.
    `packed_blocks` are those of a document that says more than the lines of its text.
    """

    key: RecordKey
    version: int
    source: RecordSource
    fields: Mapping[str, Any] = field(default_factory=dict)
    html: str | None = None
    packed_blocks: bytes | None = None

    @property
    def id(self) -> str:
        return self.key.id

    @property
    def blocks(self) -> tuple[BodyBlock, ...]:
        return unpack_blocks(self.packed_blocks, self.fields.get("text") or "")


@dataclass(frozen=True, slots=True)
class HeldVersion:
    """A record as a sink holds it. Version 0: it was sent, and nobody knows what became of it."""

    version: int
    place: str


@dataclass(frozen=True, slots=True)
class RecordStanding:
    """How it stands with one key: the record where it is for this reader, and what the reader holds."""

    key: RecordKey
    version: int
    record: Record | None
    held: HeldVersion | None


@dataclass(frozen=True, slots=True)
class Membership:
    """Who reads: a sink, or nobody in particular, through a view, whose words are questions to the index by kind."""

    sink_id: UUID | None = None
    view_id: UUID | None = None
    questions: Mapping[RecordKind, str | None] = field(default_factory=dict)
    takes: frozenset[RecordKind] = frozenset(RecordKind)


async def load_standings(
    database: Database | Connection,
    keys: Sequence[RecordKey],
    reader: Membership,
    *,
    with_html: bool = False,
    with_feeds: bool = False,
    stores: BodyStores = NO_STORES,
) -> dict[RecordKey, RecordStanding]:
    """As it is now, in one snapshot for each kind; a key that nobody knows stands for a record that is gone."""
    found: dict[RecordKey, RecordStanding] = {}
    for kind, statement in (
        (RecordKind.DOCUMENT, queries.documents_as_they_are),
        (RecordKind.JOB, queries.jobs_as_they_are),
    ):
        wanted = [key for key in keys if key.kind is kind]
        if not wanted:
            continue
        rows = await database.fetch(
            *statement(
                buckets=[key.bucket for key in wanted],
                hashes=[key.hash for key in wanted],
                sink_id=reader.sink_id,
                view_id=reader.view_id,
                question=reader.questions.get(kind),
            )
        )
        for key, row in zip(wanted, rows, strict=True):
            found[key] = _standing(key, row, is_taken=kind in reader.takes)
    records = {key: one.record for key, one in found.items() if one.record}
    if with_html:
        for key, html in (await load_html(database, list(records), stores)).items():
            records[key] = replace(records[key], html=html)
    if with_feeds and records:
        addresses = await _feed_addresses(database, {one.source.id for one in records.values()})
        for key, record in records.items():
            source = replace(record.source, feed_url=addresses.get(record.source.id, ""))
            records[key] = replace(record, source=source)
    return found | {key: replace(found[key], record=record) for key, record in records.items()}


async def _feed_addresses(database: Database | Connection, source_ids: set[UUID]) -> dict[UUID, str]:
    rows = await database.fetch(queries.feeds_of_sources, list(source_ids))
    return {row["source_id"]: row["url"] for row in rows}


async def load_html(
    database: Database | Connection, keys: Sequence[RecordKey], stores: BodyStores = NO_STORES
) -> dict[RecordKey, str]:
    """The raw pages of documents, while they are kept."""
    wanted = [key for key in keys if key.kind is RecordKind.DOCUMENT]
    if not wanted:
        return {}
    rows = await database.fetch(
        queries.bodies_as_they_came, [key.bucket for key in wanted], [key.hash for key in wanted]
    )
    found = zip(rows, await stores.packed_of(rows), strict=True)
    return {
        RecordKey(RecordKind.DOCUMENT, row["bucket"], row["hash"]): _html(row, packed)
        for row, packed in found
        if packed is not None
    }


def _html(row: Any, packed: bytes) -> str:
    body = unpack(Packed(row["coding"], packed), row["body_bytes"])
    return decode(body, CharsetKind.HTML, charset_parameter(row["headers"].get("content-type", ""))).text


def _standing(key: RecordKey, row: Any, *, is_taken: bool) -> RecordStanding:
    held = None if row["held_version"] is None else HeldVersion(row["held_version"], row["held_place"])
    record = _record(key, row) if row["is_for_reader"] and is_taken else None
    return RecordStanding(key, row["version"] or 0, record, held)


def _record(key: RecordKey, row: Any) -> Record:
    source = RecordSource(
        row["source_id"],
        row["source_name"] or "",
        row["source_url"] or "",
        row["source_kind"] or "",
        tuple(row["source_tags"] or ()),
        row["source_country"],
    )
    about = {
        "id": key.id,
        "kind": str(key.kind),
        "version": row["version"],
        # The driver has a UUID of its own, which is no JSON.
        "source_id": str(row["source_id"]),
        "source_name": source.name,
    }
    packed = row["blocks"] if key.kind is RecordKind.DOCUMENT else None
    return Record(key, row["version"], source, about | _fields_of(key.kind, row), packed_blocks=packed)


def _fields_of(kind: RecordKind, row: Any) -> dict[str, Any]:
    if kind is RecordKind.JOB:
        return {"job_id": str(row["job_id"]), **{name: row[name] for name in JOB_FIELDS}}
    near = row["near_duplicate_of"]
    return {
        **{name: row[name] for name in DOCUMENT_FIELDS},
        "rights": rights_as_dict(row["rights"], row["rights_statements"]),
        "content_hash": row["content_hash"].hex(),
        "near_duplicate_of": near.hex() if near else None,
    }
