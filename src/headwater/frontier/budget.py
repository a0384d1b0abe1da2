"""How many pages of a source may be queued: its `max_pages`."""

from collections.abc import Collection, Sequence
from uuid import UUID

from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.frontier")


async def beyond_budget(connection: Connection, source_id: UUID, most: int, urls: Sequence[str]) -> Collection[str]:
    """Those for which the source has no room left; a URL it knows already takes none.

    Two transactions in the same moment may both take what is left.
    """
    room = most - await connection.fetchval(queries.count_entries_of_source, source_id)
    if len(urls) <= room:
        return ()
    return set((await _unknown(connection, source_id, urls))[max(0, room) :])


async def _unknown(connection: Connection, source_id: UUID, urls: Sequence[str]) -> list[str]:
    places = [canonicalise(url) for url in urls]
    buckets, hashes = [one.bucket for one in places], [one.url_hash for one in places]
    known = {row["url_hash"] for row in await connection.fetch(queries.known_to_source, source_id, buckets, hashes)}
    return [url for url, url_hash in zip(urls, hashes, strict=True) if url_hash not in known]
