"""Changes that sinks have to be told, written in the transaction that made them.

Only the mover reads them, in the order in which transactions commit: `headwater.deliver.log`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.archive.documents import Op
from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.record_kind import RecordKind

queries = load_queries("headwater.archive")

# Follows a transaction that wrote changes: one NOTIFY, only if a process sleeps that moves them.
WAKE = queries.wake_deliverers


@dataclass(frozen=True, slots=True)
class Change:
    """`hash` is the document's or the vacancy's own; the version says which of two changes is the later one."""

    kind: RecordKind
    bucket: int
    hash: bytes
    version: int
    op: Op


async def write_changes(connection: Connection, changes: Sequence[Change], now: datetime) -> None:
    if changes:
        rows = [(str(one.kind), one.bucket, one.hash, one.version, str(one.op)) for one in changes]
        await connection.execute(queries.write_changes, *map(list, zip(*rows, strict=True)), now)
        connection.after_commit(WAKE)
