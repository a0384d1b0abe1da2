"""Responses as they were sent, compressed and kept by day, so that extraction can run again without fetching again."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import zstandard

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import QueryFailed
from headwater.net.body import BodyReader, Complete, Packed
from headwater.storable import storable
from headwater.urls.fingerprint import DocumentKey

queries = load_queries("headwater.archive")

# A page of bodies is in memory at once, and one body may have ten megabytes.
BODIES_AT_ONCE = 16
# Level 3 takes half as long again to save a twentieth.
LEVEL = 1
CODING = "zstd"
# Times smaller: what came packed less well is packed anew.
WELL_PACKED = 3
# What reading a body again depends on, and what tells where it came from. Cookies and the like are nobody's business.
KEPT_HEADERS = frozenset(
    {
        "content-type",
        "content-language",
        "content-location",
        "last-modified",
        "etag",
        "date",
        "expires",
        "cache-control",
        "link",
        "x-robots-tag",
        "server",
    }
)
LONGEST_HEADER = 2_000


@dataclass(frozen=True, slots=True)
class RawBody:
    """`url` is where it was in the end; `headers` are reduced to those in KEPT_HEADERS."""

    key: DocumentKey
    source_id: UUID
    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    packed: Packed | None = field(default=None, compare=False)  # the same as it came


@dataclass(frozen=True, slots=True)
class KeptBody:
    at: datetime
    raw: RawBody


def body_row(raw: RawBody) -> tuple[Any, ...]:
    """As the database's type `new_body` has it."""
    headers = orjson.dumps(headers_to_keep(raw.headers)).decode()
    packed = raw.packed if raw.packed and is_well_packed(raw.packed, raw.body) else pack(raw.body)
    place = (*raw.key, raw.source_id, storable(raw.url), raw.status)
    return (*place, headers, packed.body, len(raw.body), packed.coding)


def is_well_packed(packed: Packed, body: bytes) -> bool:
    """As pages are. A server may pack in haste, or only say that it does."""
    return len(packed.body) * WELL_PACKED <= len(body)


def pack(body: bytes) -> Packed:
    return Packed(CODING, zstandard.compress(body, LEVEL))


def headers_to_keep(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name.lower(): storable(value[:LONGEST_HEADER])
        for name, value in headers.items()
        if name.lower() in KEPT_HEADERS
    }


async def newest_body(database: Connection | Database, key: DocumentKey) -> KeptBody | None:
    row = await database.fetchrow(queries.newest_body, *key)
    return _body(row) if row else None


async def newest_bodies_of(database: Database, source_id: UUID) -> AsyncIterator[KeptBody]:
    """The newest of every document of a source, in key order; what is stored meanwhile may or may not be among them."""
    after = DocumentKey(-1, b"")
    while rows := await database.fetch(queries.newest_bodies_of_source, source_id, *after, BODIES_AT_ONCE):
        for row in rows:
            yield _body(row)
        after = DocumentKey(rows[-1]["bucket"], rows[-1]["url_hash"])


def _body(row: Any) -> KeptBody:
    key = DocumentKey(row["bucket"], row["url_hash"])
    body = unpack(Packed(row["coding"], row["body"]), row["body_bytes"])
    return KeptBody(row["at"], RawBody(key, row["source_id"], row["url"], row["status"], row["headers"], body))


def unpack(packed: Packed, body_bytes: int) -> bytes:
    """By the reader that unpacked it when it came, which never makes more of it than it was."""
    reader = BodyReader(body_bytes, (packed.coding,))
    outcome = reader.feed(packed.body) or reader.end()
    if not isinstance(outcome, Complete):
        raise QueryFailed(f"A stored body cannot be unpacked ({packed.coding}): {type(outcome).__name__}.")
    return outcome.body
