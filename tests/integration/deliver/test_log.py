"""The log: positions in the order in which changes could be seen, whatever numbers they took before."""

import asyncio
from random import Random

import pytest
from tests.integration.archive.shelf import Shelf, page

from headwater.archive.documents import keep_document
from headwater.database.pool import Database
from headwater.deliver.log import log_state, move_changes, note_oldest, read_log

INSERT = "INSERT INTO outbox (kind, bucket, hash, version, op, at) VALUES ('document', 1, $1, $2, 'upsert', now())"


async def positions(database: Database) -> list[tuple[int, bytes, int]]:
    rows = await database.fetch("SELECT position, hash, version FROM changes ORDER BY position")
    return [tuple(row) for row in rows]


async def test_what_was_committed_later_stands_later_though_its_number_is_smaller(database: Database) -> None:
    async with database.transaction() as slow:
        await slow.execute(INSERT, b"a" * 32, 1)
        await database.execute(INSERT, b"b" * 32, 1)
        assert await move_changes(database) == 1
        assert [hash_ for _, hash_, _ in await positions(database)] == [b"b" * 32]
    assert await move_changes(database) == 1
    assert await positions(database) == [(1, b"b" * 32, 1), (2, b"a" * 32, 1)]


async def test_of_several_versions_of_a_key_the_last_one_is_moved(database: Database) -> None:
    for version, letter in ((1, b"a"), (1, b"b"), (2, b"a"), (3, b"a")):
        await database.execute(INSERT, letter * 32, version)
    assert await move_changes(database) == 4
    assert await positions(database) == [(1, b"b" * 32, 1), (2, b"a" * 32, 3)]
    assert await database.fetchval("SELECT count(*) FROM outbox") == 0


async def test_a_document_is_in_the_log_with_the_time_of_its_change(shelf: Shelf, database: Database) -> None:
    await shelf.keep("https://a.example/1")
    await move_changes(database)
    state = await log_state(database)
    [entry] = await read_log(database, 0, state.position, 10)
    assert (entry.position, entry.version, entry.op, entry.changed_at) == (1, 1, "upsert", shelf.now)
    assert state.position == 1


@pytest.mark.long
async def test_no_reader_sees_a_position_come_late_or_a_version_go_back(database: Database) -> None:
    """Writers of one set of keys, movers and a reader at once; every transaction waits a little before it commits."""
    random, written = Random(7), asyncio.Event()
    versions = dict.fromkeys(range(8), 0)

    async def write(number: int) -> None:
        chance = Random(number)
        for _ in range(40):
            key = chance.randrange(8)
            async with database.transaction() as connection:
                # As a document's row is: locked before the outbox takes a number.
                await connection.execute("SELECT pg_advisory_xact_lock($1)", key)
                versions[key] += 1
                await connection.execute(INSERT, bytes([key]) * 32, versions[key])
                await asyncio.sleep(chance.random() * 0.01)

    async def move() -> None:
        while not written.is_set():
            await move_changes(database)
            await asyncio.sleep(random.random() * 0.005)
        await move_changes(database)

    seen: list[tuple[int, bytes, int]] = []

    async def read() -> None:
        after = 0
        while not (written.is_set() and after == (await log_state(database)).position and moved.done()):
            state = await log_state(database)
            entries = await read_log(database, after, state.position, 1_000)
            seen.extend((entry.position, entry.key.hash, entry.version) for entry in entries)
            after = state.position
            await asyncio.sleep(0.001)

    moved = asyncio.gather(move(), move())
    reader = asyncio.create_task(read())
    await asyncio.gather(*(write(number) for number in range(5)))
    written.set()
    await moved
    await reader
    assert seen == await positions(database)
    assert [position for position, _, _ in seen] == list(range(1, len(seen) + 1))
    last: dict[bytes, int] = {}
    for _, hash_, version in seen:
        assert version > last.get(hash_, 0)
        last[hash_] = version
    assert last == {bytes([key]) * 32: version for key, version in versions.items() if version}


async def test_times_of_the_log_never_go_back(database: Database) -> None:
    await database.execute("UPDATE change_counter SET moved_at = now() + interval '1 hour'")
    await database.execute(INSERT, b"a" * 32, 1)
    await move_changes(database)
    assert await database.fetchval("SELECT min(at) > now() + interval '59 minutes' FROM changes")


async def test_a_dropped_day_is_known_to_readers(database: Database) -> None:
    for letter in (b"a", b"b", b"c"):
        await database.execute(INSERT, letter * 32, 1)
    await move_changes(database)
    await database.execute("DELETE FROM changes WHERE position < 3")
    await note_oldest(database)
    state = await log_state(database)
    assert (state.oldest, state.has_lost(1), state.has_lost(2)) == (3, True, False)
    await database.execute("DELETE FROM changes")
    await note_oldest(database)
    assert (await log_state(database)).oldest == 4


async def test_two_documents_in_two_transactions_are_two_changes(shelf: Shelf, database: Database) -> None:
    async with database.transaction() as first, database.transaction() as second:
        await keep_document(first, page("https://a.example/1", "one " * 60), shelf.now)
        await keep_document(second, page("https://b.example/1", "two " * 60), shelf.now)
    await move_changes(database)
    assert len(await positions(database)) == 2
