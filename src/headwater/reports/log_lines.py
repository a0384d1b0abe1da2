"""What processes of roles warned of lately, newest first: few enough are kept that all may be looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.log import told_of
from headwater.reports.paging import ListPage, id_in_cursor, page_of

queries = load_queries("headwater.reports")

LEVELS = ("warning", "error")


@dataclass(frozen=True, slots=True)
class LogLine:
    """`at` by the clock of its machine."""

    id: int
    at: datetime
    process_id: UUID
    role: str
    host: str
    pid: int
    level: str
    event: str
    fields: Mapping[str, Any]

    @property
    def told(self) -> str:
        """As a terminal would show it."""
        return told_of({"event": self.event, **self.fields})

    @property
    def source_id(self) -> UUID | None:
        """Whom it is about, where it is about one."""
        try:
            return UUID(str(self.fields.get("source")))
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class LineFilter:
    """`role`, `event` and `level` as they are written; `pid` of one process."""

    level: str | None = None
    event: str | None = None
    role: str | None = None
    pid: int | None = None


async def page_of_lines(database: Database, wanted: LineFilter, limit: int, cursor: str | None) -> ListPage[LogLine]:
    rows = await database.fetch(
        *queries.list_lines(
            before=id_in_cursor(cursor) if cursor else None,
            level=wanted.level,
            event=wanted.event,
            role=wanted.role,
            pid=wanted.pid,
            limit=limit + 1,
        )
    )
    return page_of([LogLine(**row) for row in rows], limit, lambda one: str(one.id))
