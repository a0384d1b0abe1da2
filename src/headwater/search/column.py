"""Whether PostgreSQL keeps the columns that it searches, or the words lie with another server alone."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries

queries = load_queries("headwater.search")


class ColumnState(StrEnum):
    """KEPT: PostgreSQL can answer. EMPTYING and FILLING: somebody has begun to switch, and can go on with it."""

    KEPT = "kept"
    EMPTYING = "emptying"
    AWAY = "away"
    FILLING = "filling"


@dataclass(frozen=True, slots=True)
class SearchColumn:
    """`kind`, `bucket` and `hash` are how far its rows were emptied or filled; `done` counts those looked at."""

    state: ColumnState
    kind: str
    bucket: int
    hash: bytes
    done: int
    changed_at: datetime

    @property
    def is_kept(self) -> bool:
        return self.state is ColumnState.KEPT


async def search_column(database: Database | Connection) -> SearchColumn:
    return column_in(await database.fetchrow(queries.search_column_now))


def column_in(row: Any) -> SearchColumn:
    return SearchColumn(ColumnState(row["state"]), *(row[name] for name in SearchColumn.__slots__[1:]))
