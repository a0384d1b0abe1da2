"""One sink brought up to date: the log first, then records that wait for another try, then a piece of a backfill.

`SinkWorker.run` is the function to read first. One process works a sink at a time, by a lease with a token; it sends
only while its own clock says that the lease outlasts the request.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.chance import Random
from headwater.clock import Clock
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.deliver import store
from headwater.deliver.kinds import kind_named
from headwater.deliver.log import LogEntry, last_of_each, read_log
from headwater.deliver.planning import BatchResult, plan_batch, settle_batch
from headwater.deliver.records import Membership, RecordKey, RecordStanding, load_standings
from headwater.deliver.sink import Fence, LeaseEnded, PlacedSink, Sink, SinkContext, SinkDown, SinkKind
from headwater.deliver.store import BackfillPlace, SinkLease, SinkProgress
from headwater.errors import DatabaseDown, HeadwaterError, NotFound, QueryFailed, SettingError, StoreDown, UsageError
from headwater.figures import SINK_BOUNDS, SINK_DELAY, Figures
from headwater.log import Logger
from headwater.politeness.backoff import stretch
from headwater.record_kind import RecordKind
from headwater.search.views import question_of, view_with_id

queries = load_queries("headwater.deliver")

FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(minutes=5)
# As long as a sink's own Retry-After is believed: a wrong header must not silence a sink for a year.
LONGEST_ASKED = timedelta(hours=1)
JITTER = 0.1
NOTHING = BatchResult()


@dataclass(frozen=True, slots=True)
class Delivered:
    """A batch that a sink took: for whoever watches."""

    sink: str
    sent: int
    refused: int
    position: int


@dataclass(slots=True)
class SinkWorker:
    """`context` makes what a sink is made with, by its name."""

    database: Database
    clock: Clock
    random: Random
    log: Logger
    owner: str
    context: Callable[[str], SinkContext]
    on_batch: Callable[[Delivered], None] = lambda _: None
    kinds: Callable[[str], SinkKind] = kind_named
    lease_time: timedelta = timedelta(seconds=60)
    figures: Figures = field(default_factory=Figures)
    stores: BodyStores = NO_STORES

    async def run(self, sink_id: UUID, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Until it is up to date, down, or another process's. Never raises for what a sink does."""
        began = self.clock.monotonic()
        lease = await store.lease_sink(self.database, sink_id, self.owner, self.lease_time)
        if lease is None:
            return
        ends_at = began + self.lease_time.total_seconds()
        fence = Fence(
            self.clock,
            str(lease.token),
            ends_at,
            is_handed_over=lease.is_handed_over,
            on_missing=partial(self._note_missing, lease),
        )
        try:
            await self._work(lease, fence, should_stop)
        except SinkDown as down:
            await self._put_off(lease, down)
        except (SettingError, StoreDown, UsageError, NotFound) as error:
            await self._put_off(lease, SinkDown(error.what, fix=error.fix))
        except LeaseEnded as ended:
            self.log.warning("sink_lease_ended", sink=lease.name, why=ended.what)
        except (DatabaseDown, QueryFailed):
            raise
        except Exception as error:
            self.log.exception("sink_broke", sink=lease.name)
            await self._put_off(lease, SinkDown(f"It broke with {type(error).__name__}: {error}"))
        else:
            await store.release(self.database, lease)

    async def _work(self, lease: SinkLease, fence: Fence, should_stop: Callable[[], bool]) -> None:
        kind = self.kinds(lease.type)
        options = kind.options.model_validate(lease.options)
        async with AsyncExitStack() as stack:
            sink = kind.make(options, self.context(lease.name))
            stack.push_async_callback(sink.close)
            await sink.prepare(fence)
            if lease.is_to_be_checked and isinstance(sink, PlacedSink):
                for place in await sink.missing_places(await store.filled_places(self.database, lease.id), fence):
                    await fence.note_missing(place)
            takes, with_html = kind.takes(options), kind.wants_html(options)
            session = _SinkSession(self, lease, fence, kind, sink, takes, with_html=with_html)
            while not should_stop() and await session.go_on():
                pass

    async def membership(self, lease: SinkLease, takes: frozenset[RecordKind]) -> Membership:
        """By the view as it is now: it may have been edited since the last batch."""
        view = await view_with_id(self.database, lease.view_id) if lease.view_id else None
        questions = {kind: await question_of(self.database, view, kind) for kind in takes}
        return Membership(lease.id, lease.view_id, questions, takes)

    async def _note_missing(self, lease: SinkLease, place: str | None) -> None:
        if await store.refill_lost(self.database, lease.id, place):
            self.log.warning("sink_lost_records", sink=lease.name, place=place or "everything")

    async def _put_off(self, lease: SinkLease, down: SinkDown) -> None:
        if down.is_for_good:
            await store.disable(self.database, lease, down.what)
            self.log.error("sink_disabled", sink=lease.name, error=down.what)
            return
        # One that took something before has not failed again and again.
        failures = 1 if down.outcomes else lease.failures + 1
        wait = wait_after(failures, self._waits(lease.type), down.retry_after, self.random)
        await store.put_off(self.database, lease, wait, f"{down.what} {down.fix}".strip(), failures)
        self.log.warning(
            "sink_down",
            sink=lease.name,
            error=down.what,
            fix=down.fix,
            failures=failures,
            retry_in_seconds=round(wait.total_seconds(), 1),
        )

    def _waits(self, kind: str) -> Sequence[timedelta] | None:
        """Of a kind that may not be installed here."""
        try:
            return self.kinds(kind).waits
        except HeadwaterError:
            return None


