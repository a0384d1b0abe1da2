"""Whether a sink holds what it should: sink and archive compared, one range of ids after the other."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.log import move_changes
from headwater.deliver.records import Membership, Record, RecordKey, load_standings
from headwater.deliver.sink import AskableSink, HeldRecord, KeyRange
from headwater.deliver.store import SinkReport, sink_named, wake_deliverers
from headwater.record_kind import RecordKind
from headwater.search.views import question_of, view_with_id

queries = load_queries("headwater.deliver")

KEYS_IN_RANGE = 5_000
# Records of which only the place is asked are loaded whole.
LOADED_AT_ONCE = 200
# Ids that are named one by one; all are counted.
MOST_NAMED = 20
# At least so many ranges: a sink may hold more than the archive. One that holds too much is split into some more.
_SLICES, _PARTS = 16, 4
_IDS = 1 << 256


class SinkDifference(StrEnum):
    """Between a sink and the archive, as it is told."""

    MISSING = "missing"
    OUTDATED = "outdated"
    EXTRA = "too much"
    UNKNOWN = "not known here: another installation's, or from before this database was restored"
    MISPLACED = "in the wrong place"
    UNNOTED = "there, but not noted as delivered"


STRAYS = frozenset({SinkDifference.EXTRA, SinkDifference.UNKNOWN, SinkDifference.MISPLACED})


@dataclass(frozen=True, slots=True)
class Mismatch:
    """`place` is where a record is that should not be there; `version` the one that the archive has now."""

    key: RecordKey
    difference: SinkDifference
    version: int = 0
    place: str = ""


@dataclass(slots=True)
class Verification:
    """`is_asked` False: the sink cannot say what it holds, so the archive is compared with what was delivered to it."""

    is_asked: bool
    expected: int = 0
    held: int = 0
    on_their_way: int = 0
    # Of a stream of events that began at the log's end: records of before.
    older: int = 0
    mended: int = 0
    parked: int = 0
    differences: Counter[SinkDifference] = field(default_factory=Counter)
    named: list[Mismatch] = field(default_factory=list)

    @property
    def is_red(self) -> bool:
        return bool(self.parked or self.differences.total())


@dataclass(frozen=True, slots=True)
class NotedRecord:
    """A key as the archive knows it: whether the sink should hold it, and which version was delivered."""

    bucket: int
    version: int
    is_wanted: bool
    changed_at: datetime | None
    noted_version: int | None
    noted_place: str | None
    noted_batch: int | None = None

    def is_held_as(self, held: HeldRecord) -> bool:
        """Whether the sink holds the present version: by its field, or by the batch that brought it."""
        if held.batch_number is None:
            return held.version == self.version
        return held.batch_number == self.noted_batch and self.noted_version == self.version


@dataclass(frozen=True, slots=True)
class Verifier:
    """`asked` None: a sink that cannot say what it holds. `place_of` is the sink's."""

    database: Database
    sink: SinkReport
    takes: frozenset[RecordKind]
    is_events: bool
    place_of: Callable[[Record], str]
    asked: AskableSink | None = None

    async def verify(self, *, mends: bool = False, removes_unknown: bool = False) -> Verification:
        """One range in memory at a time. `mends`: records that differ are sent or removed once more, by `deliver`.

        Records that this archive does not know may be another installation's: removed only if that is asked for.
        """
        found = Verification(self.asked is not None, parked=self.sink.parked)
        reader = await self._reader()
        for kind in sorted(self.takes):
            async for first, last in key_ranges(self.database, kind):
                findings = await self._compare(found, reader, kind, first, last)
                self._note(found, findings)
                if mends:
                    found.mended += await self._mend(
                        [one for one in findings if removes_unknown or one.difference is not SinkDifference.UNKNOWN]
                    )
        return found

    async def _reader(self) -> Membership:
        view = await view_with_id(self.database, self.sink.view_id) if self.sink.view_id else None
        questions = {kind: await question_of(self.database, view, kind) for kind in self.takes}
        return Membership(self.sink.id, self.sink.view_id, questions, self.takes)

    async def _compare(
        self, found: Verification, reader: Membership, kind: RecordKind, first: bytes, last: bytes
    ) -> list[Mismatch]:
        # In this order: each change up to that position was sent before the sink is asked, and the archive knows of it.
        stood = (await sink_named(self.database, self.sink.name)).position
        held = await self._held(kind, first, last)
        rows = await noted_records(self.database, reader, kind, first, last)
        found.expected += sum(row.is_wanted for row in rows.values())
        if held is None:
            found.held += sum(row.noted_version is not None for row in rows.values())
            findings = self._judge_notes(found, kind, rows)
        else:
            found.held += sum(len(places) for places in held.values())
            findings = await self._judge(reader, kind, rows, held)
        pending = await self._on_their_way(kind, stood, findings)
        found.on_their_way += len({one.key for one in findings if one.key.hash in pending})
        return [one for one in findings if one.key.hash not in pending]

    async def _held(self, kind: RecordKind, first: bytes, last: bytes) -> dict[bytes, dict[str, HeldRecord]] | None:
        """By place. Ids that are not ours are another system's."""
        if self.asked is None:
            return None
        held: dict[bytes, dict[str, HeldRecord]] = defaultdict(dict)
        for one in await self.asked.state_of(KeyRange(kind, first.hex(), last.hex())):
            if (hash_ := _hash_of(one.id)) is not None:
                held[hash_][one.place] = one
        return held

    def _judge_notes(self, found: Verification, kind: RecordKind, rows: Mapping[bytes, NotedRecord]) -> list[Mismatch]:
        """A stream of events that began at the log's end has nothing of before."""
        findings = []
        for hash_, row in rows.items():
            key = RecordKey(kind, row.bucket, hash_)
            is_older = self.is_events and row.changed_at is not None and row.changed_at < self.sink.created_at
            if not row.is_wanted:
                if row.noted_version is not None:
                    findings.append(Mismatch(key, SinkDifference.EXTRA, row.version, row.noted_place or ""))
            elif row.noted_version is None and is_older:
                found.older += 1
            elif row.noted_version is None:
                findings.append(Mismatch(key, SinkDifference.MISSING, row.version))
            elif row.noted_version != row.version:
                findings.append(Mismatch(key, SinkDifference.OUTDATED, row.version))
        return findings

    async def _judge(
        self,
        reader: Membership,
        kind: RecordKind,
        rows: Mapping[bytes, NotedRecord],
        held: Mapping[bytes, Mapping[str, HeldRecord]],
    ) -> list[Mismatch]:
        unclear = [
            RecordKey(kind, row.bucket, hash_)
            for hash_, places in held.items()
            if (row := rows.get(hash_)) and row.is_wanted and list(places) != [row.noted_place]
        ]
        belongs = await self._places(reader, unclear)
        findings: list[Mismatch] = []
        for hash_ in sorted(rows.keys() | held.keys()):
            # Of an id that the archive does not know, any bucket will do.
            row = rows.get(hash_) or NotedRecord(0, 0, False, None, None, None)
            key, places = RecordKey(kind, row.bucket, hash_), held.get(hash_, {})
            if row.is_wanted:
                findings += _judge_record(key, row, places, belongs.get(key, row.noted_place or ""))
            else:
                difference = SinkDifference.EXTRA if hash_ in rows else SinkDifference.UNKNOWN
                findings += [
                    Mismatch(key, difference, row.version, place)
                    for place, one in places.items()
                    if hash_ in rows or one.is_sent_by_us
                ]
        return findings

    async def _places(self, reader: Membership, keys: Sequence[RecordKey]) -> dict[RecordKey, str]:
        found: dict[RecordKey, str] = {}
        for start in range(0, len(keys), LOADED_AT_ONCE):
            standings = await load_standings(self.database, keys[start : start + LOADED_AT_ONCE], reader)
            found |= {key: self.place_of(one.record) for key, one in standings.items() if one.record}
        return found

    async def _on_their_way(self, kind: RecordKind, stood: int, findings: Sequence[Mismatch]) -> set[bytes]:
        if not findings:
            return set()
        # A change that is committed and not in the log yet would look like a difference.
        await move_changes(self.database)
        hashes = [one.key.hash for one in findings]
        rows = await self.database.fetch(queries.records_on_their_way, self.sink.id, str(kind), stood, hashes)
        return {row["hash"] for row in rows}

    def _note(self, found: Verification, findings: Sequence[Mismatch]) -> None:
        found.differences.update(one.difference for one in findings)
        found.named += findings[: MOST_NAMED - len(found.named)]

    async def _mend(self, findings: Sequence[Mismatch]) -> int:
        """As if the sink had refused them: `deliver` looks at each again, and sends or removes it. Counts them."""
        if not findings:
            return 0
        kind = str(findings[0].key.kind)
        strays = {one.key: one for one in findings if one.difference in STRAYS}
        # Of a record that is in two wrong places one goes now, and the other with the next mending.
        again = {one.key: one for one in findings} | strays
        places = [one.place for one in strays.values()]
        versions = [one.version for one in again.values()]
        reasons = [f"found by sinks verify: {one.difference}" for one in again.values()]
        async with self.database.transaction() as connection:
            await connection.execute(queries.note_strays, self.sink.id, kind, *_columns(strays), places)
            await connection.execute(queries.ask_again, self.sink.id, kind, *_columns(again), versions, reasons)
            wake_deliverers(connection)
        return len(findings)


