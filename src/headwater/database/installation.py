"""Which installation a database belongs to."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.database")


@dataclass(frozen=True)
class Installation:
    id: UUID
    created_at: datetime
    created_by: str


async def installation_of(database: Database, version: str) -> Installation:
    """The installation that lives in `database`; founded now, by `version`, if there is none yet."""
    async with database.transaction() as connection:
        await connection.execute(queries.found_installation, version)
        row = await connection.fetchrow(queries.read_installation)
    assert row is not None
    return Installation(row["id"], row["created_at"], row["created_by"])
