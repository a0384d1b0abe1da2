"""The stream of events: how things stand, what is new, and nothing that nobody listens to."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from tests.integration.archive.shelf import Shelf
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.serve.callers import ApiCaller, api_on
from tests.integration.serve.listeners import listening_to

from headwater.database.pool import Database
from headwater.deliver.log import move_changes
from headwater.serve.live import MOST_STREAMS_OF_ONE
from headwater.serve.streams import HEARTBEAT, MOST_WAITING, Subscription
from headwater.serve.topics import Topic

A, B = "https://a.example/1", "https://b.example/1"


async def test_topics_tell_how_things_stand_and_then_what_differs(api: ApiCaller) -> None:
    async with listening_to(api, "stats,frontier,problems") as reader:
        told = {event.topic: event.data for event in [await reader.next() for _ in range(3)]}
        assert told.keys() == {"stats", "frontier", "problems"}
        assert told["frontier"]["by_status"]["pending"] == 0
        assert told["stats"]["channels"] == 0
        assert told["problems"]["count"] == len(told["problems"]["problems"])
        await api.post("frontier/submit", {"url": A})
        assert (await reader.next("frontier")).data["by_status"]["pending"] == 1
        # Who comes later hears at once how things stand.
        async with listening_to(api, "frontier") as other:
            assert (await other.next()).data["by_status"]["pending"] == 1


async def test_an_answer_is_sent_as_it_comes(api: ApiCaller) -> None:
    async with listening_to(api, "frontier", accept_encoding="gzip") as reader:
        headers = reader.answer.headers
        assert headers["content-type"].startswith("text/event-stream")
        assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
        assert "content-encoding" not in headers
        assert (await reader.next()).topic == "frontier"


async def test_changes_are_told_and_those_missed_are_told_to_who_comes_back(api: ApiCaller) -> None:
    await Delivering(api.services.database).source()
    shelf = Shelf(api.services.database)
    async with listening_to(api, "changes,frontier") as reader:
        # Its topics are read from here on.
        await reader.next("frontier")
        await until_asleep(shelf.database)
        await shelf.keep(A)
        await move_changes(shelf.database)
        first = await reader.next("changes")
        assert (first.data["after"], first.data["position"], first.data["changes"][0]["op"]) == (0, 1, "upsert")
        await shelf.tombstone(A)
        await move_changes(shelf.database)
        second = await reader.next("changes")
        assert (second.data["after"], second.data["position"]) == (1, 2)
        async with listening_to(api, "changes", last_event_id=first.id) as back:
            assert await back.next("changes") == second
        async with listening_to(api, "changes", last_event_id="another-process.1") as stranger:
            await shelf.keep(B)
            await move_changes(shelf.database)
            assert (await stranger.next("changes")).data["after"] == 2


async def test_runs_are_told_when_they_end(api: ApiCaller) -> None:
    await Delivering(api.services.database).source()
    run = (
        "insert into runs (at, id, channel_id, source_id, kind, trigger, status, duration_ms)"
        " select now(), gen_random_uuid(), gen_random_uuid(), id, 'feed', 'schedule', 'ok', 5 from sources"
    )
    async with listening_to(api, "runs") as reader:
        hearing = asyncio.create_task(reader.next("runs"))
        # Those from before the first look are no news, and nobody says when that was.
        while not hearing.done():
            await api.services.database.execute(run)
            await asyncio.sleep(0.05)
        told = (await hearing).data
    assert (told["runs"][0]["status"], told["left_out"]) == ("ok", 0)


async def test_nothing_is_read_while_nobody_listens(api: ApiCaller) -> None:
    async with listening_to(api, "frontier") as reader:
        await reader.next()
        assert topics_read()
    while topics_read():
        await asyncio.sleep(0.01)


def topics_read() -> int:
    """Tasks of this process, which is the server's too, that read a topic."""
    return sum("_keep_reading" in repr(task.get_coro()) for task in asyncio.all_tasks())


@pytest.mark.parametrize("topics", ["", "weather", "stats,weather", ",", "%00", "x" * 300])
async def test_a_topic_of_nobody_is_refused(api: ApiCaller, topics: str) -> None:
    assert (await api.get(f"stream?topics={topics}")).status == 422


async def test_streams_of_one_caller_leave_places_for_others(api: ApiCaller) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(MOST_STREAMS_OF_ONE):
            await stack.enter_async_context(listening_to(api, "frontier"))
        refused = await api.get("stream?topics=frontier")
        assert (refused.status, refused.headers["retry-after"]) == (429, "5")
    # Who has gone is noticed, and its place is free again.
    async with AsyncExitStack() as stack:
        while (answer := await api.session.get(f"{api.address}/api/v1/stream")).status == 429:
            answer.close()
        answer.close()


async def test_a_stream_ends_with_its_role(database_url: str, database: Database) -> None:
    async with api_on(database_url) as api, listening_to(api, "frontier") as reader:
        await reader.next()
        api.stop.set()
        await reader.rest()


async def test_a_reader_that_is_silent_hears_that_the_stream_lives() -> None:
    frames = Subscription(frozenset({Topic.STATS})).frames(heartbeat=0.01)
    assert [await anext(frames) for _ in range(3)][1:] == [HEARTBEAT, HEARTBEAT]


async def test_messages_that_a_reader_does_not_take_are_dropped_the_oldest_first() -> None:
    one = Subscription(frozenset({Topic.STATS}))
    for n in range(1_000):
        one.put(b"%d\n" % n)
    frames = one.frames()
    await anext(frames)
    heard = [await anext(frames) for _ in range(MOST_WAITING)]
    assert heard == [b"%d\n" % n for n in range(1_000 - MOST_WAITING, 1_000)]


async def until_asleep(database: Database) -> None:
    while not await database.fetchval("select count(*) from sleepers where waits_for = 'log' and until > now()"):
        await asyncio.sleep(0.01)
