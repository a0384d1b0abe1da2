"""A desk beside an archive and its sinks: documents are kept, changed and delivered between two commands."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from tests.integration.archive.shelf import LONG, SOURCE, Shelf
from tests.integration.cli.conftest import Said
from tests.integration.cli.desk import Desk

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.log import move_changes
from headwater.deliver.sink import SinkContext
from headwater.deliver.store import list_sinks
from headwater.log import make_logger

T = TypeVar("T")


class DeliveryDesk(Desk):
    def add(self, name: str = "index", kind: str = "filed", *words: str) -> Said:
        return self.says("sinks", "add", name, "--type", kind, f"file={self.file_of(name)}", *words)

    def file_of(self, name: str) -> Path:
        return self.home / f"{name}.json"

    def beside(self, name: str, end: str, text: str = "") -> Path:
        place = self.file_of(name).with_suffix(f".{end}")
        place.write_text(text)
        return place

    def titles(self, name: str = "index") -> dict[str, int]:
        """Versions by title, as the sink holds them."""
        place = self.file_of(name)
        held = json.loads(place.read_text()) if place.exists() else {}
        return {one["title"]: one["version"] for one in held.values()}

    def on_shelf(self, work: Callable[[Shelf], Awaitable[T]]) -> T:
        return self.on_database(lambda database: work(Shelf(database)))

    def keep(self, url: str, title: str, text: str = "", **fields: Any) -> None:
        self.on_shelf(lambda shelf: shelf.keep(url, text or f"{title} {LONG}", title=title, **fields))

    def source(self, name: str = "The Gazette", **columns: Any) -> None:
        given = {"id": SOURCE, "name": name, "url": "https://gazette.example/", **columns}
        values = ", ".join(f"${number}" for number in range(1, len(given) + 1))
        updates = ", ".join(f"{one} = excluded.{one}" for one in given)
        statement = (
            f"INSERT INTO sources ({', '.join(given)}) VALUES ({values}) ON CONFLICT (id) DO UPDATE SET {updates}"
        )
        self.execute(statement, *given.values())

    def deliver(self) -> None:
        """As a process of `deliver` does, until there is nothing left; a sink that is down is tried at once."""
        self.on_database(deliver_once)


async def deliver_once(database: Database) -> None:
    await move_changes(database)
    await database.execute("UPDATE sinks SET retry_at = '-infinity'")
    log, random = make_logger("error", "json"), Random(1)

    def context(name: str) -> SinkContext:
        return SinkContext(name, SystemClock(), random, log, Path("/nonexistent"), str, _no_client)

    worker = SinkWorker(database, SystemClock(), random, log, "tester", context)
    for sink in await list_sinks(database):
        await worker.run(sink.id)


def _no_client(address: str) -> Any:
    raise AssertionError(f"A sink in a file asks no server: {address}")
