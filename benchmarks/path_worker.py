"""A fetching process as `headwater run fetch` starts it, whose names all lead to the simulated web.

Told what to do in one line of JSON on standard input; ends when its input ends.
"""

import asyncio
from typing import Any

from headwater.clock import SystemClock
from headwater.run.fetching import run_worker
from headwater.run.processes import task_given, until_input_ends
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver


async def work(task: dict[str, Any]) -> None:
    resolver = SimResolver(task["port"], clock=SystemClock())
    async with open_services(load(Given(flags=task["flags"]))) as services:
        await until_input_ends(lambda stop: run_worker(services, task["owner"], stop, resolver=resolver))


def main() -> None:
    asyncio.run(work(task_given()))


if __name__ == "__main__":
    main()
