"""Delivery under faults: processes killed at every word, two on one sink, a sink that is away, slow or forgetful."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import asyncpg
import orjson
import pytest
from aiohttp import web
from tests.faults.standing import until
from tests.integration.archive.shelf import LONG, Shelf
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.deliver.test_elasticsearch_faults import StandIn

from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.database.postmaster import running_pid
from headwater.deliver import store
from headwater.errors import DatabaseDown, QueryFailed

pytestmark = pytest.mark.long

PAGES = 14
# Words with the database and the sink that a life without trouble speaks, about.
MOST_WORDS = 160


@dataclass
class Lives:
    process: asyncio.subprocess.Process
    database_url: str
    number: int = field(default=0)

    async def live(self, dies_at: int | None) -> int:
        self.number += 1
        # A lease of its own is not waited for: the one before is known to be dead.
        flags = {"database.url": self.database_url, "log.level": "error", "lease.duration": "6s"}
        task = {"flags": flags, "owner": f"life-{self.number}", "dies_at": dies_at}
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(orjson.dumps(task) + b"\n")
        # Only so that a hang ends: on a busy machine a life of many words takes minutes.
        async with asyncio.timeout(600):
            return int(await self.process.stdout.readline())


@asynccontextmanager
async def lives(database_url: str) -> AsyncIterator[Lives]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.faults.deliverer", stdin=pipe, stdout=pipe
    )
    assert process.stdin
    try:
        yield Lives(process, database_url)
    finally:
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def serving(stand_in: StandIn) -> AsyncIterator[str]:
    app = web.Application(client_max_size=100_000_000)
    app.router.add_route("*", "/{path:.*}", stand_in.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@dataclass
class Scene:
    """An archive that changes, a stand-in of a search server, and lives of the role that deliver to it."""

    shelf: Shelf
    stand_in: StandIn
    random: Random
    edits: int = 0

    @property
    def database(self) -> Database:
        return self.shelf.database

    async def change(self, times: int) -> None:
        for _ in range(times):
            self.edits += 1
            url = f"https://site{self.random.randrange(4)}.example/{self.random.randrange(PAGES)}"
            if self.random.random() < 0.25:
                await self.shelf.tombstone(url)
            else:
                text = LONG if self.random.random() < 0.2 else f"edit {self.edits} of it " * 30
                await self.shelf.keep(url, text, title=f"Edit {self.edits}")

    async def is_under_way(self) -> bool:
        return bool(self.stand_in.bulk_sizes)

    async def bury(self) -> None:
        """The process that held a lease is known to be dead."""
        await self.database.execute("UPDATE sinks SET leased_until = '-infinity', retry_at = '-infinity'")

    async def assert_sink_equals_archive(self) -> None:
        rows = await self.database.fetch(
            "SELECT url_hash, title FROM documents WHERE deleted_at IS NULL AND duplicate_of IS NULL"
        )
        held = {key[1]: one[1]["title"] for key, one in self.stand_in.documents.items() if one[1] is not None}
        assert held == {row["url_hash"].hex(): row["title"] for row in rows}
        noted = await self.database.fetch("SELECT hash FROM delivered")
        assert {row["hash"].hex() for row in noted} == set(held)


@asynccontextmanager
async def scene(database: Database, seed: int, **options: Any) -> AsyncIterator[tuple[Scene, Delivering]]:
    stand_in = StandIn()
    delivering = Delivering(database)
    await delivering.source()
    async with serving(stand_in) as address:
        async with database.transaction() as connection:
            await store.add_sink_row(connection, "search", "elasticsearch", {"url": address, **options}, None)
        yield Scene(Shelf(database), stand_in, Random(seed)), delivering


@pytest.mark.parametrize("seed", range(20))
async def test_killed_at_any_word_it_loses_nothing_and_takes_nothing_back(
    seed: int, database: Database, database_url: str
) -> None:
    print(f"seed {seed}")
    async with scene(database, seed) as (stage, _), lives(database_url) as life:
        await stage.change(20)
        if seed % 3 == 0:
            [sink] = await store.list_sinks(database)
            await store.ask_backfill(database, sink.id, "a test asks")
        deaths = 0
        for _ in range(3):
            changing = asyncio.create_task(stage.change(8))
            deaths += await life.live(stage.random.randrange(1, MOST_WORDS)) != 0
            await changing
            await stage.bury()
        assert await life.live(None) == 0
        await stage.assert_sink_equals_archive()
        assert deaths or seed


@pytest.mark.parametrize("seed", range(3))
async def test_two_processes_on_one_sink_while_one_of_them_is_killed(
    seed: int, database: Database, database_url: str
) -> None:
    async with scene(database, seed) as (stage, _), lives(database_url) as one, lives(database_url) as other:
        await stage.change(30)
        for _ in range(2):
            deaths = [stage.random.randrange(1, MOST_WORDS), None]
            both = asyncio.gather(one.live(deaths[0]), other.live(deaths[1]))
            await stage.change(10)
            # The survivor takes over when the lease of the dead one has run out.
            await both
        assert await one.live(None) == 0
        await stage.assert_sink_equals_archive()


def failing(stand_in: StandIn, random: Random) -> Callable[[list[Any]], web.Response | None]:
    """Whole requests fail, single items are refused, answers are lost: until a number of requests has come."""

    def trouble(_: list[Any]) -> web.Response | None:
        is_bad = len(stand_in.bulk_sizes) < 12
        stand_in.is_cut_after_applying = is_bad and random.random() < 0.3
        stand_in.item_trouble = (
            (lambda _: (429, "es_rejected_execution_exception") if random.random() < 0.2 else None)
            if is_bad
            else (lambda _: None)
        )
        if is_bad and random.random() < 0.4:
            return web.json_response(
                {"error": {"type": "x", "reason": "y"}}, status=random.choice([429, 500, 503, 404])
            )
        return None

    return trouble


@pytest.mark.parametrize("seed", range(4))
async def test_a_sink_in_every_kind_of_trouble_is_equal_to_the_archive_afterwards(
    seed: int, database: Database, database_url: str
) -> None:
    async with scene(database, seed) as (stage, _), lives(database_url) as life:
        stage.stand_in.trouble = failing(stage.stand_in, stage.random)
        await stage.change(30)
        living = asyncio.create_task(life.live(None))
        while not living.done():
            await stage.change(2)
            # An hour of waiting passes at once.
            await database.execute("UPDATE sinks SET retry_at = '-infinity'")
            await database.execute("UPDATE delivery_failures SET next_try_at = now(), attempts = 0")
            await asyncio.sleep(0.1)
            if stage.edits > 150:
                await living
        assert living.result() == 0
        assert await life.live(None) == 0
        await stage.assert_sink_equals_archive()


CUT = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'headwater%'
"""


