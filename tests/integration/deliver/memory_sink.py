"""A sink in the memory of a test: records by place, with versions as a search server has; it fails on demand."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from tests.integration.archive.shelf import SOURCE

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.deliver import store
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.log import move_changes
from headwater.deliver.records import Record
from headwater.deliver.sink import (
    VERSIONS_PER_BATCH,
    Accepted,
    Delivery,
    DeliveryOutcome,
    Fence,
    HeldRecord,
    KeyRange,
    RecordRefused,
    Removal,
    SinkContext,
    SinkDown,
    SinkKind,
    SinkOptions,
    Upsert,
)
from headwater.log import make_logger
from headwater.urls.canonical import canonicalise


class MemoryOptions(SinkOptions):
    by_source: bool = False


@dataclass(slots=True)
class Server:
    """What the sink's server would hold, over all leases: id by place, with an external version and the record."""

    held: dict[tuple[str, str], tuple[int, Record]] = field(default_factory=dict)
    # Deletions are remembered, as a search server does for a while.
    deleted: dict[tuple[str, str], int] = field(default_factory=dict)
    sends: list[list[Delivery]] = field(default_factory=list)
    refuses: Callable[[Delivery], RecordRefused | None] = lambda _: None
    before: Callable[[Sequence[Delivery]], Awaitable[None]] | None = None
    after: Callable[[Sequence[Delivery]], Awaitable[None]] | None = None
    prepared: Callable[[Fence], Awaitable[None]] | None = None
    down: SinkDown | None = None
    takes_before_down: int = 0

    def take(self, one: Delivery, version: int) -> DeliveryOutcome:
        if refused := self.refuses(one):
            return refused
        key = (one.place, one.key.id)
        newest = max(self.held[key][0] if key in self.held else -1, self.deleted.get(key, -1))
        if newest > version + VERSIONS_PER_BATCH:
            return RecordRefused("a later batch", later_batch=newest // VERSIONS_PER_BATCH + 1)
        if version > newest:
            if isinstance(one, Upsert):
                self.held[key] = (version, one.record)
                self.deleted.pop(key, None)
            else:
                self.held.pop(key, None)
                self.deleted[key] = version
        return Accepted()

    @property
    def versions(self) -> dict[str, int]:
        """Our versions by title, of all places."""
        return {record.fields["title"]: record.version for _, record in self.held.values()}

    @property
    def places(self) -> dict[str, str]:
        return {self.held[place, id_][1].fields["title"]: place for place, id_ in self.held}


@dataclass(slots=True)
class MemorySink:
    server: Server
    options: MemoryOptions

    def place_of(self, record: Record) -> str:
        return record.source.name if self.options.by_source else ""

    async def prepare(self, fence: Fence) -> None:
        fence.require(0)
        if self.server.prepared:
            await self.server.prepared(fence)

    async def send(self, batch: Sequence[Delivery], fence: Fence) -> Sequence[DeliveryOutcome]:
        fence.require(0)
        if self.server.before:
            await self.server.before(batch)
        self.server.sends.append(list(batch))
        if self.server.down:
            outcomes = [self.server.take(one, fence.external_version) for one in batch[: self.server.takes_before_down]]
            down = self.server.down
            raise SinkDown(down.what, retry_after=down.retry_after, outcomes=outcomes, is_for_good=down.is_for_good)
        outcomes = [self.server.take(one, fence.external_version) for one in batch]
        if self.server.after:
            await self.server.after(batch)
        return outcomes

    async def state_of(self, wanted: KeyRange) -> Sequence[HeldRecord]:
        return [
            HeldRecord(id_, record.version, place)
            for (place, id_), (_, record) in self.server.held.items()
            if record.key.kind is wanted.kind and wanted.first <= id_ <= wanted.last
        ]

    async def close(self) -> None:
        pass


@dataclass(slots=True)
class Delivering:
    """A database, one server for each sink by its name, and workers that deliver to them."""

    database: Database
    servers: dict[str, Server] = field(default_factory=dict)
    batch: int = 500

    def kind(self, name: str) -> SinkKind:
        return SinkKind(
            name, "In the memory of a test.", MemoryOptions, self._make, batch=self.batch, is_events=name == "stream"
        )

    def _make(self, options: MemoryOptions, context: SinkContext) -> MemorySink:
        return MemorySink(self.servers[context.name], options)

    def worker(self, owner: str = "tester", lease: timedelta = timedelta(seconds=60)) -> SinkWorker:
        log = make_logger("error", "json")
        random = Random(1)

        def context(name: str) -> SinkContext:
            return SinkContext(name, SystemClock(), random, log, Path("/nonexistent"), str, _no_client)

        return SinkWorker(self.database, SystemClock(), random, log, owner, context, kinds=self.kind, lease_time=lease)

    async def add(self, name: str = "store", view_id: UUID | None = None, **options: Any) -> UUID:
        self.servers.setdefault(name, Server())
        async with self.database.transaction() as connection:
            return await store.add_sink_row(connection, name, name.partition("-")[0], options, view_id)

    async def deliver(self, name: str = "store") -> Server:
        """Move what is committed, and bring the sink up to date, however long it is put off."""
        await move_changes(self.database)
        await self.database.execute("UPDATE sinks SET retry_at = '-infinity' WHERE name = $1", name)
        sink = await store.sink_named(self.database, name)
        await self.worker().run(sink.id)
        return self.servers[name]

    async def source(self, name: str = "The Gazette", **columns: Any) -> None:
        """The source of all documents that a shelf keeps."""
        site = canonicalise("https://gazette.example/")
        given = {"id": SOURCE, "name": name, "url": site.url, "url_hash": site.url_hash, **columns}
        names = ", ".join(given)
        values = ", ".join(f"${number}" for number in range(1, len(given) + 1))
        updates = ", ".join(f"{one} = excluded.{one}" for one in given)
        await self.database.execute(
            f"INSERT INTO sources ({names}) VALUES ({values}) ON CONFLICT (id) DO UPDATE SET {updates}", *given.values()
        )


def _no_client(address: str) -> Any:
    raise AssertionError(f"A sink in memory asks no server: {address}")


def titles(batch: Sequence[Delivery]) -> list[str]:
    return [one.record.fields["title"] if isinstance(one, Upsert) else f"-{one.key.id[:4]}" for one in batch]


def removals(batch: Sequence[Delivery]) -> list[str]:
    return [one.key.id for one in batch if isinstance(one, Removal)]
