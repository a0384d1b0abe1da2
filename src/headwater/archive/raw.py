"""Responses as they were sent, compressed and kept by day, so that extraction can run again without fetching again.

A body lies in its row, or in a store outside, where it was put before its row says so.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import zstandard

from headwater.archive.stores.known import NO_STORES, BodyStores, BodyWriter
from headwater.archive.stores.store import StoreKind
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


@dataclass(frozen=True, slots=True)
class PlacedBody:
    """A body ready for its row. `stored_in` None: its bytes go into the row itself."""

    raw: RawBody
    packed: Packed
    stored_in: StoreKind | None = None
    id: UUID | None = None


async def place_body(raw: RawBody, body_id: UUID, writer: BodyWriter | None) -> PlacedBody:
    """Put where bodies belong, before anything refers to it."""
    packed = packed_body(raw)
    kind = await writer.put(body_id, packed.body) if writer else None
    return PlacedBody(raw, packed, kind, body_id if kind else None)


def body_row(placed: PlacedBody) -> tuple[Any, ...]:
    """As the database's type `new_body` has it."""
    raw, packed = placed.raw, placed.packed
    headers = orjson.dumps(headers_to_keep(raw.headers)).decode()
    place = (*raw.key, raw.source_id, storable(raw.url), raw.status)
    body = b"" if placed.stored_in else packed.body
    return (*place, headers, body, len(raw.body), packed.coding, placed.stored_in, placed.id)


def packed_body(raw: RawBody) -> Packed:
    """As it came where that is well packed, else packed anew."""
    return raw.packed if raw.packed and is_well_packed(raw.packed, raw.body) else pack(raw.body)


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


async def newest_body(
    database: Connection | Database, key: DocumentKey, stores: BodyStores = NO_STORES
) -> KeptBody | None:
    row = await database.fetchrow(queries.newest_body, *key)
    kept = await _kept_bodies([row], stores) if row else []
    return kept[0] if kept else None


async def newest_bodies_of(
    database: Database, source_id: UUID, stores: BodyStores = NO_STORES
) -> AsyncIterator[KeptBody]:
    """The newest of every document of a source, in key order; what is stored meanwhile may or may not be among them."""
    after = DocumentKey(-1, b"")
    while rows := await database.fetch(queries.newest_bodies_of_source, source_id, *after, BODIES_AT_ONCE):
        for kept in await _kept_bodies(rows, stores):
            yield kept
        after = DocumentKey(rows[-1]["bucket"], rows[-1]["url_hash"])


async def _kept_bodies(rows: Sequence[Any], stores: BodyStores) -> list[KeptBody]:
    """Without those that were forgotten meanwhile."""
    found = zip(rows, await stores.packed_of(rows), strict=True)
    return [_body(row, packed) for row, packed in found if packed is not None]


def _body(row: Any, packed: bytes) -> KeptBody:
    key = DocumentKey(row["bucket"], row["url_hash"])
    body = unpack(Packed(row["coding"], packed), row["body_bytes"])
    return KeptBody(row["at"], RawBody(key, row["source_id"], row["url"], row["status"], row["headers"], body))


def unpack(packed: Packed, body_bytes: int) -> bytes:
    """By the reader that unpacked it when it came, which never makes more of it than it was."""
    reader = BodyReader(body_bytes, (packed.coding,))
    outcome = reader.feed(packed.body) or reader.end()
    if not isinstance(outcome, Complete):
        raise QueryFailed(f"A stored body cannot be unpacked ({packed.coding}): {type(outcome).__name__}.")
    return outcome.body
