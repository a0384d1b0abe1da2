"""Lives of the role `deliver`, each in a process of its own that may kill itself at any word with database or sink.

Reads one line of JSON for each life: the settings, and at which word to die. Everything is imported once, and each life
is forked; its exit status is the answer.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import orjson

from headwater.database.pool import Connection
from headwater.deliver.http import SinkClient
from headwater.deliver.store import list_sinks
from headwater.errors import DatabaseDown, QueryFailed
from headwater.run.delivering import run_deliverer
from headwater.services import Services, open_services
from headwater.settings import Given, load


def dying(method: Callable[..., Any], dies: Callable[[], None]) -> Callable[..., Any]:
    """Before the word, and again when it was answered: the other side has acted then, and we do not know it."""

    async def spoken(*args: Any, **kwargs: Any) -> Any:
        dies()
        answer = await method(*args, **kwargs)
        dies()
        return answer

    return spoken


def die_at(number: int) -> None:
    words = count(1)

    def dies() -> None:
        if next(words) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    for owner, name in (
        *((Connection, name) for name in ("fetch", "fetchrow", "fetchval", "execute")),
        (SinkClient, "request"),
    ):
        setattr(owner, name, dying(getattr(owner, name), dies))


async def live(task: dict[str, Any]) -> None:
    """Until every sink is up to date."""
    async with open_services(load(Given(flags=task["flags"]))) as services:
        if task["dies_at"]:
            die_at(task["dies_at"])
        stop = asyncio.Event()
        running = asyncio.create_task(run_deliverer(services, task["owner"], stop))
        while not await is_done(services):
            await asyncio.sleep(0.02)
        stop.set()
        await running


async def is_done(services: Services) -> bool:
    """Asked once more after the outbox: what was moved meanwhile counts. A database that is away is waited for."""
    try:
        waits = await services.database.fetchval("SELECT EXISTS (SELECT 1 FROM outbox)")
        sinks = await list_sinks(services.database)
    except (DatabaseDown, QueryFailed):
        return False
    return not waits and all(not (sink.behind or sink.backfill_reason or sink.retrying) for sink in sinks)


def main() -> None:
    for line in sys.stdin.buffer:
        child = os.fork()
        if not child:
            asyncio.run(live(orjson.loads(line)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
