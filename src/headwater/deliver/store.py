"""Sinks as rows: made, listed, leased, moved on. Every write of a holder names its token."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.deliver.planning import BatchResult
from headwater.deliver.records import RecordKey
from headwater.deliver.sink import Delivery, LeaseEnded, Upsert
from headwater.errors import NotFound, UsageError
from headwater.record_kind import RecordKind
from headwater.storable import storable

queries = load_queries("headwater.deliver")

# Of records that a sink refused: so many are looked at to group them.
MOST_GROUPED, MOST_GROUPS = 10_000, 50
archive_queries = load_queries("headwater.archive")

LONGEST_ERROR = 500
# A sink with nothing to send is taken up so often, so that one that is away, or has lost what it held, is noticed.
CHECK_EVERY = timedelta(minutes=10)
# Tries of a record that was refused alone, and the waits between them, doubled from the first up to the longest.
MOST_ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class SinkLease:
    """The right to work on a sink, until it expires or is taken over."""

    id: UUID
    name: str
    type: str
    options: Mapping[str, Any]
    view_id: UUID | None
    position: int
    token: UUID
    failures: int
    is_handed_over: bool
    # The last look at the places that it filled is long ago.
    is_to_be_checked: bool


@dataclass(frozen=True, slots=True)
class BackfillPlace:
    """How far a walk through the archive has come."""

    number: int
    source_id: UUID | None
    kind: RecordKind
    at: datetime | None
    bucket: int
    hash: bytes
    done: int


@dataclass(frozen=True, slots=True)
class SinkProgress:
    """The position of a sink and the work before its holder."""

    position: int
    log_position: int
    oldest_position: int
    state: str
    batch_number: int
    backfill: BackfillPlace | None
    has_retries: bool

    @property
    def is_left_behind(self) -> bool:
        """The log was dropped under it: only the archive knows what it missed."""
        return self.position + 1 < self.oldest_position


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkReport:
    """A sink as people see it. `behind` counts positions; `behind_since` is when the oldest of these was changed."""

    id: UUID
    name: str
    type: str
    options: Mapping[str, Any]
    view_id: UUID | None
    view_name: str | None
    state: str
    state_reason: str | None
    set_by: str | None
    position: int
    log_position: int
    oldest_position: int
    owner: str | None
    is_worked: bool
    leased_until: datetime
    failures: int
    retry_at: datetime
    looked_at: datetime | None
    last_success_at: datetime | None
    last_error: str | None
    last_error_at: datetime | None
    sent: int
    created_at: datetime
    behind: int
    behind_since: datetime | None
    parked: int
    retrying: int
    backfill_reason: str | None
    backfill_done: int | None
    backfill_kind: str | None
    backfill_bucket: int | None

    @property
    def backfill_share(self) -> float | None:
        """How much of a walk through everything is done: buckets are equally large, and vacancies come last."""
        if self.backfill_kind is None or self.backfill_bucket is None:
            return None
        return (max(self.backfill_bucket, 0) + 256 * (self.backfill_kind == RecordKind.JOB)) / 512


async def lease_sink(database: Database, sink_id: UUID, owner: str, lease: timedelta) -> SinkLease | None:
    """None: another process has it, or it is not to be worked now."""
    row = await database.fetchrow(queries.lease_sink, sink_id, owner, lease, CHECK_EVERY)
    return SinkLease(**{name: row[name] for name in SinkLease.__slots__}) if row else None


async def begin_batch(database: Database, lease: SinkLease, duration: timedelta) -> SinkProgress:
    """The lease begins anew with it."""
    row = await database.fetchrow(queries.begin_batch, lease.id, lease.token, duration)
    if row is None:
        raise LeaseEnded(f"Another process works on the sink '{lease.name}', or it was removed.")
    backfill = (
        None
        if row["number"] is None
        else BackfillPlace(
            row["number"],
            row["source_id"],
            RecordKind(row["kind"]),
            row["at"],
            row["bucket"],
            row["hash"],
            row["done"],
        )
    )
    return SinkProgress(
        row["position"],
        row["log_position"],
        row["oldest_position"],
        row["state"],
        row["batch_number"],
        backfill,
        row["has_retries"],
    )


async def note_intents(database: Database, lease: SinkLease, batch_number: int, new: Sequence[Upsert]) -> None:
    """Before they are sent: were an acknowledgement lost and the record deleted meanwhile, nobody would remove it."""
    holds = await database.fetchval(
        *queries.note_intents(
            sink_id=lease.id,
            token=lease.token,
            batch_number=batch_number,
            **_columns([one.key for one in new]),
            places=[one.place for one in new],
        )
    )
    if not holds:
        raise LeaseEnded(f"Another process works on the sink '{lease.name}', or it was removed.")


async def settle(
    connection: Connection,
    lease: SinkLease,
    result: BatchResult,
    *,
    position: int,
    batch_number: int,
    duration: timedelta,
    is_success: bool = True,
) -> datetime:
    """In the caller's transaction: all of it, or with a stale token nothing. The time, by the database's clock."""
    settled_at: datetime | None = await connection.fetchval(
        *queries.settle_sink(
            id=lease.id,
            token=lease.token,
            position=position,
            lease=duration,
            is_success=is_success,
            sent=result.sent,
        )
    )
    if settled_at is None:
        raise LeaseEnded(f"Another process works on the sink '{lease.name}', or it was removed.")
    if result.held:
        await connection.execute(
            *queries.note_delivered(
                sink_id=lease.id,
                **_columns([one.key for one in result.held]),
                versions=[one.version for one in result.held],
                batch_number=batch_number,
                places=[one.place for one in result.held],
            )
        )
    if result.gone:
        await connection.execute(queries.forget_delivered, lease.id, *_columns(result.gone).values())
    if result.settled:
        await connection.execute(queries.forget_failures, lease.id, *_columns(result.settled).values())
    if result.refused:
        await _note_failures(connection, lease, result)
        later = max(outcome.later_batch for _, outcome in result.refused)
        if later:
            await connection.execute(queries.outnumber, lease.id, lease.token, later)
    return settled_at


async def _note_failures(connection: Connection, lease: SinkLease, result: BatchResult) -> None:
    refused: Sequence[Delivery] = [delivery for delivery, _ in result.refused]
    await connection.execute(
        *queries.note_failures(
            sink_id=lease.id,
            **_columns([one.key for one in refused]),
            positions=[one.position for one in refused],
            versions=[one.version for one in refused],
            finals=[outcome.is_final for _, outcome in result.refused],
            errors=[storable(outcome.why[:LONGEST_ERROR]) for _, outcome in result.refused],
            from_archive=[one.is_from_archive for one in refused],
            first_wait=FIRST_WAIT,
            longest=LONGEST_WAIT,
            most=MOST_ATTEMPTS,
        )
    )


async def filled_places(database: Database, sink_id: UUID) -> list[str]:
    return [row["place"] for row in await database.fetch(queries.filled_places, sink_id)]


async def refill_lost(database: Database, sink_id: UUID, place: str | None) -> bool:
    """Whether a place that is not there had been filled: the sink is filled anew then."""
    if not await database.fetchval(queries.holds_records, sink_id, place):
        return False
    lost = f"{place} was gone" if place else "all that it held was gone"
    await ask_backfill(database, sink_id, f"{lost}: the server lost it, or is another one")
    return True


async def release(database: Database, lease: SinkLease) -> None:
    await database.execute(queries.release_sink, lease.id, lease.token)


async def put_off(database: Database, lease: SinkLease, wait: timedelta, error: str, failures: int) -> None:
    said = storable(error[:LONGEST_ERROR])
    await database.execute(queries.put_sink_off, lease.id, lease.token, wait, said, failures)


async def disable(database: Database, lease: SinkLease, error: str) -> None:
    await database.execute(queries.disable_sink, lease.id, lease.token, storable(error[:LONGEST_ERROR]))


async def list_sinks(database: Database | Connection) -> list[SinkReport]:
    return [_report(row) for row in await database.fetch(queries.list_sinks, None)]


async def sink_named(database: Database | Connection, name: str) -> SinkReport:
    row = await database.fetchrow(queries.list_sinks, name)
    if row is None:
        raise NotFound(f"There is no sink '{name}'.", fix="See all of them: headwater sinks list")
    return _report(row)


async def require_free_name(database: Database | Connection, name: str) -> None:
    if await database.fetchrow(queries.list_sinks, name):
        raise _name_taken(name)


def _name_taken(name: str) -> UsageError:
    return UsageError(f"There is a sink '{name}' already.", fix="Give another name, or remove that one.")


async def add_sink_row(
    connection: Connection,
    name: str,
    kind: str,
    options: Mapping[str, Any],
    view_id: UUID | None,
    set_by: str | None = None,
) -> UUID:
    """At the end of the log."""
    added: UUID | None = await connection.fetchval(
        *queries.add_sink(name=name, type=kind, options=dict(options), view_id=view_id, set_by=set_by)
    )
    if added is None:
        raise _name_taken(name)
    return added


async def ask_backfill(
    database: Database | Connection, sink_id: UUID, reason: str, source_id: UUID | None = None
) -> None:
    await database.execute(queries.ask_backfill, sink_id, source_id, reason)


def _report(row: Any) -> SinkReport:
    return SinkReport(**{name: row[name] for name in SinkReport.__dataclass_fields__})


def _columns(keys: Sequence[RecordKey]) -> dict[str, list[Any]]:
    return {
        "kinds": [str(key.kind) for key in keys],
        "buckets": [key.bucket for key in keys],
        "hashes": [key.hash for key in keys],
    }


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """A record that a sink refused. `next_try_at` None: it is parked."""

    kind: RecordKind
    hash: bytes
    position: int
    version: int
    attempts: int
    next_try_at: datetime | None
    error: str
    failed_at: datetime


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Records that a sink refused with the same words, numbers and ids apart."""

    error: str
    records: int
    parked: int
    last_at: datetime


