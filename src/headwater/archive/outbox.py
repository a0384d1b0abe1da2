"""Changes that sinks have to be told, written in the transaction that made them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater.archive.document import Op
from headwater.database.pool import Connection
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")


class ChangeKind(StrEnum):
    DOCUMENT = "document"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Change:
    """`hash` is the document's or the vacancy's own; the version says which of two changes is the later one."""

    kind: ChangeKind
    bucket: int
    hash: bytes
    version: int
    op: Op


@dataclass(frozen=True, slots=True)
class Pending:
    seq: int
    change: Change
    at: datetime


async def write_changes(connection: Connection, changes: Sequence[Change], now: datetime) -> None:
    if changes:
        rows = [(str(one.kind), one.bucket, one.hash, one.version, str(one.op)) for one in changes]
        await connection.execute(queries.write_changes, *map(list, zip(*rows, strict=True)), now)


async def take_pending(connection: Connection, limit: int) -> list[Pending]:
    """The oldest, held until the transaction ends; other readers get other rows meanwhile."""
    return [
        Pending(
            row["seq"],
            Change(ChangeKind(row["kind"]), row["bucket"], row["hash"], row["version"], Op(row["op"])),
            row["at"],
        )
        for row in await connection.fetch(queries.take_pending, limit)
    ]


async def forget(connection: Connection, done: Sequence[Pending]) -> None:
    await connection.execute(queries.forget_changes, [one.seq for one in done])
