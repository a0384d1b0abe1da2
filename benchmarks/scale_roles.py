"""Roles for the benchmark of scale, in a process of their own, whose names lead to the simulated web.

Told what to do in one line of JSON on standard input; ends when its input ends.
"""

import asyncio
import sys
from typing import Any

import orjson

from headwater.clock import SystemClock
from headwater.run.everything import run_everything
from headwater.run.polling import run_poller
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver


async def work(task: dict[str, Any]) -> None:
    stop = asyncio.Event()
    resolver = SimResolver(task["port"], clock=SystemClock(), addresses=task["addresses"])
    async with open_services(load(Given(flags=task["flags"]))) as services:
        if task["role"] == "poll":
            role = run_poller(services, "benchmark", stop, resolver=resolver)
        else:
            role = run_everything(services, stop, lambda _: None, lambda _: None, resolver)
        running = asyncio.create_task(role)
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
        await running


def main() -> None:
    asyncio.run(work(orjson.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
