"""Many workers at once: nobody waits in a circle, and what is always true stays true."""

import asyncio

from tests.integration.archive.shelf import Shelf, broken, key_of, page

from headwater.archive.document import Duplicate, Key, Stored
from headwater.archive.documents import keep_document, tombstone
from headwater.chance import Random, random_from
from headwater.database.pool import Database

WORKERS, ROUNDS = 8, 40
URLS = [f"https://h{n}.example/" for n in range(6)]
SPEAKERS = ["https://p.example/", "https://q.example/"]
TEXTS = [" ".join(f"{letter}{n}" for n in range(60)) for letter in "abc"]


async def test_of_copies_stored_at_once_one_is_the_original(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        kept = await asyncio.gather(*(store(shelf, url, TEXTS[0]) for url in URLS))
        assert sum(isinstance(one, Stored) for one in kept) == 1
        assert sum(isinstance(one, Duplicate) for one in kept) == len(URLS) - 1
        assert await broken(database) == []


async def test_one_page_stored_by_many_at_once_is_stored_once(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        kept = await asyncio.gather(*(store(shelf, URLS[0], TEXTS[0]) for _ in range(WORKERS)))
        assert sum(isinstance(one, Stored) for one in kept) == 1
        assert len(await shelf.told()) == 1


async def test_a_crowd_changing_copies_and_originals_never_deadlocks(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        # A deadlock would be refused by PostgreSQL, and that would be raised here.
        await asyncio.gather(*(wander(shelf, random_from(number)) for number in range(WORKERS)))
        assert await broken(database) == []
        assert len(await shelf.told()) > WORKERS


async def test_a_crowd_withdrawing_pages_that_speak_for_several_documents_never_deadlocks(database_url: str) -> None:
    async with await Database.connect(database_url, size=WORKERS) as database:
        shelf = Shelf(database)
        await asyncio.gather(*(speak_and_fall_silent(shelf, random_from(number)) for number in range(WORKERS)))
        assert await broken(database) == []
        assert len(await shelf.told()) > WORKERS


async def store(shelf: Shelf, url: str, text: str, read_from: Key | None = None) -> object:
    async with shelf.database.transaction() as connection:
        return await keep_document(connection, page(url, text, page=read_from), shelf.now)


async def speak_and_fall_silent(shelf: Shelf, random: Random) -> None:
    for _ in range(ROUNDS):
        shelf.wait(1)
        speaker = key_of(random.choice(SPEAKERS))
        if random.random() < 0.3:
            await shelf.database.execute("SELECT withdraw_page($1, $2, 'gone', $3)", *speaker, shelf.now)
        else:
            await store(shelf, random.choice(URLS), random.choice(TEXTS), speaker)


async def wander(shelf: Shelf, random: Random) -> None:
    for _ in range(ROUNDS):
        shelf.wait(1)
        url = random.choice(URLS)
        if random.random() < 0.2:
            async with shelf.database.transaction() as connection:
                await tombstone(connection, *key_of(url), "gone", shelf.now)
        else:
            await store(shelf, url, random.choice(TEXTS))
