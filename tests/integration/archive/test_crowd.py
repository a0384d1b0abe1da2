"""Many workers at once: nobody waits in a circle, and what is always true stays true."""

import asyncio
from typing import Any

import pytest
from tests.integration.archive.shelf import Shelf, broken, key_of, page

from headwater.archive.documents import Stored, keep_document, tombstone
from headwater.chance import Random, random_from
from headwater.database.pool import Database

WORKERS, ROUNDS = 8, 40
URLS = [f"https://h{n}.example/" for n in range(6)]
SOMEBODY_WAITS = """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())"""
TEXTS = [" ".join(f"{letter}{n}" for n in range(60)) for letter in "abc"]


async def test_of_copies_stored_at_once_one_is_the_original(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        await asyncio.gather(*(store(shelf, url, TEXTS[0]) for url in URLS))
        duplicates = await database.fetchval("SELECT count(*) FROM documents WHERE duplicate_of IS NOT NULL")
        assert duplicates == len(URLS) - 1
        assert await broken(database) == []


async def test_one_page_stored_by_many_at_once_is_stored_once(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        kept = await asyncio.gather(*(store(shelf, URLS[0], TEXTS[0]) for _ in range(WORKERS)))
        assert sum(isinstance(one, Stored) for one in kept) == 1
        assert len(await shelf.told()) == 1


@pytest.mark.long
async def test_a_crowd_changing_copies_and_originals_never_deadlocks(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        # A deadlock would be refused by PostgreSQL, and that would be raised here.
        await asyncio.gather(*(wander(shelf, random_from(number)) for number in range(WORKERS)))
        assert await broken(database) == []
        assert len(await shelf.told()) > WORKERS


@pytest.mark.long
async def test_a_crowd_of_pages_that_call_each_other_canonical_never_deadlocks(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        await asyncio.gather(*(claim_and_fall_silent(shelf, random_from(number)) for number in range(WORKERS)))
        assert await broken(database) == []
        assert len(await shelf.told()) > WORKERS


async def test_a_page_and_its_form_stored_at_once_know_of_each_other(database_url: str) -> None:
    amp, story = "https://amp.a.example/1", "https://a.example/1"
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        async with database.transaction() as connection:
            await keep_document(connection, page(amp, TEXTS[0], claims=story, simhash=1), shelf.now)
            storing = asyncio.create_task(store(shelf, story, TEXTS[1], simhash=3))
            async with asyncio.timeout(300):
                while not await database.fetchval(SOMEBODY_WAITS):
                    await asyncio.sleep(0.01)
        await storing
        assert (await shelf.row(amp))["duplicate_of"] == key_of(story).url_hash
        assert await broken(database) == []


async def store(shelf: Shelf, url: str, text: str, **fields: Any) -> object:
    async with shelf.database.transaction() as connection:
        return await keep_document(connection, page(url, text, **fields), shelf.now)


async def claim_and_fall_silent(shelf: Shelf, random: Random) -> None:
    """The first two texts are nearly the same."""
    for _ in range(ROUNDS):
        shelf.wait(1)
        url, text = random.choice(URLS), random.choice(TEXTS)
        if random.random() < 0.2:
            await shelf.database.execute("SELECT withdraw_page($1, $2, 'gone', $3)", *key_of(url), shelf.now)
        else:
            claimed = random.choice([other for other in URLS if other != url])
            claims = claimed if random.random() < 0.5 else None
            await store(shelf, url, text, claims=claims, simhash=(1, 3, 2**60 - 1)[TEXTS.index(text)])


async def wander(shelf: Shelf, random: Random) -> None:
    for _ in range(ROUNDS):
        shelf.wait(1)
        url = random.choice(URLS)
        if random.random() < 0.2:
            async with shelf.database.transaction() as connection:
                await tombstone(connection, *key_of(url), "gone", shelf.now)
        else:
            await store(shelf, url, random.choice(TEXTS))
