"""All roles and many names of one machine, in a private network where its address looks public.

Told what to do in one line of JSON on standard input; ends when every name was asked for its page, and then writes when
each request arrived, in seconds, as JSON.
"""

import asyncio
import sys
from typing import Any

import orjson

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.run.everything import run_everything
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.simweb.neighbours import Plan, beside
from headwater.simweb.neighbours.weight import crowd_hosts
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb


async def work(task: dict[str, Any]) -> list[float]:
    clock, stop, names = SystemClock(), asyncio.Event(), set(crowd_hosts(task["names"]))
    neighbours = beside({}, Plan(("many_names",), crowd=task["names"]))
    web = SimWeb(neighbours.sites, clock=clock, real=clock, random=random_from(1))
    await web.start(task["address"], 80)
    resolver = SimResolver(80, clock=clock, address=task["address"])
    async with open_services(load(Given(flags=task["flags"]))) as services:
        running = asyncio.create_task(run_everything(services, stop, resolver=resolver))
        await web.visits.until(lambda seen: {one.host for one in seen if one.path == "/page"} >= names)
        stop.set()
        await running
    arrivals = [visit.arrived for visit in web.visits.all() if visit.host in names]
    await web.stop()
    return sorted(arrivals)


if __name__ == "__main__":
    found = asyncio.run(work(orjson.loads(sys.stdin.readline())))
    sys.stdout.buffer.write(orjson.dumps(found))
