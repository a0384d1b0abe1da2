"""Totals of sources and channels equal a recount, whoever changes what at the same time."""

import asyncio
from random import Random
from uuid import UUID

from headwater.database.pool import Database
from headwater.discover.adding import change_status
from headwater.reports.discovery import DiscoverySummary, summary
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import SourceStatus
from headwater.sources.store import NewChannel, add_channel, create_source, fold_totals
from headwater.urls.canonical import canonicalise

RECOUNT = "SELECT status, count(*) FROM source_profiles GROUP BY 1 ORDER BY 1"
ACTIVE = "SELECT count(*) FROM channels WHERE is_active"
ADD_MANY = """
    INSERT INTO sources (name, url, url_hash)
    SELECT 'Bulk ' || n, u.url, sha256(u.url::bytea)
    FROM generate_series(1, $1::integer) AS n CROSS JOIN LATERAL (SELECT 'https://bulk.test/' || n AS url) AS u
"""


async def follow(database: Database, number: int) -> UUID:
    async with database.transaction() as connection:
        source = await create_source(connection, f"Paper {number}", f"https://paper-{number}.test/")
        await add_channel(
            connection, source, NewChannel(ChannelKind.FEED, canonicalise(f"https://paper-{number}.test/feed"))
        )
        return source


async def is_equal_to_a_recount(database: Database) -> DiscoverySummary:
    found = await summary(database)
    assert found.sources == {row[0]: row[1] for row in await database.fetch(RECOUNT)}
    assert found.channels == await database.fetchval(ACTIVE)
    return found


async def test_totals_follow_what_is_added_paused_deleted_and_removed(database: Database) -> None:
    first, second, third = [await follow(database, number) for number in range(3)]
    found = await is_equal_to_a_recount(database)
    assert (found.sources, found.channels) == ({"active": 3}, 3)
    await change_status(database, first, SourceStatus.PAUSED, "a person", "tester")
    await change_status(database, second, SourceStatus.DELETED, "a person", "tester")
    found = await is_equal_to_a_recount(database)
    assert (found.sources, found.channels) == ({"active": 1, "deleted": 1, "paused": 1}, 1)
    await fold_totals(database)
    await is_equal_to_a_recount(database)
    await change_status(database, first, SourceStatus.ACTIVE, "", "tester")
    await database.execute("DELETE FROM channels WHERE source_id = $1", third)
    found = await is_equal_to_a_recount(database)
    assert (found.sources, found.channels) == ({"active": 2, "deleted": 1}, 1)


async def test_a_large_import_is_one_delta(database: Database) -> None:
    await database.execute(ADD_MANY, 5_000)
    assert await database.fetchval("SELECT count(*) FROM source_total_deltas") == 1
    assert (await is_equal_to_a_recount(database)).sources["active"] == 5_000


async def test_many_who_change_at_once_and_folds_between_lose_nothing(database: Database) -> None:
    sources = [await follow(database, number) for number in range(8)]

    async def change(seed: int) -> None:
        random = Random(seed)
        for _ in range(10):
            status = random.choice([SourceStatus.ACTIVE, SourceStatus.PAUSED])
            await change_status(database, random.choice(sources), status, "a person", "tester")
            await fold_totals(database)

    await asyncio.gather(*(change(seed) for seed in range(4)))
    await is_equal_to_a_recount(database)
    await fold_totals(database)
    await is_equal_to_a_recount(database)
    assert await database.fetchval("SELECT count(*) FROM source_total_deltas") == 0