@dataclass(slots=True)
class _SinkSession:
    """The batches of one lease."""

    worker: SinkWorker
    lease: SinkLease
    fence: Fence
    kind: SinkKind
    sink: Sink
    takes: frozenset[RecordKind]
    with_html: bool
    _is_backfills_turn: bool = field(default=False, init=False)
    _settled_at: datetime | None = field(default=None, init=False)

    async def go_on(self) -> bool:
        """One batch; False: there is nothing left. Log batches come first, and a backfill gets every second turn."""
        progress = await self._begin()
        if progress.state != "active":
            return False
        has_log = progress.position < progress.log_position
        if progress.is_left_behind:
            await self._begin_anew(progress)
        elif progress.backfill and (self._is_backfills_turn or not has_log):
            self._is_backfills_turn = False
            await self._fill(progress, progress.backfill)
        elif has_log:
            self._is_backfills_turn = True
            await self._follow_log(progress)
        elif progress.has_retries:
            await self._retry(progress)
        else:
            return False
        return True

    async def _begin(self) -> SinkProgress:
        """The number of a batch is taken before its records are read: a later batch never says less."""
        began = self.worker.clock.monotonic()
        progress = await store.begin_batch(self.worker.database, self.lease, self.worker.lease_time)
        self.fence.ends_at = began + self.worker.lease_time.total_seconds()
        self.fence.batch_number = progress.batch_number
        return progress

    async def _follow_log(self, progress: SinkProgress) -> None:
        entries = await read_log(self.worker.database, progress.position, progress.log_position, self.kind.batch)
        end = entries[-1].position if len(entries) == self.kind.batch else progress.log_position
        positions = {key: entry.position for key, entry in last_of_each(entries).items()}
        await self._send(positions, start=progress.position, end=end)
        self._note_delays(entries)

    def _note_delays(self, entries: Sequence[LogEntry]) -> None:
        """From a change of the archive to the sink, of each change that it was brought past."""
        if self._settled_at is None:
            return
        for entry in entries:
            delay = (self._settled_at - entry.changed_at).total_seconds()
            self.worker.figures.note_time(SINK_DELAY, delay, SINK_BOUNDS, of=self.lease.name)

    async def _retry(self, progress: SinkProgress) -> None:
        """A record that is newer than its failure has a later change in the log: that one brings it."""
        rows = await self.worker.database.fetch(queries.failures_due, self.lease.id, self.kind.batch)
        due = {RecordKey(RecordKind(row["kind"]), row["bucket"], row["hash"]): row for row in rows}
        standings = await self._standings(list(due))
        outdated = [key for key, row in due.items() if standings[key].version > row["version"]]
        if outdated:
            await self._settle(BatchResult(settled=outdated), position=progress.position)
        for is_from_archive in (False, True):
            positions = {
                key: row["position"]
                for key, row in due.items()
                if key not in outdated and row["is_from_archive"] == is_from_archive
            }
            if positions:
                stands = progress.position
                await self._send(positions, start=stands, end=stands, is_from_archive=is_from_archive)

    async def _fill(self, progress: SinkProgress, place: BackfillPlace) -> None:
        walked = await _next_keys(self.worker.database, place, self.kind.batch)
        positions = {key: progress.log_position for key, _ in walked}
        step = BackfillStep(place, walked, is_last=len(walked) < self.kind.batch)
        stands = progress.position
        await self._send(positions, start=stands, end=stands, is_from_archive=True, backfill=step)

    async def _begin_anew(self, progress: SinkProgress) -> None:
        async with self.worker.database.transaction() as connection:
            await store.ask_backfill(connection, self.lease.id, "the log no longer reaches back to where it stood")
            await store.settle(
                connection,
                self.lease,
                NOTHING,
                position=progress.log_position,
                batch_number=progress.batch_number,
                duration=self.worker.lease_time,
            )
        self.worker.log.warning("sink_left_behind", sink=self.lease.name, oldest_position=progress.oldest_position)

    async def _standings(self, keys: Sequence[RecordKey]) -> dict[RecordKey, RecordStanding]:
        reader = await self.worker.membership(self.lease, self.takes)
        return await load_standings(
            self.worker.database,
            keys,
            reader,
            with_html=self.with_html,
            with_feeds=self.kind.wants_feeds,
            stores=self.worker.stores,
        )

    async def _send(
        self,
        positions: Mapping[RecordKey, int],
        *,
        start: int,
        end: int,
        is_from_archive: bool = False,
        backfill: "BackfillStep | None" = None,
    ) -> None:
        """Then note what became of it. Where the sink went down in the middle, what it took before is noted too."""
        standings = await self._standings(list(positions))
        batch = plan_batch(standings, positions, self.sink.place_of, is_from_archive=is_from_archive)
        if batch.new:
            await store.note_intents(self.worker.database, self.lease, self.fence.batch_number, batch.new)
        down: SinkDown | None = None
        try:
            outcomes = await self.sink.send(batch.deliveries, self.fence) if batch.deliveries else []
        except SinkDown as error:
            down, outcomes = error, error.outcomes
        result = settle_batch(batch, outcomes)
        if result.is_whole and result.arriving:
            # Not further than before, until they are where they belong.
            await self._settle(result, position=start)
            await self._begin()
            arriving = {key: positions[key] for key in result.arriving}
            await self._send(arriving, start=start, end=end, is_from_archive=is_from_archive, backfill=backfill)
            return
        position = end if result.is_whole else reached(positions, result.known, start, end)
        step = backfill.after(result.known, is_whole=result.is_whole) if backfill else None
        await self._settle(result, position=position, backfill=step, is_success=down is None)
        if down:
            raise down

    async def _settle(
        self,
        result: BatchResult,
        *,
        position: int,
        backfill: "BackfillMove | None" = None,
        is_success: bool = True,
    ) -> None:
        worker, began = self.worker, self.worker.clock.monotonic()
        async with worker.database.transaction() as connection:
            self._settled_at = await store.settle(
                connection,
                self.lease,
                result,
                position=position,
                batch_number=self.fence.batch_number,
                duration=worker.lease_time,
                is_success=is_success,
            )
            if backfill:
                await backfill.write(connection)
        self.fence.ends_at = began + worker.lease_time.total_seconds()
        worker.on_batch(Delivered(self.lease.name, result.sent, len(result.refused), position))
        if result.refused:
            why = result.refused[0][1].why
            worker.log.warning("records_refused", sink=self.lease.name, count=len(result.refused), first=why)


