"""Two hundred readers of the stream and fifty that never read: all hear everything, and nothing piles up for those."""

import asyncio
import gc
import socket
import tracemalloc
from contextlib import AsyncExitStack

import pytest
from tests.integration.serve.callers import ApiCaller
from tests.integration.serve.listeners import StreamReader, listening_to

from headwater.serve.streams import MOST_WAITING, StreamHub
from headwater.serve.topics import Topic

READERS, IDLE, ROUNDS = 200, 50, 4
# So many messages of such a size: kept for a reader that does not read, they would be ten times what is allowed.
MESSAGES, MESSAGE_BYTES = 2_000, 50_000
# What waits for all of them is shared; each connection has its own buffers besides.
MOST_BYTES = 2 * MOST_WAITING * MESSAGE_BYTES + IDLE * 200_000


@pytest.mark.long
async def test_a_crowd_hears_everything_and_readers_that_never_read_cost_no_memory(api: ApiCaller) -> None:
    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(listening_to(api, "frontier")) for _ in range(READERS)]
        idle = [silent(api, "frontier,changes") for _ in range(IDLE)]
        first = await asyncio.gather(*(one.next("frontier") for one in readers))
        assert {event.data["by_status"]["pending"] for event in first} == {0}
        for n in range(ROUNDS):
            await api.post("frontier/submit", {"url": f"https://a{n}.example/"})
            heard = await asyncio.gather(*(until_pending(one, n + 1) for one in readers))
            # The same message, with the same number, for all.
            assert len(set(heard)) == 1
        await flood(api)
        # Nobody was held up by those that do not read.
        await api.post("frontier/submit", {"url": "https://b.example/"})
        assert len({await until_pending(one, ROUNDS + 1) for one in readers}) == 1
        for one in idle:
            one.close()


async def flood(api: ApiCaller) -> None:
    # All that was there when the role had started is set apart from the collector's work.
    gc.unfreeze()
    # Those of web roles that have ended may be there still.
    (hub,) = [one for one in gc.get_objects() if isinstance(one, StreamHub) and len(one._subscriptions) > IDLE]
    async with listening_to(api, "changes") as reader:
        gc.collect()
        tracemalloc.start()
        hearing = asyncio.create_task(until_number(reader, MESSAGES - 1))
        for n in range(MESSAGES):
            hub.tell(Topic.CHANGES, {"number": n, "text": "x" * MESSAGE_BYTES}, is_news=True)
            await asyncio.sleep(0)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert held < MOST_BYTES
        # One that reads has the last of them, however many it missed.
        await hearing


async def until_number(reader: StreamReader, number: int) -> None:
    while (await reader.next("changes")).data["number"] != number:
        pass


async def until_pending(reader: StreamReader, count: int) -> str:
    while (event := await reader.next("frontier")).data["by_status"]["pending"] != count:
        pass
    return event.id


def silent(api: ApiCaller, topics: str) -> socket.socket:
    """Asks, and never reads a byte."""
    host, port = api.address.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)))
    made.sendall(f"GET /api/v1/stream?topics={topics} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return made
