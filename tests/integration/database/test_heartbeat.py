"""A connection beside the pool, by which the database knows that an owner of leases lives."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from tests.integration.frontier.surgery import until

from headwater.database.heartbeat import Heartbeat
from headwater.database.pool import Database, PoolLimits
from headwater.errors import DatabaseDown

HEART = (
    "select pid from pg_stat_activity where application_name = 'headwater heartbeat' and datname = current_database()"
)


@pytest.fixture
async def crowded(database_url: str) -> AsyncIterator[Database]:
    """A pool of one, which others use."""
    async with await Database.connect(database_url, size=1, limits=PoolLimits(acquire=0.2)) as pool:
        yield pool


async def lives(database: Database, owner: str = "ann") -> bool:
    found: bool = await database.fetchval("select is_owner_alive($1, interval '1 minute')", owner)
    return found


async def is_dead(database: Database) -> bool:
    return not await lives(database)


async def test_an_owner_lives_while_its_heart_has_a_connection(database: Database) -> None:
    assert not await lives(database)
    async with Heartbeat(database, "ann", 30):
        assert await lives(database)
        assert not await lives(database, "bob")
    await until(lambda: is_dead(database))


async def test_a_heart_needs_nothing_of_a_pool_that_is_in_use(crowded: Database) -> None:
    async with Heartbeat(crowded, "ann", 30) as heart, crowded.transaction():
        with pytest.raises(DatabaseDown):
            await crowded.fetchval("select 1")
        assert await heart.fetchval("select 1") == 1


async def test_a_heart_whose_connection_was_ended_beats_again_and_lives(database: Database) -> None:
    async with Heartbeat(database, "ann", 30) as heart:
        await database.execute(f"select pg_terminate_backend(pid) from ({HEART}) as heart")
        await until(lambda: is_dead(database))
        for _ in range(2):
            try:
                assert await heart.fetchval("select 1") == 1
            except DatabaseDown:
                continue
        assert await lives(database)


async def test_a_heart_that_hangs_is_given_up_and_the_next_beat_has_a_connection(database: Database) -> None:
    async with Heartbeat(database, "ann", 0.3) as heart:
        with pytest.raises(DatabaseDown):
            await heart.fetchval("select pg_sleep(30)")
        assert await heart.fetchval("select 1") == 1
        assert await lives(database)


async def test_while_no_connection_can_be_had_the_pool_stands_in(database: Database, database_url: str) -> None:
    role = f"few_{await database.fetchval('select current_database()')}"
    await database.execute(f"create role {role} login connection limit 1")
    try:
        address = database_url.replace("postgresql://headwater@", f"postgresql://{role}@")
        async with await Database.connect(address, size=1) as only, Heartbeat(only, "ann", 30) as heart:
            assert await heart.fetchval("select 1") == 1
            assert not await lives(database)
    finally:
        await database.execute(f"drop role {role}")


async def test_beats_of_two_workers_do_not_meet(database: Database) -> None:
    async with Heartbeat(database, "ann", 30) as heart:
        beats = [heart.fetchval("select $1::int from pg_sleep(0.01)", number) for number in range(5)]
        assert await asyncio.gather(*beats) == [0, 1, 2, 3, 4]


async def test_behind_a_pooler_nobody_is_known_to_live(database_url: str, database: Database) -> None:
    async with (
        await Database.connect(database_url, size=1, pooler=True) as pooled,
        Heartbeat(pooled, "ann", 30) as heart,
    ):
        assert await heart.fetchval("select 1") == 1
        assert not await lives(database)
        connection = await asyncpg.connect(database_url)
        assert await connection.fetch(HEART) == []
        await connection.close()
