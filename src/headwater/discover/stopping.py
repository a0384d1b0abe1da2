"""Pausing, resuming, blocking and deleting a source: its channels and its waiting entries follow at once."""

from dataclasses import dataclass
from uuid import UUID

from headwater.archive.jobs import NOTHING_LEFT, Left, leave_jobs
from headwater.database.pool import Database
from headwater.frontier.control import let_go, set_aside
from headwater.sources.channels import queries as source_queries
from headwater.sources.source import SourceStatus
from headwater.sources.store import set_status


@dataclass(frozen=True, slots=True)
class Stopped:
    """Waiting entries that followed; of a removed source also what became of its vacancies."""

    entries: int
    left: Left = NOTHING_LEFT


async def change_status(
    database: Database, source_id: UUID, status: SourceStatus, reason: str | None = None, actor: str = "headwater"
) -> Stopped:
    """No row goes: a deleted source keeps its history and its documents. Its vacancies are over."""
    async with database.transaction() as connection:
        await set_status(connection, source_id, status, reason, actor)
        await connection.execute(source_queries.wake_pollers)
    entries = await (let_go if status is SourceStatus.ACTIVE else set_aside)(database, source_id)
    left = await leave_jobs(database, source_id) if status is SourceStatus.DELETED else NOTHING_LEFT
    return Stopped(entries, left)
