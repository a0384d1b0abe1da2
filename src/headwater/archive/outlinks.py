"""Where documents point: one row a document, written whole."""

from collections.abc import Sequence

from headwater.archive.document import Key
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.urls.canonical import CanonicalUrl

queries = load_queries("headwater.archive")

MOST_OUTLINKS = 1_000


async def keep_outlinks(connection: Connection, key: Key, targets: Sequence[CanonicalUrl]) -> int:
    """The first so many distinct ones, in page order; what stood there before is gone."""
    by_hash: dict[bytes, CanonicalUrl] = {}
    for target in targets:
        by_hash.setdefault(target.url_hash, target)
    distinct = list(by_hash.values())[:MOST_OUTLINKS]
    await connection.execute(
        queries.keep_outlinks,
        *key,
        [target.bucket for target in distinct],
        [target.url_hash for target in distinct],
        [target.url for target in distinct],
    )
    return len(distinct)


async def outlinks_of(database: Connection | Database, key: Key) -> list[str]:
    found: list[str] | None = await database.fetchval(queries.outlinks_of, *key)
    return found or []
