"""Sources in the database."""

from uuid import UUID

from headwater.database.pool import Connection
from headwater.database.queries import load_queries

queries = load_queries("headwater.sources")

DEFAULT_PRIORITY = 5


async def create_source(
    connection: Connection, name: str, url: str, kind: str = "news", priority: int = DEFAULT_PRIORITY
) -> UUID:
    created: UUID = await connection.fetchval(queries.create_source, name, url, kind, priority)
    return created


async def manual_source(connection: Connection) -> UUID:
    """The source of what a person adds by hand, made on first use."""
    await connection.fetchval(queries.wait_to_be_alone)
    found: UUID | None = await connection.fetchval(queries.find_manual_source)
    return found or await create_source(connection, "manual", "about:manual")
