"""Documents that have to go because of where they came from."""

from collections.abc import Callable

from headwater.archive.documents import tombstone
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.archive")

BATCH = 1_000


async def withdraw_where(database: Database, host: str, is_covered: Callable[[CanonicalUrl], bool], reason: str) -> int:
    """Looks through the bucket of the host, address by address: rare, and no index is kept for it."""
    bucket, after, count = bucket_of(host), b"", 0
    while rows := await database.fetch(queries.standing_in_bucket, bucket, after, BATCH):
        after = rows[-1]["url_hash"]
        for row in rows:
            if any(is_covered(canonicalise(url)) for url in {row["url"], row["canonical_url"]}):
                count += await _withdraw(database, bucket, row["url_hash"], reason)
    return count


async def _withdraw(database: Database, bucket: int, url_hash: bytes, reason: str) -> bool:
    async with database.transaction() as connection:
        now = await connection.fetchval(queries.server_now)
        return await tombstone(connection, bucket, url_hash, reason, now)
