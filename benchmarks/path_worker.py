"""A fetching process as `headwater run fetch` starts it, whose names all lead to the simulated web.

Told what to do in one line of JSON on standard input; ends when its input ends.
"""

import asyncio
import sys
from typing import Any

import orjson

from headwater.clock import SystemClock
from headwater.run.fetching import run_worker
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver


async def work(task: dict[str, Any]) -> None:
    stop = asyncio.Event()
    resolver = SimResolver(task["port"], clock=SystemClock())
    async with open_services(load(Given(flags=task["flags"]))) as services:
        running = asyncio.create_task(run_worker(services, task["owner"], stop, resolver=resolver))
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
        await running


def main() -> None:
    asyncio.run(work(orjson.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
