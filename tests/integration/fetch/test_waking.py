"""Workers with nothing to do are woken by a submit, wherever it comes from."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
from tests.faults.world import Workbench, hosts, workbench
from tests.integration.frontier.surgery import until

from headwater.database.pool import Database
from headwater.frontier.wake import CHANNEL

SLEEPS = "insert into sleepers (owner, until) values ('worker', now() + interval '1 hour')"
ASLEEP = "select exists (select 1 from sleepers where until > now() + interval '1 minute')"


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Workbench]:
    async with workbench(database, hosts(3)) as ready:
        yield ready


@asynccontextmanager
async def notices(dsn: str) -> AsyncIterator[list[float]]:
    """The moment of each."""
    heard: list[float] = []
    connection = await asyncpg.connect(dsn)
    try:
        await connection.add_listener(CHANNEL, lambda *_: heard.append(asyncio.get_running_loop().time()))
        yield heard
    finally:
        await connection.close()


@pytest.mark.long
async def test_a_sleeping_worker_fetches_at_once(bench: Workbench, database_url: str) -> None:
    """It would sleep for ten minutes."""
    async with bench.worker(database_url, fetch__claim_retry_delay="600s"):
        await until(lambda: bench.database.fetchval(ASLEEP))
        await bench.queue("http://host0.test/page")
        await bench.until_settled()
        assert bench.asked() == ["http://host0.test/page"]
        await until(lambda: bench.database.fetchval(ASLEEP))
        await bench.queue("http://host1.test/page")
        await bench.until_settled()
    assert len(bench.asked()) == 2


async def test_nobody_is_told_while_nobody_sleeps(bench: Workbench, database_url: str) -> None:
    async with notices(database_url) as heard:
        await bench.queue("http://host0.test/one")
        await bench.database.execute(SLEEPS)
        await bench.queue("http://host0.test/two")
        await until(lambda: _true_of(heard))
    assert len(heard) == 1


async def test_what_is_known_already_wakes_nobody(bench: Workbench, database_url: str) -> None:
    await bench.queue("http://host0.test/one")
    await bench.database.execute(SLEEPS)
    async with notices(database_url) as heard:
        await bench.queue("http://host0.test/one")
        await bench.queue("http://host0.test/two")
        await until(lambda: _true_of(heard))
    assert len(heard) == 1


async def test_many_submits_are_few_notices_and_the_last_is_heard(bench: Workbench, database_url: str) -> None:
    await bench.database.execute(SLEEPS)
    async with notices(database_url) as heard:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(60):
            await bench.queue(f"http://host0.test/{number}")
        ended = loop.time()
        await until(lambda: _true_of(heard and heard[-1] >= ended))
        assert len(heard) <= 2 + (heard[-1] - began) / 0.1


async def test_a_submit_that_is_taken_back_wakes_nobody(bench: Workbench, database_url: str) -> None:
    await bench.database.execute(SLEEPS)
    async with notices(database_url) as heard:
        with pytest.raises(ZeroDivisionError):
            await take_back(bench.database)
        await bench.queue("http://host0.test/one")
        await until(lambda: _true_of(heard))
    assert len(heard) == 1


async def take_back(database: Database) -> None:
    async with database.transaction() as connection:
        connection.after_commit(f"select pg_notify('{CHANNEL}', '')")
        raise ZeroDivisionError


async def _true_of(heard: object) -> bool:
    return bool(heard)
