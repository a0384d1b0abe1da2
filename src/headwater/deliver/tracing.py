"""The way of one record: into the log, and from there into each sink."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.records import RecordKey
from headwater.deliver.store import SinkReport, list_sinks
from headwater.record_kind import RecordKind

queries = load_queries("headwater.deliver")

READ_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class LoggedChange:
    position: int
    at: datetime
    version: int
    op: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class SinkStop:
    """The state of a record in one sink. `held_version` 0: it was sent, and nobody knows what became of it."""

    sink: SinkReport
    held_version: int | None
    held_at: datetime | None
    place: str | None
    error: str | None
    attempts: int | None
    next_try_at: datetime | None


@dataclass(frozen=True, slots=True)
class RecordWay:
    """`changes` are those that the log still has, the last first."""

    changes: Sequence[LoggedChange]
    stops: Sequence[SinkStop]


async def way_of_record(database: Database, key: RecordKey) -> RecordWay:
    kind = str(key.kind)
    changes = await database.fetch(queries.changes_of_record, kind, key.bucket, key.hash)
    stops = {row["name"]: row for row in await database.fetch(queries.way_into_sinks, kind, key.bucket, key.hash)}
    sinks = [one for one in await list_sinks(database) if one.name in stops]
    return RecordWay([LoggedChange(**row) for row in changes], [_stop(one, stops[one.name]) for one in sinks])


def _stop(sink: SinkReport, row: Any) -> SinkStop:
    return SinkStop(sink, **{name: row[name] for name in SinkStop.__slots__ if name != "sink"})


async def held_by_sinks(
    database: Database, kind: RecordKind, buckets: Sequence[int], hashes: Sequence[bytes]
) -> dict[UUID, int]:
    """How many of some records each sink holds, by the sink's id."""
    rows = await database.fetch(queries.held_by_sinks, str(kind), buckets, hashes)
    return {row["sink_id"]: row["records"] for row in rows}


async def vacancies_to_remove(database: Database, sink_id: UUID) -> AsyncIterator[tuple[str, ...]]:
    """The addresses of each vacancy that is over and that the sink still holds."""
    bucket, hash_ = -1, b""
    while rows := await database.fetch(queries.vacancies_to_remove, sink_id, bucket, hash_, READ_AT_ONCE):
        bucket, hash_ = rows[-1]["bucket"], rows[-1]["hash"]
        for row in rows:
            if row["apply_url"] is not None:
                yield tuple(url for url in (row["apply_url"], row["page_url"]) if url)


def way_in_words(way: RecordWay) -> list[str]:
    """Sentences: the log first, then each sink. Pure."""
    if not way.changes:
        in_log = ["not in the log any more"] if any(one.held_version for one in way.stops) else []
        return [*in_log, *(f"{one.sink.name}: {stop_in_words(one, None)}" for one in way.stops if one.held_version)]
    last = way.changes[0]
    delay = max(0.0, (last.at - last.changed_at).total_seconds())
    what = "version" if last.op == "upsert" else "its removal, version"
    log = f"in the log at position {last.position:,} ({what} {last.version}), {delay:.1f} s after the change"
    return [log, *(f"{one.sink.name}: {stop_in_words(one, last)}" for one in way.stops)]


def stop_in_words(stop: SinkStop, last: LoggedChange | None) -> str:
    """Of one sink. Pure."""
    sink = stop.sink
    there = f" at {stop.place}" if stop.place else ""
    held = ""
    if stop.held_version and stop.held_at:
        held = f"delivered as version {stop.held_version}{there} at {stop.held_at:%Y-%m-%d %H:%M:%S}"
    elif stop.held_version is not None:
        held = f"sent{there}, its acknowledgement is not known"
    if stop.error is not None:
        again = f"tried again at {stop.next_try_at:%Y-%m-%d %H:%M:%S}" if stop.next_try_at else "parked"
        return "; ".join(filter(None, (held, f"refused: {stop.error} ({again})")))
    if last and sink.position < last.position:
        return "; ".join(filter(None, (held, f"its last change waits: {_why_it_waits(sink)}")))
    if held:
        return held
    if sink.backfill_reason:
        return "not there yet: the sink is being filled"
    if last and last.op == "delete":
        return "it is not there"
    return f"not for this sink: it is not in the view {sink.view_name}" if sink.view_name else "it is not there"


def _why_it_waits(sink: SinkReport) -> str:
    if sink.state != "active":
        return f"the sink is {sink.state}{f', {sink.state_reason}' if sink.state_reason else ''}"
    if sink.failures:
        since = f", its last success was at {sink.last_success_at:%Y-%m-%d %H:%M}" if sink.last_success_at else ""
        return f"the sink is down{since}: {sink.last_error or 'no answer'}"
    return f"{sink.behind:,} changes are to be sent"
