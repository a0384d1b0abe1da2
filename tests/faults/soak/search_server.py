"""The strict stand-in of a search server, in a process of its own that can be away for a while."""

import asyncio
import multiprocessing as mp
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from aiohttp import web
from tests.integration.deliver.test_elasticsearch_faults import StandIn

MOST_BYTES = 100_000_000


class Titles(StandIn):
    """Of each document only its title is kept: a million of them have to fit."""

    def _apply(self, name: str, about: dict[str, Any], document: Any) -> dict[str, Any]:
        kept = document and {"title": document["title"]}
        self.requests.clear()
        self.bulk_sizes.clear()
        return super()._apply(name, about, kept)


async def serve(parent: Connection) -> None:
    stand_in = Titles()
    app = web.Application(client_max_size=MOST_BYTES)
    app.router.add_route("*", "/{path:.*}", stand_in.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    parent.send(port)
    while (order := await asyncio.to_thread(parent.recv)) != "stop":
        if order == "away":
            await site.stop()
        elif order == "back":
            site = web.TCPSite(runner, "127.0.0.1", port, reuse_address=True)
            await site.start()
        held = {key[1]: one[1]["title"] for key, one in stand_in.documents.items() if one[1] is not None}
        parent.send(held if order == "held" else None)
    await runner.cleanup()


def run_server(parent: Connection) -> None:
    asyncio.run(serve(parent))


class SearchServer:
    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._asking = asyncio.Lock()
        self.address = f"http://127.0.0.1:{pipe.recv()}"

    async def ask(self, order: str) -> Any:
        """`away`, `back`, or `held`: titles by id."""
        async with self._asking:
            self._pipe.send(order)
            return await asyncio.to_thread(self._pipe.recv)


@contextmanager
def search_server() -> Iterator[SearchServer]:
    spawn = mp.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=run_server, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    try:
        yield SearchServer(ours)
    finally:
        process.kill()
        process.join()
