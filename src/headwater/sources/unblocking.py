"""Sources that robots.txt blocked, asked again when its rules change."""

from collections.abc import Callable

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.sources.health import ROBOTS_DISALLOW
from headwater.sources.source import SourceStatus
from headwater.sources.store import set_status
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.sources")


async def unblock_where(database: Database, host: str, is_allowed: Callable[[CanonicalUrl], bool]) -> int:
    """Sources of this host whose channel may be asked now go on."""
    rows = await database.fetch(queries.sources_blocked_by_robots, bucket_of(host), host, ROBOTS_DISALLOW)
    allowed = {row["source_id"] for row in rows if is_allowed(canonicalise(row["url"]))}
    for source_id in allowed:
        async with database.transaction() as connection:
            await set_status(connection, source_id, SourceStatus.ACTIVE, "robots.txt allows it again", "headwater")
            await connection.execute(queries.wake_pollers)
    return len(allowed)
