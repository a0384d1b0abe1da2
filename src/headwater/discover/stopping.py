"""Pausing, resuming, blocking and deleting a source: its channels and its waiting entries follow at once."""

from uuid import UUID

from headwater.database.pool import Database
from headwater.frontier.control import let_go, set_aside
from headwater.sources.channels import queries as source_queries
from headwater.sources.source import SourceStatus
from headwater.sources.store import set_status


async def change_status(
    database: Database, source_id: UUID, status: SourceStatus, reason: str | None = None, actor: str = "headwater"
) -> int:
    """How many waiting entries followed. Nothing is removed: a deleted source keeps its history."""
    async with database.transaction() as connection:
        await set_status(connection, source_id, status, reason, actor)
        await connection.execute(source_queries.wake_pollers)
    return await (let_go if status is SourceStatus.ACTIVE else set_aside)(database, source_id)
