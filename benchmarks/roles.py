"""One role in a process of its own, whose names lead to a simulated web.

Told in one line of JSON on standard input which role, its settings and where the web is; ends when its input ends.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from headwater.clock import SystemClock
from headwater.run.everything import run_everything
from headwater.run.fetching import run_worker
from headwater.run.maintenance import run_maintenance
from headwater.run.polling import run_poller
from headwater.run.processes import task_given, until_input_ends
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver


def role_of(name: str, services: Services, stop: asyncio.Event, resolver: SimResolver) -> Coroutine[Any, Any, None]:
    owner = f"benchmark {name}"
    match name:
        case "poll":
            return run_poller(services, owner, stop, resolver=resolver)
        case "fetch":
            return run_worker(services, owner, stop, resolver=resolver)
        case "maintain":
            return maintain(services, stop)
        case _:
            return run_everything(services, stop, resolver=resolver)


async def maintain(services: Services, stop: asyncio.Event) -> None:
    running = asyncio.create_task(run_maintenance(services))
    await stop.wait()
    running.cancel()
    await asyncio.wait([running])


async def work(task: dict[str, Any]) -> None:
    resolver = SimResolver(task["port"], clock=SystemClock(), addresses=task["addresses"])
    async with open_services(load(Given(flags=task["flags"]))) as services:
        await until_input_ends(lambda stop: role_of(task["role"], services, stop, resolver))


def main() -> None:
    asyncio.run(work(task_given()))


if __name__ == "__main__":
    main()
