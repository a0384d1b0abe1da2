"""Documents and vacancies that have to go because of where they came from."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from headwater.archive.document import DocumentKey
from headwater.archive.documents import tombstone
from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")

BATCH = 1_000


@dataclass(frozen=True, slots=True)
class StandingDocument:
    """A document with its addresses. `is_in_words_of_source`: made of what a feed of the sources asked for said."""

    key: DocumentKey
    url: str
    claimed_url: str = ""
    is_in_words_of_source: bool = False


@dataclass(frozen=True, slots=True)
class WithdrawnVersion:
    """A vacancy with the addresses it carries. `is_told_there`: by one of the sources or lists asked for."""

    key: DocumentKey
    urls: tuple[str, ...]
    is_told_there: bool = False


async def documents_of(database: Database, domain: str, sources: Sequence[UUID]) -> AsyncIterator[StandingDocument]:
    """Documents with an address in a domain or below it, and those that feeds of these sources told in their own words.

    Some twice, and some of hosts whose names only begin so: the caller looks at each.
    """
    for bucket in [row["bucket"] for row in await database.fetch(queries.buckets_of_domain, domain)]:
        after = b""
        while rows := await database.fetch(queries.standing_in_bucket, bucket, after, domain, BATCH):
            after = rows[-1]["url_hash"]
            for row in rows:
                yield StandingDocument(DocumentKey(bucket, row["url_hash"]), row["url"])
    async for row in _pages(database, queries.documents_claiming_within, domain):
        yield StandingDocument(DocumentKey(row["bucket"], row["hash"]), row["url"], row["claimed_url"])
    for row in await database.fetch(queries.documents_in_words_of, sources):
        yield StandingDocument(DocumentKey(row["bucket"], row["url_hash"]), row["url"], is_in_words_of_source=True)


async def jobs_of(
    database: Database, domain: str, sources: Sequence[UUID], channels: Sequence[UUID]
) -> AsyncIterator[list[WithdrawnVersion]]:
    """Vacancies with an address in a domain or below it, and those that these sources and lists tell; in batches."""
    for query in (queries.jobs_applied_for_within, queries.jobs_read_within):
        batch: list[WithdrawnVersion] = []
        async for row in _pages(database, query, domain):
            batch.append(WithdrawnVersion(DocumentKey(row["bucket"], row["hash"]), (row["apply_url"], row["page_url"])))
            if len(batch) == BATCH:
                yield batch
                batch = []
        yield batch
    while rows := await database.fetch(queries.jobs_told_by, sources, channels, BATCH):
        yield [WithdrawnVersion(DocumentKey(row["bucket"], row["canonical_hash"]), (), True) for row in rows]


async def withdraw(database: Database, key: DocumentKey, reason: str) -> bool:
    async with database.transaction() as connection:
        now = await connection.fetchval(queries.server_now)
        return await tombstone(connection, *key, reason, now)


async def strip_claim(database: Database, key: DocumentKey) -> None:
    """It no longer calls another address canonical."""
    await database.execute(queries.strip_claim, *key)


async def _pages(database: Database, query: str, domain: str) -> AsyncIterator[Any]:
    """In the order of an index over hosts that are spelt backwards."""
    place: tuple[str, int, bytes] = (domain[::-1], -1, b"")
    while rows := await database.fetch(query, domain, *place, BATCH):
        for row in rows:
            yield row
        place = (rows[-1]["place"], rows[-1]["bucket"], rows[-1]["hash"])
