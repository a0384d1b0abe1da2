"""The records of an export, batch by batch: a walk over keys in small steps; only the wanted ones are loaded."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.exports.request import ExportCursor
from headwater.deliver.records import Membership, Record, RecordKey, load_standings
from headwater.record_kind import RecordKind

queries = load_queries("headwater.deliver")

# Keys that one statement looks at, and records that are in memory at once.
KEYS_AT_ONCE = 5_000
LOADED_AT_ONCE = 100
BUCKETS = 256


@dataclass(frozen=True, slots=True)
class ExportBatch:
    """`cursor` is where the walk stands behind it; `share` how much of the archive that is, where it can be known."""

    records: Sequence[Record]
    cursor: ExportCursor
    share: float | None


@dataclass(frozen=True, slots=True)
class ExportWalk:
    """Deliverable records of one kind: the same rule as for sinks, by the reader's view."""

    database: Database
    kind: RecordKind
    reader: Membership
    source_id: UUID | None = None
    since: datetime | None = None

    async def from_cursor(self, cursor: ExportCursor) -> AsyncIterator[ExportBatch]:
        """Records that are stored meanwhile may or may not be among them."""
        while rows := await self._rows(cursor):
            wanted = [row for row in rows if row["is_wanted"]] if self.source_id is None else rows
            for start in range(0, len(wanted), LOADED_AT_ONCE):
                yield await self._batch(wanted[start : start + LOADED_AT_ONCE])
            cursor = _cursor(rows[-1])
            yield ExportBatch((), cursor, self._share(cursor))
            if len(rows) < KEYS_AT_ONCE:
                return

    async def _rows(self, after: ExportCursor) -> Sequence[Any]:
        is_document, place = self.kind is RecordKind.DOCUMENT, (after.bucket, after.hash, KEYS_AT_ONCE)
        if self.source_id:
            statement = queries.document_keys_of_source if is_document else queries.job_keys_of_source
            return await self.database.fetch(statement, self.source_id, after.at, *place)
        statement = queries.document_keys_to_export if is_document else queries.job_keys_to_export
        return await self.database.fetch(statement, *place, self.since)

    async def _batch(self, rows: Sequence[Any]) -> ExportBatch:
        keys = [RecordKey(self.kind, row["bucket"], row["hash"]) for row in rows]
        standings = await load_standings(self.database, keys, self.reader)
        found = [standings[key].record for key in keys]
        records = [one for one in found if one is not None and self._is_recent(one)]
        cursor = _cursor(rows[-1])
        return ExportBatch(records, cursor, self._share(cursor))

    def _is_recent(self, record: Record) -> bool:
        if self.since is None:
            return True
        said = record.fields
        is_document = self.kind is RecordKind.DOCUMENT
        at: datetime = (said["published_at"] or said["first_seen_at"]) if is_document else said["created_at"]
        return at >= self.since

    def _share(self, cursor: ExportCursor) -> float | None:
        """Buckets are equally large."""
        return None if self.source_id else (cursor.bucket + 1) / BUCKETS


def _cursor(row: Any) -> ExportCursor:
    return ExportCursor(row.get("at"), row["bucket"], row["hash"])
