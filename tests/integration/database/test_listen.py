from collections.abc import AsyncIterator

import pytest

from headwater.chance import random_from
from headwater.database.listen import Listener
from headwater.database.pool import Database

CHANNELS = ("entries", "Outbox")
EVERYTHING = frozenset(CHANNELS)


@pytest.fixture
async def listener(database_url: str) -> AsyncIterator[Listener]:
    async with Listener(database_url, CHANNELS, random_from(1)) as listening:
        assert await listening.wait(60) == EVERYTHING
        yield listening


async def cut_listeners(database: Database) -> int:
    cut: int = await database.fetchval(
        "select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity"
        " where datname = current_database() and application_name = 'headwater listener'"
    )
    return cut


async def test_a_channel_wakes_by_its_name(listener: Listener, database: Database) -> None:
    await database.execute("select pg_notify('Outbox', '')")
    assert await listener.wait(60) == {"Outbox"}


async def test_notices_of_one_moment_wake_once(listener: Listener, database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("notify entries, 'a'; notify entries, 'b'")
    assert await listener.wait(60) == {"entries"}
    assert await listener.wait(0.05) == frozenset()


async def test_nothing_said_means_nothing_heard(listener: Listener) -> None:
    assert await listener.wait(0.01) == frozenset()


async def test_after_a_lost_connection_it_listens_again_and_asks_to_look_once(
    listener: Listener, database: Database
) -> None:
    assert await cut_listeners(database) == 1
    assert await listener.wait(60) == EVERYTHING
    await database.execute("notify entries")
    assert await listener.wait(60) == {"entries"}


async def test_it_waits_for_a_database_that_is_not_there_yet() -> None:
    async with Listener("postgresql://ann@127.0.0.1:1/news", CHANNELS, random_from(1)) as listening:
        assert await listening.wait(0.3) == frozenset()


async def test_it_leaves_no_connection_behind(database: Database, database_url: str) -> None:
    async with Listener(database_url, CHANNELS, random_from(1)) as listening:
        assert await listening.wait(60) == EVERYTHING
    left = "select count(*) from pg_stat_activity where application_name = 'headwater listener' and datname = $1"
    name = await database.fetchval("select current_database()")
    while await database.fetchval(left, name):
        pass
