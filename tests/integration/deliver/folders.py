"""Sinks that write into a folder, with what they are made with."""

import gzip
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import orjson
import zstandard
from tests.clocks import ManualClock

from headwater.chance import random_from
from headwater.database.pool import Database
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.kinds import kind_named
from headwater.deliver.log import move_changes
from headwater.deliver.sink import Delivery, Fence, Sink, SinkContext
from headwater.log import make_logger
from headwater.search.views import View, add_view

NOW = datetime(2026, 11, 18, 14, 5, 9, tzinfo=UTC)


@dataclass
class Bench:
    """One sink in a folder; each `sends` is a lease of its own, as after a restart."""

    folder: Path
    type: str
    options: dict[str, Any] = field(default_factory=dict)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))
    batch_number: int = 1

    def context(self, name: str = "out") -> SinkContext:
        log, nobody = make_logger("warning", "json"), cast("Any", None)
        return SinkContext(name, self.clock, random_from(1), log, self.folder, nobody, nobody)

    def fence(self, token: str = "t1", seconds: float = 60) -> Fence:
        return Fence(self.clock, token, self.clock.monotonic() + seconds, self.batch_number)

    def sink(self) -> Sink:
        kind = kind_named(self.type)
        return kind.make(kind.options.model_validate({"folder": str(self.folder)} | self.options), self.context())

    async def sends(self, *batches: list[Delivery], token: str = "t1") -> None:
        sink, fence = self.sink(), self.fence(token)
        await sink.prepare(fence)
        for batch in batches:
            outcomes = await sink.send(batch, fence)
            assert len(outcomes) == len(batch)
        await sink.close()

    def names(self, under: str = "") -> list[str]:
        place = self.folder / under
        return sorted(str(one.relative_to(place)) for one in place.rglob("*") if one.is_file())

    def lines(self) -> list[dict[str, Any]]:
        """Of all files, in the order that a reader takes them."""
        bodies = [_unpacked(self.folder / name) for name in self.names()]
        return [orjson.loads(line) for body in bodies for line in body.splitlines()]

    def worker(self, database: Database) -> SinkWorker:
        log = make_logger("warning", "json")
        return SinkWorker(database, self.clock, random_from(1), log, "test", self.context)


def _unpacked(file: Path) -> bytes:
    if file.suffix == ".gz":
        return gzip.decompress(file.read_bytes())
    if file.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(file.read_bytes(), read_across_frames=True).read()
    return file.read_bytes()


async def log_written(database: Database) -> None:
    assert await move_changes(database) >= 0


async def viewed(database: Database, **said: Any) -> View:
    return await add_view(database, View(name="v", **said))
