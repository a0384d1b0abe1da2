"""Where documents point: one row a document, written whole."""

from collections.abc import Sequence

import zstandard

from headwater.archive.document import DocumentKey
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")

MOST_OUTLINKS = 1_000
_LEVEL = 1
# As many addresses as there can be, each as long as it can be.
_LARGEST_BYTES = 8 << 20


async def keep_outlinks(connection: Connection, key: DocumentKey, targets: Sequence[str]) -> None:
    """Replaces the outlinks stored before."""
    await connection.execute(queries.keep_outlinks, *key, pack_outlinks(targets))


def pack_outlinks(targets: Sequence[str]) -> bytes:
    """The first so many distinct ones, in page order: one a line, compressed. An address has no line breaks."""
    lines = "\n".join(list(dict.fromkeys(targets))[:MOST_OUTLINKS])
    return zstandard.compress(lines.encode(errors="replace"), _LEVEL)


async def outlinks_of(database: Connection | Database, key: DocumentKey) -> list[str]:
    packed: bytes | None = await database.fetchval(queries.outlinks_of, *key)
    return unpack_outlinks(packed) if packed else []


def unpack_outlinks(packed: bytes) -> list[str]:
    lines = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_LARGEST_BYTES)
    return lines.decode().split("\n") if lines else []