def reached(positions: Mapping[RecordKey, int], known: int, start: int, end: int) -> int:
    """How far a sink stands that went down in the middle of a batch: before the first key of which nothing is known."""
    last = list(positions.values())[known - 1] if known else start
    return max(start, min(last, end))


@dataclass(frozen=True, slots=True)
class BackfillMove:
    """`place` None: the walk has come to its end."""

    number: int
    place: BackfillPlace | None
    walked: int

    async def write(self, connection: Connection) -> None:
        if self.place is None:
            await connection.execute(queries.end_backfill, self.number)
            return
        moved = (self.place.kind, self.place.at, self.place.bucket, self.place.hash)
        await connection.execute(queries.move_backfill, self.number, *moved, self.walked)


@dataclass(frozen=True, slots=True)
class BackfillStep:
    """A batch of a walk: the keys after `place`, each with its time where one source's records are walked."""

    place: BackfillPlace
    walked: "Sequence[WalkedKey]"
    is_last: bool

    def after(self, known: int, *, is_whole: bool) -> BackfillMove | None:
        """Where it goes on, when this is known of the first so many keys. Documents come before vacancies."""
        place = self.place
        if is_whole and self.is_last:
            following = replace(place, kind=RecordKind.JOB, at=None, bucket=-1, hash=b"")
            is_document = place.kind is RecordKind.DOCUMENT
            return BackfillMove(place.number, following if is_document else None, len(self.walked))
        # Of records that went to another place in a batch of their own, fewer are known than were walked: some are
        # looked at twice then.
        count = len(self.walked) if is_whole else known
        if not count:
            return None
        key, at = self.walked[count - 1]
        return BackfillMove(place.number, replace(place, at=at, bucket=key.bucket, hash=key.hash), count)


class WalkedKey(NamedTuple):
    key: RecordKey
    at: datetime | None


async def _next_keys(database: Database, place: BackfillPlace, limit: int) -> list[WalkedKey]:
    is_document = place.kind is RecordKind.DOCUMENT
    if place.source_id:
        statement = queries.document_keys_of_source if is_document else queries.job_keys_of_source
        rows = await database.fetch(statement, place.source_id, place.at, place.bucket, place.hash, limit)
        return [WalkedKey(RecordKey(place.kind, row["bucket"], row["hash"]), row["at"]) for row in rows]
    statement = queries.document_keys if is_document else queries.job_keys
    rows = await database.fetch(statement, place.bucket, place.hash, limit)
    return [WalkedKey(RecordKey(place.kind, row["bucket"], row["hash"]), None) for row in rows]


def wait_after(
    failures: int, waits: Sequence[timedelta] | None, asked_by_sink: timedelta | None, random: Random
) -> timedelta:
    """After failures in a row of the whole sink. Jitter only lengthens: a sink's own Retry-After of up to an hour is
    never cut short.
    """
    if waits:
        ours = waits[min(failures, len(waits)) - 1]
    else:
        ours = min(FIRST_WAIT * float(2 ** min(failures - 1, 16)), LONGEST_WAIT)
    asked = min(asked_by_sink or timedelta(), LONGEST_ASKED)
    return stretch(max(ours, asked), JITTER, random)
