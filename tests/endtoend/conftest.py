"""The simulated world, its days, and everything of ours on a real database."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import orjson
from tests.clocks import ManualClock
from tests.integration.fetch.conftest import UNHURRIED

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.discover.importing import Imported, carry_out, plan_import
from headwater.discover.polls.polling import Polling, Ran
from headwater.discover.polls.prices import steer
from headwater.run.polling import channel_reader, polling_of
from headwater.services import Services, open_services
from headwater.settings import Given, load
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.resolver import SimResolver
from headwater.simweb.server import SimWeb
from headwater.simweb.world import World
from headwater.sources.exchange.reading import read_sources
from headwater.sources.store import NOTICE
from headwater.web import open_web

DELAY = timedelta(milliseconds=5)


def settings_for(database_url: str, port: int) -> dict[str, str]:
    return {
        "database.url": database_url,
        "network.allow": f"127.0.0.1:{port}",
        "politeness.delay": f"{DELAY.total_seconds()}s",
        "fetch.contact": "mailto:test@headwater.test",
        "poll.concurrency": "20",
        "log.level": "error",
        **UNHURRIED,
    }


@dataclass
class Days:
    """Time jumps from one poll to the next: whole days in seconds, and every request of them real."""

    services: Services
    world: World
    web: SimWeb
    clock: ManualClock
    polling: Polling
    ran: list[Ran] = field(default_factory=list)

    async def subscribe(self) -> Imported:
        """To every publisher with a feed, as a person would."""
        read = read_sources(self.world.opml().encode())
        plan = await plan_import(self.services.database, read.rows)
        done = await carry_out(self.services.database, plan, DELAY, "tester")
        await self._due_now()
        return done

    async def pass_until(self, end: datetime) -> None:
        while self.clock.now() < end:
            await self._poll_due()
            await steer(self.services.database, self.services.settings.poll.polls_per_hour, self.clock.now())
            due = await self.services.database.fetchval("select min(next_poll_at) from channels where is_active")
            # A few at once, as they fall due within a minute.
            following = max(due, self.clock.now()) + timedelta(seconds=60)
            self.clock.move(min(following, end) - self.clock.now())

    async def look_everywhere(self) -> None:
        """One last poll of everything."""
        await self._due_now()
        await self._poll_due()

    async def entries(self) -> set[str]:
        return {row["url"] for row in await self.services.database.fetch("select url from url_frontier")}

    async def _due_now(self) -> None:
        await self.services.database.execute("update channels set next_poll_at = $1", self.clock.now())

    async def _fetch_everything(self) -> None:
        """As if workers had been at it: a poll takes turns with waiting pages, and here are no workers."""
        fetched = "update url_frontier set status = 'fetched', last_fetched_at = $1 where status = 'pending'"
        await self.services.database.execute(fetched, self.clock.now())
        await self.services.database.execute("update hosts set wake_at = 'infinity', priority = 0, owes_claim = false")

    async def _poll_due(self) -> None:
        while True:
            leases, _ = await self.polling.claim(20)
            if not leases:
                return
            await asyncio.gather(*(self.polling.work(lease) for lease in leases))
            await self._fetch_everything()


@asynccontextmanager
async def simulated_days(database_url: str, publishers: int, days: int) -> AsyncIterator[Days]:
    clock = ManualClock(WORLD_BEGINS)
    world = World(1, publishers, start=WORLD_BEGINS, crawl_delays=())
    web = SimWeb(world.sites, clock=clock, real=SystemClock(), random=random_from(1))
    port = await web.start()
    async with (
        open_services(load(Given(flags=settings_for(database_url, port)))) as services,
        open_web(services, "poller", SimResolver(port, clock=SystemClock())) as path,
        channel_reader(services) as reader,
        Listener(services.dsn, [NOTICE], services.random) as listener,
    ):
        await services.database.execute("select ensure_days('runs', $1, $2)", WORLD_BEGINS.date(), days + 10)
        await services.database.execute("update cadence set steered_at = $1", WORLD_BEGINS)
        ran: list[Ran] = []
        polling = polling_of(services, path, reader, listener, "poller", ran.append, calendar=clock.now)
        try:
            yield Days(services, world, web, clock, polling, ran)
        finally:
            await web.stop()


async def started(module: str, task: dict[str, object]) -> asyncio.subprocess.Process:
    """A process of ours that has said it is ready; it ends with its input."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(orjson.dumps(task) + b"\n")
    await process.stdin.drain()
    assert await process.stdout.readline() == b"ready\n"
    return process


async def ended(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()
