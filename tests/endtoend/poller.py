"""A poller as a process of its own, whose days run fast.

Started as `python -m tests.endtoend.poller`; told what to do in one line of JSON on standard input; says `ready`; polls
until its input ends.
"""

import asyncio
import sys
from datetime import timedelta
from typing import Any

import orjson

from headwater.clock import SystemClock
from headwater.run.polling import run_poller
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.resolver import SimResolver


async def work(task: dict[str, Any]) -> None:
    clock, stop = SystemClock(), asyncio.Event()

    def calendar() -> Any:
        # The machine's monotonic clock is the same for all processes: all of them live on the same day.
        return WORLD_BEGINS + timedelta(seconds=(clock.monotonic() - task["began"]) * task["pace"])

    async with open_services(load(Given(flags=task["flags"]))) as services:
        resolver = SimResolver(task["port"], clock=clock)
        running = asyncio.create_task(run_poller(services, task["owner"], stop, resolver=resolver, calendar=calendar))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
        await running


if __name__ == "__main__":
    asyncio.run(work(orjson.loads(sys.stdin.readline())))