def _judge_record(key: RecordKey, row: NotedRecord, places: Mapping[str, HeldRecord], place: str) -> list[Mismatch]:
    """Of a record that the sink should hold at one place, in one version."""
    strays = [Mismatch(key, SinkDifference.MISPLACED, row.version, other) for other in places if other != place]
    if strays:
        return strays
    if place not in places:
        return [Mismatch(key, SinkDifference.MISSING, row.version)]
    if not row.is_held_as(places[place]):
        return [Mismatch(key, SinkDifference.OUTDATED, row.version)]
    return [] if row.noted_place == place else [Mismatch(key, SinkDifference.UNNOTED, row.version)]


async def key_ranges(database: Database, kind: RecordKind) -> AsyncIterator[tuple[bytes, bytes]]:
    """All ids, in ranges that hold no more than so many records of the archive; both ends included."""
    is_document = kind is RecordKind.DOCUMENT
    statement = queries.count_documents_in_range if is_document else queries.count_jobs_in_range
    open_ranges = _parts_of(0, _IDS, _SLICES)[::-1]
    while open_ranges:
        start, end = open_ranges.pop()
        first, last = start.to_bytes(32, "big"), (end - 1).to_bytes(32, "big")
        if await database.fetchval(statement, first, last, KEYS_IN_RANGE + 1) > KEYS_IN_RANGE:
            open_ranges += _parts_of(start, end, _PARTS)[::-1]
        else:
            yield first, last


def _parts_of(start: int, end: int, count: int) -> list[tuple[int, int]]:
    """Ids are spread evenly, so equal parts hold about equally many."""
    size = (end - start) // count
    return [(start + size * number, start + size * (number + 1)) for number in range(count)]


async def noted_records(
    database: Database, reader: Membership, kind: RecordKind, first: bytes, last: bytes
) -> dict[bytes, NotedRecord]:
    statement = queries.documents_in_range if kind is RecordKind.DOCUMENT else queries.jobs_in_range
    rows: list[Any] = await database.fetch(
        *statement(
            first=first,
            last=last,
            view_id=reader.view_id,
            question=reader.questions.get(kind),
            sink_id=reader.sink_id,
        )
    )
    return {row["hash"]: NotedRecord(*(row[name] for name in NotedRecord.__slots__)) for row in rows}


def _columns(keys: Iterable[RecordKey]) -> tuple[list[int], list[bytes]]:
    return [key.bucket for key in keys], [key.hash for key in keys]


def _hash_of(id_: str) -> bytes | None:
    try:
        hash_ = bytes.fromhex(id_)
    except ValueError:
        return None
    return hash_ if len(hash_) == 32 else None
