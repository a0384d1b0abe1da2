"""The log of changes, pulled by programs: every position once, waited for by one connection for all."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.integration.archive.shelf import LONG, OTHER, Shelf, key_of
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.serve.callers import ApiCaller, api_on

from headwater.database.pool import Database
from headwater.deliver.log import move_changes
from headwater.serve.live import MOST_WAITING_OF_ONE

A, B = "https://a.example/1", "https://b.example/1"
LISTENING = (
    "select count(*) from pg_stat_activity where application_name like '%listener' and datname = current_database()"
)


@pytest.fixture
async def shelf(api: ApiCaller) -> Shelf:
    await Delivering(api.services.database).source()
    return Shelf(api.services.database)


@contextmanager
def waiting(api: ApiCaller, path: str, count: int) -> Iterator[list[asyncio.Task[Any]]]:
    tasks = [asyncio.create_task(api.get(path)) for _ in range(count)]
    yield tasks
    assert all(task.done() for task in tasks)


async def until_asleep(database: Database) -> None:
    while not await database.fetchval("select count(*) from sleepers where waits_for = 'log' and until > now()"):
        await asyncio.sleep(0.01)


async def test_a_reader_goes_on_where_it_stood_and_misses_nothing(api: ApiCaller, shelf: Shelf) -> None:
    await shelf.keep(A, LONG, title="One")
    await move_changes(shelf.database)
    await shelf.tombstone(A)
    await shelf.keep(B, OTHER, title="Two")
    await move_changes(shelf.database)
    first = (await api.get("changes?after=0&limit=1")).json
    assert (first["next"], first["more"], len(first["changes"])) == (1, True, 1)
    rest = (await api.get("changes?after=1&include=fields")).json
    gone, kept = rest["changes"]
    assert (rest["next"], rest["more"]) == (3, False)
    assert (gone["op"], "record" in gone) == ("remove", False)
    assert kept["record"]["title"] == "Two"
    assert "text" not in kept["record"]
    assert (await api.get("changes?after=2&include=document")).json["changes"][0]["record"]["text"] == OTHER
    assert first["changes"][0].keys() == {"position", "at", "changed_at", "op", "kind", "id", "version"}
    assert first["changes"][0]["op"] == "remove"
    assert kept["id"] == key_of(B).url_hash.hex()
    nothing = await api.get("changes?after=3")
    assert nothing.json == {"changes": [], "next": 3, "more": False}
    await api.post("views", {"name": "none", "query": "nothing"})
    viewed = (await api.get("changes?after=2&view=none&include=document")).json
    assert (viewed["changes"][0]["op"], viewed["next"], "record" in viewed["changes"][0]) == ("remove", 3, False)


async def test_readers_that_wait_are_woken_by_one_connection(api: ApiCaller, shelf: Shelf) -> None:
    with waiting(api, "changes?after=0&wait=30", 20) as tasks:
        await until_asleep(shelf.database)
        while await shelf.database.fetchval(LISTENING) == 0:
            await asyncio.sleep(0.01)
        assert await shelf.database.fetchval(LISTENING) == 1
        await shelf.keep(A)
        await move_changes(shelf.database)
        answers = [await task for task in tasks]
    assert {answer.json["next"] for answer in answers} == {1}


async def test_a_reader_that_waits_in_vain_gets_an_empty_page(api: ApiCaller, shelf: Shelf) -> None:
    assert (await api.get("changes?after=0&wait=1")).json == {"changes": [], "next": 0, "more": False}


async def test_readers_beyond_the_places_there_are_come_again_later(api: ApiCaller, shelf: Shelf) -> None:
    with waiting(api, "changes?after=0&wait=30", MOST_WAITING_OF_ONE + 20) as tasks:
        while len(refused := [task.result() for task in tasks if task.done()]) < 20:
            await asyncio.sleep(0.01)
        assert [(one.status, one.headers["retry-after"]) for one in refused] == [(429, "5")] * 20
        assert (await api.get("changes?after=0")).status == 200
        await shelf.keep(A)
        await move_changes(shelf.database)
        await asyncio.wait(tasks)


async def test_a_position_that_is_gone_leads_to_a_whole_export(api: ApiCaller, shelf: Shelf) -> None:
    await shelf.keep(A)
    await move_changes(shelf.database)
    gone = await api.get("changes?after=9")
    assert gone.status == 410
    assert gone.json["fix"].endswith("GET /api/v1/changes?after=1")
    assert "/api/v1/documents/export" in gone.json["fix"]


@pytest.mark.parametrize(
    "query",
    ["after=-1", "after=9223372036854775808", "after=x", "limit=0", "limit=1001", "wait=31", "wait=-1", "include=all"],
)
async def test_a_page_that_cannot_be_is_refused(api: ApiCaller, query: str) -> None:
    assert (await api.get(f"changes?{query}")).status == 422


async def test_readers_that_wait_do_not_keep_the_role_from_ending(database_url: str, database: Database) -> None:
    async with api_on(database_url) as api:
        task = asyncio.create_task(api.get("changes?after=0&wait=30"))
        await until_asleep(database)
        api.stop.set()
        assert (await task).json["changes"] == []
