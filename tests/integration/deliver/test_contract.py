"""The contract of a sink: each kind, through the loop that serves all of them, ends up with what the archive holds.

A kind stands here with how it is set up and how its far side is read: what a store holds, or what a reader of its
events would hold who takes them in the order in which they came.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pyarrow.parquet as pq
import pytest
from aiohttp import web
from tests.integration.archive.shelf import Shelf
from tests.integration.deliver.meilisearch_server import meilisearch
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.deliver.test_elasticsearch_faults import StandIn
from tests.integration.deliver.test_redis import serving as redis_serving

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.deliver import store
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.http import SinkClient
from headwater.deliver.log import move_changes
from headwater.deliver.sink import SinkContext
from headwater.log import make_logger
from headwater.net.guard import OperatorGuard
from headwater.net.identity import Identity
from headwater.net.transport import Transport

SECRET = "whsec_" + b64encode(b"s" * 32).decode()


@dataclass
class FarSide:
    """`held` are titles by id. `fails` lets the next requests go wrong, where the far side is a server.

    `empties` takes all away that a store holds; None: the far side is a stream, whose reader keeps it.
    """

    options: dict[str, Any]
    held: Callable[[], Awaitable[dict[str, str]]]
    fails: Callable[[bool], None] = lambda is_down: None
    empties: Callable[[], None] | None = None


@asynccontextmanager
async def elasticsearch(folder: Path) -> AsyncIterator[FarSide]:
    server = StandIn()

    async def held() -> dict[str, str]:
        return {key[1]: one[1]["title"] for key, one in server.documents.items() if one[1] is not None}

    def fails(is_down: bool) -> None:
        server.trouble = lambda items: web.json_response({}, status=503) if is_down else None

    async with served(server.answer) as address:
        yield FarSide({"url": address}, held, fails, server.empty)


@asynccontextmanager
async def meili(folder: Path) -> AsyncIterator[FarSide]:
    async with meilisearch() as server:

        async def held() -> dict[str, str]:
            found = server.documents("documents") if "documents" in server.indexes else {}
            return {one["id"]: one["title"] for one in found.values()}

        yield FarSide({"url": server.url}, held, empties=server.indexes.clear)


@asynccontextmanager
async def redis(folder: Path) -> AsyncIterator[FarSide]:
    async with redis_serving() as server:

        async def held() -> dict[str, str]:
            messages: Any = await server.asking.xrange("content:document")
            return folded(json.loads(fields["payload"]) for _, fields in messages)

        yield FarSide({"url": server.url}, held)


@asynccontextmanager
async def webhook(folder: Path) -> AsyncIterator[FarSide]:
    received: list[dict[str, Any]] = []
    down = [False]

    async def take(request: web.Request) -> web.Response:
        if down[0]:
            return web.Response(status=503)
        body = await request.json()
        op = body["type"].rpartition(".")[2]
        received.append({"op": op, "id": body["data"]["id"], "record": body["data"]})
        return web.Response(status=204)

    async def held() -> dict[str, str]:
        return folded(received)

    def fails(is_down: bool) -> None:
        down[0] = is_down

    async with served(take) as address:
        yield FarSide({"url": address, "secret": "env:HOOK"}, held, fails)


@asynccontextmanager
async def jsonl(folder: Path) -> AsyncIterator[FarSide]:
    async def held() -> dict[str, str]:
        lines = (line for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text().splitlines())
        return folded(sorted(map(json.loads, lines), key=lambda one: one["position"]))

    yield FarSide({"folder": str(folder)}, held)


@asynccontextmanager
async def parquet(folder: Path) -> AsyncIterator[FarSide]:
    async def held() -> dict[str, str]:
        rows = [row for file in sorted(folder.rglob("*.parquet")) for row in pq.read_table(file).to_pylist()]
        rows.sort(key=lambda one: one["position"])
        return folded({**row, "record": row} for row in rows)

    yield FarSide({"folder": str(folder)}, held)


@asynccontextmanager
async def feed(folder: Path) -> AsyncIterator[FarSide]:
    async def held() -> dict[str, str]:
        file = folder / "feed.json"
        return {one["id"].rpartition(":")[2]: one["title"] for one in json.loads(file.read_text())["items"]}

    def empties() -> None:
        for file in folder.iterdir():
            file.unlink()

    yield FarSide({"folder": str(folder), "items": 1_000}, held, empties=empties)


def folded(events: Any) -> dict[str, str]:
    held: dict[str, str] = {}
    for event in events:
        if event["op"] == "upsert":
            held[event["id"]] = event["record"]["title"]
        else:
            held.pop(event["id"], None)
    return held


@asynccontextmanager
async def served(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    app = web.Application(client_max_size=100_000_000)
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


KINDS: dict[str, Callable[[Path], AbstractAsyncContextManager[FarSide]]] = {
    "elasticsearch": elasticsearch,
    "meilisearch": meili,
    "redis": redis,
    "webhook": webhook,
    "jsonl": jsonl,
    "parquet": parquet,
    "feed": feed,
}


@dataclass
class Contract:
    """An archive, one sink of a kind, and a worker as the role has it."""

    shelf: Shelf
    far_side: FarSide
    worker: SinkWorker
    sink_id: UUID
    edits: int = field(default=0)

    @property
    def database(self) -> Database:
        return self.shelf.database

    async def change(self, random: Random, times: int) -> None:
        for _ in range(times):
            self.edits += 1
            url = f"https://site{random.randrange(3)}.example/{random.randrange(8)}"
            if random.random() < 0.25:
                await self.shelf.tombstone(url)
            else:
                await self.shelf.keep(url, f"edit {self.edits} of it " * 30, title=f"Edit {self.edits}")

    async def deliver(self) -> None:
        await move_changes(self.database)
        await self.database.execute("UPDATE sinks SET retry_at = '-infinity', leased_until = '-infinity'")
        await self.worker.run(self.sink_id)

    async def assert_equal(self) -> None:
        rows = await self.database.fetch(
            "SELECT url_hash, title FROM documents WHERE deleted_at IS NULL AND duplicate_of IS NULL"
        )
        assert await self.far_side.held() == {row["url_hash"].hex(): row["title"] for row in rows}
        [sink] = await store.list_sinks(self.database)
        assert (sink.behind, sink.parked, sink.backfill_reason, sink.last_error) == (0, 0, None, None)


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.redis] * (name == "redis")) for name in KINDS])
async def contract(
    request: pytest.FixtureRequest, shelf: Shelf, delivering: Delivering, tmp_path: Path
) -> AsyncIterator[Contract]:
    await delivering.source()
    clock, random, log = SystemClock(), Random(1), make_logger("error", "json")
    folder = tmp_path / "sink"
    folder.mkdir()
    async with (
        KINDS[request.param](folder) as far_side,
        Transport(Identity("Tester/1"), OperatorGuard(), clock) as transport,
    ):
        secrets = {"env:HOOK": SECRET}

        def context(name: str) -> SinkContext:
            client = lambda address: SinkClient(transport, address)  # noqa: E731
            return SinkContext(name, clock, random, log, tmp_path, secrets.__getitem__, client)

        worker = SinkWorker(shelf.database, clock, random, log, "tester", context, lease_time=timedelta(seconds=60))
        async with shelf.database.transaction() as connection:
            sink_id = await store.add_sink_row(connection, "contract", request.param, far_side.options, None)
        yield Contract(shelf, far_side, worker, sink_id)


async def test_records_come_change_and_go(contract: Contract) -> None:
    await contract.shelf.keep("https://a.example/1", "one " * 60, title="One")
    await contract.deliver()
    await contract.assert_equal()
    await contract.shelf.keep("https://a.example/1", "two " * 60, title="Two")
    await contract.shelf.keep("https://a.example/2", "three " * 60, title="Three")
    await contract.deliver()
    await contract.assert_equal()
    await contract.shelf.tombstone("https://a.example/1")
    await contract.deliver()
    await contract.assert_equal()


async def test_a_backfill_brings_what_was_there_before_while_records_change(contract: Contract) -> None:
    random = Random(2)
    await contract.change(random, 20)
    await move_changes(contract.database)
    await contract.database.execute("UPDATE sinks SET position = (SELECT position FROM change_counter)")
    await store.ask_backfill(contract.database, contract.sink_id, "it is new")
    changing = asyncio.create_task(contract.change(random, 15))
    await contract.deliver()
    await changing
    await contract.deliver()
    await contract.assert_equal()


async def test_a_batch_that_was_sent_and_not_settled_is_sent_again(contract: Contract) -> None:
    """As after kill -9 between the sink's answer and ours to the database."""
    random = Random(3)
    await contract.change(random, 10)
    await contract.deliver()
    before = await contract.database.fetchrow("SELECT position FROM sinks")
    assert before
    await contract.change(random, 10)
    await contract.deliver()
    # What was settled is forgotten: the sink has it, and nobody knows.
    await contract.database.execute("UPDATE sinks SET position = $1, is_handed_over = false", before["position"])
    await contract.database.execute("UPDATE delivered SET version = 0")
    await contract.change(random, 10)
    await contract.deliver()
    await contract.assert_equal()


