"""Questions to the archive, answered in the public values."""

from datetime import datetime
from typing import NamedTuple

from headwater.archive import reads
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.extraction.jobs.countries import country_called
from headwater.frontier.host_rules import read_rules
from headwater.library.values import DocumentVersion, FoundDocument, StoredDocument, Vacancy
from headwater.record_kind import RecordKind
from headwater.reports.archive import DetailedHit, find_documents, find_jobs
from headwater.search.engine import SearchEngine
from headwater.search.question import Filters
from headwater.sources.finding import find_source
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

ID_CHARACTERS = 64


class Asked(NamedTuple):
    source: str = ""
    language: str = ""
    since: datetime | None = None
    until: datetime | None = None
    duplicates: bool = False


async def document(database: Database, which: str) -> StoredDocument | None:
    found = await _stored(database, which)
    return _public(found) if found else None


async def versions(database: Database, which: str) -> list[DocumentVersion]:
    found = await _stored(database, which)
    past = await reads.versions_of(database, found.key) if found else []
    return [
        DocumentVersion(
            version=one.version,
            title=one.title,
            text=one.text,
            changed_at=one.changed_at,
            replaced_at=one.replaced_at,
        )
        for one in past
    ]


async def documents(
    engine: SearchEngine, words: str, asked: Asked, limit: int, cursor: str | None
) -> tuple[list[FoundDocument], str | None]:
    filters = await _filters(engine.database, RecordKind.DOCUMENT, asked)
    answer = await find_documents(engine, SystemClock(), words, filters, limit, cursor)
    return [_public_hit(one) for one in answer.found], answer.cursor


async def vacancies(
    engine: SearchEngine,
    words: str,
    asked: tuple[str, str],
    country: str,
    limit: int,
    cursor: str | None,
) -> tuple[list[Vacancy], str | None]:
    filters = await _filters(engine.database, RecordKind.JOB, Asked(*asked))
    wanted = {"country_iso": _country(country)} if country else {}
    answer = await find_jobs(engine, SystemClock(), words.strip(), filters, limit, wanted, cursor)
    return [_public_vacancy(one) for one in answer.found], answer.cursor


async def _filters(database: Database, kind: RecordKind, asked: Asked) -> Filters:
    source = await find_source(database, asked.source) if asked.source else None
    return Filters(
        kind=kind,
        source_id=source.id if source else None,
        language=asked.language.lower() or None,
        since=asked.since,
        until=asked.until,
        duplicates=asked.duplicates,
    )


async def _stored(database: Database, which: str) -> reads.Document | None:
    """Nothing of a document that was withdrawn: what it said is not given out again."""
    if "://" in which:
        found = await reads.read_document(database, await _key_of(database, which))
    else:
        found = await reads.find_document(database, _id_in(which))
    return None if found is None or found.deleted_at else found


async def _key_of(database: Database, url: str) -> DocumentKey:
    """By the rules of this archive, which need not be those of another that the process has open."""
    address = canonicalise(url)
    rules = {one.host: one.rules for one in await read_rules(database)}
    if address.host in rules:
        address = canonicalise(url, rules=rules[address.host])
    return DocumentKey(address.bucket, address.url_hash)


def _country(name: str) -> str:
    code = country_called(name)
    if not code:
        raise UsageError(f"There is no country {name!r}.", fix="Write its name or its two letters, such as KE.")
    return code


def _id_in(text: str) -> bytes:
    try:
        if len(text) == ID_CHARACTERS:
            return bytes.fromhex(text)
    except ValueError:
        pass
    raise UsageError("This is neither a URL nor the id of a document.", fix="A URL begins with https://")


def _public(found: reads.Document) -> StoredDocument:
    return StoredDocument(
        id=found.key.url_hash.hex(),
        url=found.url,
        canonical_url=found.canonical_url,
        title=found.title,
        text=found.text,
        author=found.author,
        authors=tuple(found.authors),
        description=found.summary,
        language=found.language,
        section=found.section,
        keywords=tuple(found.keywords),
        images=tuple(found.images),
        published_at=found.published_at,
        updated_at=found.updated_at,
        first_seen_at=found.first_seen_at,
        changed_at=found.changed_at,
        page_type=found.page_type,
        word_count=found.word_count,
        quality=found.quality,
        version=found.version,
        duplicate_of=found.duplicate_of.url_hash.hex() if found.duplicate_of else None,
    )


def _public_hit(found: DetailedHit) -> FoundDocument:
    hit = found.hit
    return FoundDocument(
        id=hit.hash.hex(),
        url=hit.url,
        title=hit.title,
        source=found.about["source"] or "",
        language=hit.language,
        published_at=hit.published_at,
        first_seen_at=hit.first_seen_at,
        word_count=found.about["word_count"],
        is_duplicate=hit.is_duplicate,
        snippet=hit.snippet,
        rank=hit.rank,
    )


def _public_vacancy(found: DetailedHit) -> Vacancy:
    about = found.about
    return Vacancy(
        id=found.hit.hash.hex(),
        title=found.hit.title,
        organisation=about["org_name"] or "",
        apply_url=found.hit.url,
        location=about["location_raw"] or "",
        city=about["city"],
        country=about["country"],
        country_code=about["country_iso"],
        level=about["level_norm"],
        work_modality=about["work_modality"],
        contract_type=about["contract_type"],
        deadline=about["deadline"],
        description="".join(found.hit.pieces),
        language=found.hit.language,
    )
