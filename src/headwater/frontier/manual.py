"""The source of what a person adds by hand."""

from uuid import UUID

from headwater.database.pool import Connection
from headwater.database.queries import load_queries

queries = load_queries("headwater.frontier")


async def manual_source(connection: Connection) -> UUID:
    """The source named "manual", made on first use."""
    await connection.fetchval(queries.wait_to_be_alone, "manual_source")
    found: UUID | None = await connection.fetchval(queries.find_manual_source)
    return found or await connection.fetchval(queries.make_manual_source)
