"""A role of ours in a process of its own, as `headwater run` starts it, whose names lead to the town.

Started as `python -m tests.faults.soak.role`; its first line of input says what it is, every further one how names are
resolved from then on. It says `ready`, and ends by SIGTERM or with its input.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import Any

import orjson
from aiohttp.abc import ResolveResult

from headwater.chance import Random, random_from
from headwater.clock import SystemClock
from headwater.errors import HeadwaterError
from headwater.run.delivering import run_deliverer
from headwater.run.fetching import run_worker
from headwater.run.maintenance import run_maintenance
from headwater.run.polling import run_poller
from headwater.run.stopping import until_stopped
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.resolver import SimResolver, no_answer_now

SILENCE_SECONDS = 5.0
AT_WORK = "select exists (select from role_processes where pid = $1)"


class SickResolver(SimResolver):
    """Of `share` of the look-ups half are failures of the server, and half are never answered."""

    def __init__(self, port: int, random: Random) -> None:
        super().__init__(port, clock=SystemClock())
        self.share = 0.0
        self._random = random

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        if self._random.random() < self.share:
            if self._random.random() < 0.5:
                await asyncio.sleep(SILENCE_SECONDS)
            raise no_answer_now(host)
        return await super().resolve(host, port)


def hear_orders(resolver: SickResolver) -> None:
    loop, stdin = asyncio.get_running_loop(), sys.stdin.fileno()

    def hear() -> None:
        heard = os.read(stdin, 4096)
        if not heard:
            loop.remove_reader(stdin)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        resolver.share = orjson.loads(heard.splitlines()[-1])["sick_share"]

    loop.add_reader(stdin, hear)


async def work(task: dict[str, Any], stop: asyncio.Event) -> None:
    owner = task["owner"]
    resolver = SickResolver(task["port"], random_from(owner))
    hear_orders(resolver)
    async with open_services(load(Given(flags=task["flags"]))) as services:
        # Referred to, or nobody would keep it.
        saying = asyncio.create_task(say_when_at_work(services))
        match task["role"]:
            case "fetch":
                await run_worker(services, owner, stop, resolver=resolver)
            case "poll":
                await run_poller(services, owner, stop, resolver=resolver)
            case "deliver":
                await run_deliverer(services, owner, stop)
            case _:
                await maintain(services, stop)
        saying.cancel()


async def say_when_at_work(services: Services) -> None:
    """Before that a database that goes away ends it, as is said in the page on reliability."""
    with suppress(HeadwaterError):
        while not await services.database.fetchval(AT_WORK, os.getpid()):
            await asyncio.sleep(0.1)
        sys.stdout.write("ready\n")
        sys.stdout.flush()


async def maintain(services: Services, stop: asyncio.Event) -> None:
    running = asyncio.create_task(run_maintenance(services))
    ending = asyncio.create_task(stop.wait())
    await asyncio.wait([running, ending], return_when=asyncio.FIRST_COMPLETED)
    running.cancel()
    ending.cancel()
    await asyncio.wait([running, ending])


if __name__ == "__main__":
    told = orjson.loads(os.read(sys.stdin.fileno(), 1 << 20))
    asyncio.run(until_stopped(lambda stop: work(told, stop)))
