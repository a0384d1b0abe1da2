"""Channels that two people add at once, and how a source is found again."""

import asyncio
from uuid import UUID

import pytest

from headwater.database.pool import Database
from headwater.errors import NotFound
from headwater.sources.finding import find_source, ids_beginning_with
from headwater.sources.kinds import ChannelKind
from headwater.sources.store import NewChannel, add_channel, channels_of, create_source
from headwater.urls.canonical import canonicalise

FEED = NewChannel(ChannelKind.FEED, canonicalise("http://feeds.test/all.xml"))
WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


async def source_at(database: Database, url: str, name: str) -> UUID:
    async with database.transaction() as connection:
        return await create_source(connection, name, url)


async def add_feed(database: Database, source: UUID) -> UUID | None:
    async with database.transaction() as connection:
        added = await add_channel(connection, source, FEED)
        # Whatever happened, the transaction it happened in goes on.
        assert await connection.fetchval("select 1") == 1
        return added


async def until_somebody_waits(database: Database) -> None:
    async with asyncio.timeout(300):
        while not await database.fetchval(WAITING):
            await asyncio.sleep(0)


@pytest.mark.parametrize("is_same_source", [True, False])
async def test_a_feed_that_two_add_at_once_is_followed_by_the_first(database: Database, is_same_source: bool) -> None:
    first = await source_at(database, "http://a.test/", "A")
    second = first if is_same_source else await source_at(database, "http://b.test/", "B")
    async with database.transaction() as connection:
        added = await add_channel(connection, first, FEED)
        late = asyncio.create_task(add_feed(database, second))
        await until_somebody_waits(database)
    assert await late == (added if is_same_source else None)
    [channel] = (await channels_of(database, [first]))[first]
    assert channel.is_enabled


async def test_a_source_is_found_by_its_own_host_wherever_its_feed_is(database: Database) -> None:
    source = await source_at(database, "http://Harbour.test:8080/news", "Harbour News")
    await add_feed(database, source)
    assert (await find_source(database, "harbour.TEST")).id == source
    assert (await find_source(database, "feeds.test")).id == source
    with pytest.raises(NotFound):
        await find_source(database, "arbour.test")


async def test_a_source_at_a_host_is_meant_before_one_that_only_has_a_feed_there(database: Database) -> None:
    await add_feed(database, await source_at(database, "http://a.test/", "A"))
    own = await source_at(database, "http://feeds.test/company", "The feed company")
    assert (await find_source(database, "feeds.test")).id == own


async def test_a_source_is_found_by_the_beginning_of_its_id_or_of_its_name(database: Database) -> None:
    source = await source_at(database, "http://a.test/", "Harbour_News")
    await source_at(database, "http://b.test/", "Harbour News")
    for beginning in (str(source)[:7], str(source)[:14].upper(), str(source), "harbour_n"):
        assert (await find_source(database, beginning)).id == source
    for nothing in ("harbour%", str(source)[:8] + str(source)[9:], "zzzz-"):
        with pytest.raises(NotFound):
            await find_source(database, nothing)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("ab12", "ab120000-0000-0000-0000-000000000000", "ab12ffff-ffff-ffff-ffff-ffffffffffff"),
        ("AB12cd34-5", "ab12cd34-5000-0000-0000-000000000000", "ab12cd34-5fff-ffff-ffff-ffffffffffff"),
        ("ab12cd34-", "ab12cd34-0000-0000-0000-000000000000", "ab12cd34-ffff-ffff-ffff-ffffffffffff"),
    ],
)
def test_the_beginning_of_an_id_stands_for_a_range(text: str, first: str, last: str) -> None:
    assert ids_beginning_with(text) == (UUID(first), UUID(last))


@pytest.mark.parametrize("text", ["ab1", "ab12cd345", "news", "ab12cd34-56789", "", "ab12cd34--"])
def test_what_begins_no_id_stands_for_none(text: str) -> None:
    assert ids_beginning_with(text) == (None, None)


async def test_what_is_being_polled_says_since_when(database: Database) -> None:
    source = await source_at(database, "http://a.test/", "A")
    await add_feed(database, source)
    before = await database.fetchval("select clock_timestamp()")
    assert await database.fetchval("select id from claim_channels('poller', 1, interval '1 minute')")
    lock = await database.fetchrow("select * from crawl_locks")
    assert lock is not None
    assert (lock["source_id"], lock["leased_by"]) == (source, "poller")
    assert before <= lock["locked_at"] < lock["lease_until"]
