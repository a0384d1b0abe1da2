"""An archive on a real database, with short words for what tests do, and the sentences that are always true of it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

import asyncpg
from tests.clocks import ManualClock

from headwater.archive.documents import Kept, NewDocument, keep_document, tombstone
from headwater.database.pool import Database
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import DocumentKey

SOURCE = uuid4()
LONG = " ".join(f"word{n}" for n in range(60))
OTHER = " ".join(f"other{n}" for n in range(60))
SHORT = "Page not found"

# Each finds what must not be.
ALWAYS = {
    "two originals of one text": """
        SELECT content_hash FROM documents
        WHERE deleted_at IS NULL AND duplicate_of IS NULL AND word_count >= 50 GROUP BY 1 HAVING count(*) > 1""",
    "a duplicate of something else": """
        SELECT d.url FROM documents d
        LEFT JOIN documents o ON o.bucket = d.duplicate_bucket AND o.url_hash = d.duplicate_of
        WHERE d.duplicate_of IS NOT NULL
          AND (o.url_hash IS NULL OR o.deleted_at IS NOT NULL OR o.duplicate_of IS NOT NULL
               OR NOT d.is_claim_believed AND (o.content_hash <> d.content_hash OR d.word_count < 50))""",
    "a claim that is believed against what the claimed page says": """
        SELECT d.url FROM documents d
        LEFT JOIN documents t ON t.bucket = d.claimed_bucket AND t.url_hash = d.claimed_hash
        WHERE d.is_claim_believed
          AND (t.url_hash IS NULL OR t.deleted_at IS NOT NULL OR t.claimed_hash IS NOT NULL
               OR NOT is_one_text(t.content_hash, t.simhash, d.content_hash, d.simhash)
               OR (coalesce(t.duplicate_bucket, t.bucket), coalesce(t.duplicate_of, t.url_hash))
                  <> (d.duplicate_bucket, d.duplicate_of))""",
    "a claim that is not believed although the claimed page says the same": """
        SELECT d.url FROM documents d
        JOIN documents t ON t.bucket = d.claimed_bucket AND t.url_hash = d.claimed_hash
        WHERE NOT d.is_claim_believed AND d.deleted_at IS NULL AND t.deleted_at IS NULL AND t.claimed_hash IS NULL
          AND is_one_text(t.content_hash, t.simhash, d.content_hash, d.simhash)""",
    "a canonical address that nobody bears out": """
        SELECT url FROM documents WHERE canonical_url <> CASE WHEN is_claim_believed THEN claimed_url ELSE url END""",
    "sinks that worked off the outbox have something else than the archive": """
        SELECT url FROM documents d
        LEFT JOIN (SELECT DISTINCT ON (bucket, hash) bucket, hash, op FROM outbox WHERE kind = 'document'
                   ORDER BY bucket, hash, version DESC) AS last ON last.bucket = d.bucket AND last.hash = d.url_hash
        WHERE (coalesce(last.op, 'delete') = 'upsert') <> (d.deleted_at IS NULL AND d.duplicate_of IS NULL)""",
    "sinks that worked off the outbox have other vacancies than the archive": """
        SELECT title FROM jobs j
        JOIN (SELECT DISTINCT ON (bucket, hash) bucket, hash, op, version FROM outbox WHERE kind = 'job'
                   ORDER BY bucket, hash, version DESC) AS last
                  ON last.bucket = j.bucket AND last.hash = j.canonical_hash
        WHERE (last.op = 'upsert') <> (j.status = 'active') OR last.version <> j.version""",
    "two changes with one version": "SELECT hash FROM outbox GROUP BY kind, hash, version HAVING count(*) > 1",
    "a change that is newer than what changed": """
        SELECT o.hash FROM outbox o JOIN documents d ON d.bucket = o.bucket AND d.url_hash = o.hash
        WHERE o.kind = 'document' AND o.version > d.version""",
    "a past that is newer than the present": """
        SELECT v.url_hash FROM document_versions v JOIN documents d USING (bucket, url_hash)
        WHERE v.version >= d.version""",
}
TABLES = ("documents", "document_versions", "outbox", "outlinks", "jobs", "raw_bodies")


@dataclass(repr=False)
class Shelf:
    database: Database
    # A real day, since raw bodies have partitions for these only.
    clock: ManualClock = field(default_factory=lambda: ManualClock(datetime.now(UTC).replace(microsecond=0)))

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def wait(self, seconds: float = 60) -> None:
        self.clock.move(timedelta(seconds=seconds))

    async def keep(self, url: str, text: str = LONG, **fields: Any) -> Kept:
        self.wait()
        async with self.database.transaction() as connection:
            return await keep_document(connection, page(url, text, **fields), self.now)

    async def tombstone(self, url: str, reason: str = "gone") -> bool:
        self.wait()
        async with self.database.transaction() as connection:
            return await tombstone(connection, *key_of(url), reason, self.now)

    async def row(self, url: str) -> asyncpg.Record:
        row = await self.database.fetchrow("SELECT * FROM documents WHERE bucket = $1 AND url_hash = $2", *key_of(url))
        assert row is not None
        return row

    async def told(self) -> list[tuple[str, int, str]]:
        """What the outbox says, in order: URL, version, operation."""
        rows = await self.database.fetch("""
            SELECT d.url, o.version, o.op FROM outbox o
            JOIN documents d ON d.bucket = o.bucket AND d.url_hash = o.hash ORDER BY o.seq""")
        return [tuple(row) for row in rows]


def page(url: str, text: str = LONG, **fields: Any) -> NewDocument:
    """`claims` names another page as canonical."""
    address, claimed = canonicalise(url), fields.pop("claims", None)
    ours: dict[str, Any] = {
        "bucket": address.bucket,
        "url_hash": address.url_hash,
        "source_id": SOURCE,
        "url": url,
        "canonical_url": claimed or url,
        "claimed": key_of(claimed) if claimed else None,
        "title": "A title",
        "text": text,
        "word_count": len(text.split()),
        "content_hash": sha256(text.encode(errors="replace")).digest(),
        "language": "en",
    }
    return NewDocument(**ours | fields)


def key_of(url: str) -> DocumentKey:
    address = canonicalise(url)
    return DocumentKey(address.bucket, address.url_hash)


async def broken(database: Database) -> list[str]:
    return [what for what, query in ALWAYS.items() if await database.fetch(query)]


async def everything(database: Database) -> dict[str, list[Any]]:
    """Every row with its place on disk, to say that nothing was written."""
    return {
        table: [tuple(row) for row in await database.fetch(f"SELECT ctid::text, xmin::text FROM {table} ORDER BY 1")]
        for table in TABLES
    }
