"""One of several worker processes of `headwater run fetch --processes N`.

Told its settings in one line of JSON on standard input; ends when its input ends.
"""

import asyncio
import sys
from typing import Any

import orjson

from headwater.cli.launch import Launch
from headwater.run.fetching import run_worker
from headwater.run.stopping import owner_name
from headwater.services import open_services


async def work(task: dict[str, Any]) -> None:
    stop = asyncio.Event()
    async with open_services(Launch.from_task(task).settings()) as services:
        running = asyncio.create_task(run_worker(services, owner_name("fetch", services.random), stop))
        hearing = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        # A worker that breaks ends the process with its error; its parent starts another.
        await asyncio.wait([running, hearing], return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await running


def main() -> None:
    asyncio.run(work(orjson.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