async def test_a_sink_that_was_down_for_long_comes_up_with_the_archive(contract: Contract) -> None:
    random = Random(4)
    contract.far_side.fails(True)
    for _ in range(4):
        await contract.change(random, 6)
        await contract.deliver()
    contract.far_side.fails(False)
    await contract.deliver()
    await contract.assert_equal()


async def test_a_store_that_comes_back_empty_is_filled_anew(contract: Contract) -> None:
    if contract.far_side.empties is None:
        pytest.skip("a stream: its reader keeps what it read")
    random = Random(5)
    await contract.change(random, 12)
    await contract.deliver()
    await contract.assert_equal()
    contract.far_side.empties()
    await contract.database.execute("UPDATE sinks SET looked_at = looked_at - $1::interval", store.CHECK_EVERY)
    await contract.deliver()
    await contract.assert_equal()
    # One time, and not again with each look.
    sent = await contract.database.fetchval("SELECT sent FROM sinks")
    await contract.deliver()
    assert await contract.database.fetchval("SELECT sent FROM sinks") == sent


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_happens_in_between(contract: Contract, seed: int) -> None:
    random = Random(seed)
    for _ in range(8):
        contract.far_side.fails(random.random() < 0.3)
        await contract.change(random, random.randrange(6))
        if random.random() < 0.2:
            await store.ask_backfill(contract.database, contract.sink_id, "a person asks")
        await contract.deliver()
    contract.far_side.fails(False)
    await contract.deliver()
    await contract.assert_equal()
