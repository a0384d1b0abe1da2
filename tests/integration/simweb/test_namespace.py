import subprocess
import sys

import pytest

from headwater.simweb.namespace import available, inside

ADDRESSES = ("93.184.216.34", "151.101.1.69")

# Runs inside the private network: two sites on port 80 of public-looking addresses, asked by name.
PROGRAM = f"""
import asyncio, aiohttp
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.simweb.message import Page
from itertools import cycle
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb

class Named:
    def page(self, request, now):
        return Page(request.host.encode() * 200_000)

async def main():
    clock = SystemClock()
    sites = {{"a.test": Named(), "b.test": Named()}}
    web = SimWeb(sites, clock=clock, real=clock, random=random_from(1))
    port = await web.start({ADDRESSES!r}, 80)
    resolver = SimResolver(port, clock=clock, addresses=dict(zip(sites, cycle({ADDRESSES!r}), strict=False)))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(resolver=resolver)) as session:
        for host in sites:
            async with session.get(f"http://{{host}}/") as response:
                peer = response.connection.transport.get_extra_info("peername")
                print((await response.text())[:6], *peer)
    await web.stop()

asyncio.run(main())
"""


def test_sites_live_at_public_looking_addresses_that_only_the_child_can_see() -> None:
    refusal = available()
    if refusal:
        pytest.skip(refusal)
    command = inside(ADDRESSES, [sys.executable, "-c", PROGRAM])
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["a.test 93.184.216.34 80", "b.test 151.101.1.69 80"], done.stderr
