"""Several processes of one role: started, started again when one dies, and told to end together."""

import asyncio
import signal
from collections.abc import Mapping
from typing import Any

from headwater.figures import DIED
from headwater.run.heartbeat import heartbeat_of
from headwater.run.presence import present
from headwater.run.processes import children
from headwater.run.stopping import owner_name, until_stopped
from headwater.services import Services

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
PARENT = "parent"
# Whoever lives this long did not die of its surroundings.
LONG_LIFE_SECONDS = 120.0


async def run_herd(services: Services, module: str, count: int, task: Mapping[str, Any]) -> int:
    """Until told to stop. 1 if processes had to be started again, else 0: whoever watches should know."""
    deaths = 0

    async def keep_one(stop: asyncio.Event) -> None:
        nonlocal deaths
        wait = FIRST_WAIT
        while not stop.is_set():
            began = services.clock.monotonic()
            async with children(module, [task]) as (process,):
                ending = asyncio.create_task(stop.wait())
                dying = asyncio.create_task(process.wait())
                await asyncio.wait([ending, dying], return_when=asyncio.FIRST_COMPLETED)
                ending.cancel()
            if stop.is_set():
                return
            deaths += 1
            services.figures.add(f"{DIED}worker", in_words(process.returncode))
            services.log.error("worker_died", code=process.returncode, again_in_seconds=wait)
            wait = FIRST_WAIT if services.clock.monotonic() - began > LONG_LIFE_SECONDS else min(2 * wait, LONGEST_WAIT)
            await _sleep_unless(stop, wait)

    async def all_of_them(stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(keep_one(stop))

    async with (
        heartbeat_of(services, owner_name(PARENT, services.random)) as heart,
        present(services, heart, PARENT, []),
    ):
        await until_stopped(all_of_them)
    return int(deaths > 0)


def in_words(code: int | None) -> str:
    """How a process ended."""
    if code is not None and code < 0:
        return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended with the code {code}"


async def _sleep_unless(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
