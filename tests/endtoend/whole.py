"""Everything of ours in one process, on the world's days.

Started as `python -m tests.endtoend.whole`; told what to do in one line of JSON on standard input; says `ready`; works
until its input ends.
"""

import asyncio
import sys
from typing import Any

import orjson

from headwater.clock import PacedClock, SystemClock
from headwater.run.everything import run_everything
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.resolver import SimResolver


async def work(task: dict[str, Any]) -> None:
    clock, stop = SystemClock(), asyncio.Event()
    async with open_services(load(Given(flags=task["flags"]))) as services:
        running = asyncio.create_task(
            run_everything(
                services,
                stop,
                resolver=SimResolver(task["port"], clock=clock),
                calendar=PacedClock(WORLD_BEGINS, task["pace"], clock, task["began"]).now,
            )
        )
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        hearing = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait([running, hearing], return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await running


if __name__ == "__main__":
    asyncio.run(work(orjson.loads(sys.stdin.readline())))