async def test_sessions_that_are_cut_as_by_a_restart_of_the_database_lose_nothing(
    database: Database, database_url: str
) -> None:
    async with scene(database, 2) as (stage, _), lives(database_url) as life:
        # Slow enough for the work to last until it is cut.
        stage.stand_in.delay = 0.1
        await stage.change(40)
        living, cuts = asyncio.create_task(life.live(None)), 0
        # A process that finds no database when it starts ends, and its supervisor starts it again.
        await until(stage.is_under_way)
        own = await asyncpg.connect(database_url)
        while not living.done() and cuts < 12:
            await asyncio.sleep(0.3)
            cuts += bool(await own.fetchval(CUT))
            with suppress(DatabaseDown):
                await stage.change(4)
            with suppress(DatabaseDown):
                await stage.bury()
        await own.close()
        assert await living == 0
        assert cuts
        await stage.bury()
        assert await life.live(None) == 0
        await stage.assert_sink_equals_archive()


async def test_a_server_that_is_restarted_under_it_loses_nothing(open_folder: Path) -> None:
    server = EmbeddedServer(open_folder / "postgresql", settings={"fsync": "off", "shared_buffers": "16MB"})
    async with server as dsn, await Database.connect(dsn) as database:
        await migrate(database)
        async with scene(database, 3) as (stage, _), lives(dsn) as life:
            stage.stand_in.delay = 0.05
            await stage.change(60)
            living = asyncio.create_task(life.live(None))
            await until(stage.is_under_way)
            for how in (signal.SIGINT, signal.SIGKILL, signal.SIGINT):
                pid = running_pid(server.directory / "data")
                assert pid
                os.kill(pid, how)
                while running_pid(server.directory / "data") == pid:
                    await asyncio.sleep(0.02)
                await server.start()
                # Sessions of the pool are made anew as they are found dead.
                await until(partial(changed, stage))
                await asyncio.sleep(0.5)
            assert await living == 0
            await stage.bury()
            assert await life.live(None) == 0
            await stage.assert_sink_equals_archive()


async def changed(stage: Scene) -> bool:
    try:
        await stage.change(6)
        await stage.bury()
    except (DatabaseDown, QueryFailed):
        return False
    return True


MINUTE = "interval '1 minute'"


async def test_a_sink_that_is_away_for_an_hour_is_asked_rarely_and_comes_up_with_the_archive(
    database: Database, database_url: str
) -> None:
    """A minute passes by moving all that is waited for a minute nearer, as the clock would."""
    async with scene(database, 4) as (stage, _), lives(database_url) as life:
        stage.stand_in.trouble = lambda _: web.json_response({}, status=503)
        await stage.change(5)
        living = asyncio.create_task(life.live(None))
        for minute in range(60):
            await until(partial(is_put_off, database))
            await stage.change(2)
            await database.execute(f"UPDATE sinks SET retry_at = retry_at - {MINUTE}, looked_at = looked_at - {MINUTE}")
            if minute == 30:
                [sink] = await store.list_sinks(database)
                assert sink.failures >= 5
                assert sink.behind >= 30
        # Doubled waits up to five minutes: some at the beginning, then one in five minutes.
        assert 12 <= len(stage.stand_in.bulk_sizes) <= 30
        stage.stand_in.trouble = lambda _: None
        await database.execute(f"UPDATE sinks SET retry_at = retry_at - 6 * {MINUTE}")
        assert await living == 0
        await stage.assert_sink_equals_archive()


async def is_put_off(database: Database) -> bool:
    """Tried, and not to be tried now."""
    found: bool = await database.fetchval("SELECT failures > 0 AND retry_at > clock_timestamp() FROM sinks")
    return found


async def test_a_rebuild_while_a_thousand_documents_change(database: Database, database_url: str) -> None:
    async with scene(database, 1) as (stage, _), lives(database_url) as life:
        await stage.change(150)
        assert await life.live(None) == 0
        # As after a restore of an old snapshot: half is gone, some is from another time.
        for number, key in enumerate(list(stage.stand_in.documents)):
            if number % 2:
                del stage.stand_in.documents[key]
        [sink] = await store.list_sinks(database)
        await store.ask_backfill(database, sink.id, "a test asks")
        living = asyncio.create_task(life.live(None))
        await stage.change(1_000)
        assert await living == 0
        assert await life.live(None) == 0
        await stage.assert_sink_equals_archive()