async def failures_of(database: Database | Connection, sink_id: UUID, limit: int) -> list[FailedRecord]:
    """In order of their positions."""
    rows = await database.fetch(queries.failures_of_sink, sink_id, limit)
    return [FailedRecord(RecordKind(row["kind"]), *(row[name] for name in FailedRecord.__slots__[1:])) for row in rows]


async def failure_groups_of(database: Database | Connection, sink_id: UUID) -> list[FailureGroup]:
    """The largest first."""
    rows = await database.fetch(queries.failures_of_sink_by_error, sink_id, MOST_GROUPED, MOST_GROUPS)
    return [FailureGroup(**row) for row in rows]


async def retry_failures(database: Database | Connection, sink_id: UUID, error: str | None = None) -> int:
    """At once, parked ones too; with a class of errors only those of it. How many."""
    count: int = await database.fetchval(queries.retry_failures, sink_id, error)
    return count


async def clear_failures(database: Database | Connection, sink_id: UUID) -> None:
    await database.execute(queries.clear_failures, sink_id)


async def set_state(database: Database | Connection, sink_id: UUID, state: str, reason: str | None) -> None:
    await database.execute(queries.set_sink_state, sink_id, state, storable(reason) if reason else None)


async def remove_sink_row(database: Database | Connection, sink_id: UUID) -> None:
    await database.execute(queries.remove_sink, sink_id)


def wake_deliverers(connection: Connection) -> None:
    """When the caller's transaction has ended; they look every few seconds anyway."""
    connection.after_commit(archive_queries.wake_deliverers)


async def try_at_once(connection: Connection, sink_id: UUID) -> None:
    """A sink that was put off and answers again."""
    await connection.execute(queries.try_sink_at_once, sink_id)
