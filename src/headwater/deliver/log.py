"""The log of changes: what was committed, in one order that no reader ever sees changed.

The archive writes into the outbox, in the transaction that changes a record. Its numbers are taken in another order
than transactions commit, so only the mover reads it: it gives each change a position once all can see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.archive.documents import Op
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.deliver.records import RecordKey
from headwater.record_kind import RecordKind

queries = load_queries("headwater.deliver")

# Rows of the outbox that one transaction moves.
MOVED_AT_ONCE = 5_000
# The channels of NOTIFY: to movers, and to readers of the log.
MOVERS, READERS = "headwater_changes", "headwater_log"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """`at` is when it came into the log, `changed_at` when the archive changed."""

    position: int
    at: datetime
    key: RecordKey
    version: int
    op: Op
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class LogState:
    """`position` is that of the last change; `oldest` of the first that is still kept."""

    position: int
    oldest: int
    moved_at: datetime | None = None

    def has_lost(self, after: int) -> bool:
        """Whether a reader that stands there has missed changes."""
        return after + 1 < self.oldest


async def move_changes(database: Database) -> int:
    """Until nothing waits; how many rows of the outbox were moved."""
    moved = 0
    while taken := await database.fetchval(queries.move_changes, MOVED_AT_ONCE):
        moved += taken
        if taken < MOVED_AT_ONCE:
            break
    if moved:
        await database.execute(queries.wake_log_readers)
    return moved


async def log_state(database: Database | Connection) -> LogState:
    row = await database.fetchrow(queries.log_state)
    assert row is not None
    return LogState(row["position"], row["oldest_position"], row["moved_at"])


async def read_log(database: Database | Connection, after: int, up_to: int, limit: int) -> list[LogEntry]:
    return [_entry(row) for row in await database.fetch(queries.read_log, after, up_to, limit)]


async def note_oldest(database: Database) -> None:
    await database.execute(queries.note_oldest)


def last_of_each(entries: Sequence[LogEntry]) -> dict[RecordKey, LogEntry]:
    """In order of their last positions."""
    last = {entry.key: entry for entry in entries}
    return dict(sorted(last.items(), key=lambda one: one[1].position))


def _entry(row: Any) -> LogEntry:
    key = RecordKey(RecordKind(row["kind"]), row["bucket"], row["hash"])
    return LogEntry(row["position"], row["at"], key, row["version"], Op(row["op"]), row["changed_at"])
