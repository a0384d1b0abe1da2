"""One of several worker processes of `headwater run fetch --processes N`.

Told its settings in one line of JSON on standard input; ends when its input ends.
"""

import asyncio
import sys
from typing import Any

import orjson

from headwater.cli.launch import Launch
from headwater.errors import HeadwaterError, as_fields
from headwater.run.fetching import run_worker
from headwater.run.stopping import owner_name
from headwater.services import logger_for, open_services


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
    task = orjson.loads(sys.stdin.readline())
    try:
        asyncio.run(work(task))
    except HeadwaterError as error:
        # One line of the log, and its parent says that it died.
        logger_for(Launch.from_task(task).settings()).error("worker_failed", **as_fields(error))
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
