"""One of several fetching processes: the real worker, and beside it somebody who asks for feeds on the same hosts.

Started as `python -m tests.integration.fetch.crowd`; told what to do in one line of JSON on standard input, says
`ready` when it could begin, begins at the next line, counts what it did in one line at the end, and ends when its
input ends.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson
from tests.integration.fetch.conftest import Unread

from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.fetch.fetcher import FetchRequest
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Finished
from headwater.politeness.slots import NotBefore
from headwater.run.fetching import worker_of
from headwater.run.heartbeat import heartbeat_of
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver
from headwater.urls.canonical import canonicalise
from headwater.web import Web, open_web

POLLS_AT_ONCE = 10


async def poll_all(web: Web, urls: Sequence[str], counts: Counter[str]) -> None:
    waiting = iter(urls)

    async def poll_on() -> None:
        for url in waiting:
            await poll(web, url, counts)

    await asyncio.gather(*(poll_on() for _ in range(POLLS_AT_ONCE)))


async def poll(web: Web, url: str, counts: Counter[str]) -> None:
    """Until there was a slot, as a poller would come back."""
    target = canonicalise(url)
    while True:
        async with web.reservations.reserve_slot(target.host, "poll") as held_slot:
            if not isinstance(held_slot, NotBefore):
                outcome = await web.fetcher.fetch(FetchRequest(target, "poll"), held_slot)
                counts[f"poll {type(outcome).__name__}"] += 1
                return
        await asyncio.sleep(held_slot.wait.total_seconds())


async def crowd(services: Services, task: dict[str, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    stop = asyncio.Event()

    def hear(told: Finished) -> None:
        counts[f"page {type(told.verdict).__name__}"] += 1

    owner = task["owner"]
    async with (
        open_web(services, owner, SimResolver(task["port"], clock=SystemClock())) as web,
        Listener(services.dsn, [CHANNEL], services.random) as listener,
        heartbeat_of(services, owner) as heart,
    ):
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        working = asyncio.create_task(worker_of(services, web, Unread(), listener, heart, hear).run(stop))
        polling = asyncio.create_task(poll_all(web, task["feeds"], counts))
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
        polling.cancel()
        await asyncio.wait({working, polling})
        working.result()
    return counts


def say(what: object) -> None:
    sys.stdout.write(orjson.dumps(what).decode() + "\n")
    sys.stdout.flush()


async def main() -> None:
    task = orjson.loads(await asyncio.to_thread(sys.stdin.readline))
    async with open_services(load(Given(flags=task["flags"]))) as services:
        say(await crowd(services, task))


if __name__ == "__main__":
    asyncio.run(main())
