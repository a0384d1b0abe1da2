"""All roles in one process, whose names lead to the simulated web and its hostile neighbour.

Started as `python -m tests.hostile.street_roles`; told what to do in one line of JSON on standard input; says `ready`;
works until its input ends.
"""

import asyncio
import sys
from typing import Any

import orjson

from headwater.clock import SystemClock
from headwater.run.everything import run_everything
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver


async def work(task: dict[str, Any]) -> None:
    stop = asyncio.Event()
    resolver = SimResolver(task["port"], clock=SystemClock(), addresses=task["addresses"], names=task["names"])
    async with open_services(load(Given(flags=task["flags"]))) as services:
        running = asyncio.create_task(run_everything(services, stop, resolver=resolver))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        hearing = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait([running, hearing], return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await running


if __name__ == "__main__":
    asyncio.run(work(orjson.loads(sys.stdin.readline())))
