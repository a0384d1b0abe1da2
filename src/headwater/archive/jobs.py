"""Keeping vacancies, in the transaction of the run or the page that showed them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.archive.document import Key, Op
from headwater.archive.documents import key_in
from headwater.archive.job import (
    FIELDS,
    JobStatus,
    NewJob,
    SeenAgain,
    Sighting,
    StandingJob,
    Write,
    as_given_back,
    cleaned,
    judge_sighting,
    row_of,
)
from headwater.archive.outbox import Change, Kind, write_changes
from headwater.archive.storable import storable
from headwater.database.pool import Connection
from headwater.database.queries import load_queries

queries = load_queries("headwater.archive")

# So many are expired in one transaction.
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Counts:
    """Each one found is inserted, updated or skipped; skipped are those that are as they were or not wanted."""

    found: int
    inserted: int
    updated: int
    skipped: int


async def keep_jobs(
    connection: Connection, source_id: UUID, jobs: Sequence[NewJob], now: datetime, channel_id: UUID | None = None
) -> Counts:
    """`channel_id` names the list they stood in; None: a page of their own. Once per transaction, after its hosts."""
    distinct = list({job.key: cleaned(job) for job in reversed(jobs)}.values())
    standing = await _hold(connection, [job.key for job in distinct])
    sightings: list[Sighting] = [judge_sighting(standing.get(job.key), job, now) for job in distinct]
    again = [one.key for one in sightings if isinstance(one, SeenAgain)]
    await connection.execute(queries.see_jobs_again, *_columns(again), channel_id, now)
    rows = [row_of(one) for one in sightings if isinstance(one, Write)]
    written = await connection.fetch(queries.write_jobs, rows, source_id, channel_id, now)
    await _tell(connection, written, Op.UPSERT, now)
    inserted = sum(row["version"] == 1 for row in written)
    return Counts(len(jobs), inserted, len(written) - inserted, len(jobs) - len(written))


async def expire_jobs(connection: Connection, now: datetime, unseen_for: timedelta) -> int:
    """A batch of those that are over; fewer than BATCH means that was all."""
    overdue = [Key(*row) for row in await connection.fetch(queries.overdue_jobs, now, unseen_for, BATCH)]
    expired = await connection.fetch(queries.expire_jobs, *_columns(overdue), now)
    await _tell(connection, expired, Op.DELETE, now)
    return len(expired)


async def delete_job(connection: Connection, canonical_hash: bytes, actor: str, reason: str, now: datetime) -> bool:
    """A person's word: it stays out, however often it is listed again."""
    key = Key(canonical_hash[0], canonical_hash)
    version = await connection.fetchval(queries.delete_job, *key, actor, storable(reason), now)
    if version is None:
        return False
    await write_changes(connection, [Change(Kind.JOB, *key, version, Op.DELETE)], now)
    return True


async def _hold(connection: Connection, keys: Sequence[Key]) -> Mapping[Key, StandingJob]:
    rows = await connection.fetch(queries.hold_jobs, *_columns(keys))
    standing = (_standing(row) for row in rows)
    return {one.job.key: one for one in standing}


def _standing(row: Any) -> StandingJob:
    fields = {name: as_given_back(row[name]) for name in FIELDS if name != "document"}
    job = NewJob(**fields, document=key_in(row, "document_bucket", "document_hash"))
    return StandingJob(job, JobStatus(row["status"]), row["version"])


async def _tell(connection: Connection, rows: Iterable[Any], op: Op, now: datetime) -> None:
    changes = [Change(Kind.JOB, row["bucket"], row["canonical_hash"], row["version"], op) for row in rows]
    await write_changes(connection, changes, now)


def _columns(keys: Sequence[Key]) -> tuple[list[int], list[bytes]]:
    return [key.bucket for key in keys], [key.url_hash for key in keys]
