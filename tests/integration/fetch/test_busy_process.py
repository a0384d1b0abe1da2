"""A busy process comes late to everything; where several requests may run at once, it must still get to start."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

from tests.integration.fetch.conftest import Path, SmallSite, opened_path

from headwater.clock import SystemClock
from headwater.fetch.held_slot import Regrants
from headwater.frontier.claim import Claimer
from headwater.frontier.verdicts import Fetched
from headwater.politeness.hosts import HostPolicy, set_policy
from headwater.politeness.slots import SLACK, NotBefore, StartWindow, Visit
from headwater.simweb.message import Page
from headwater.simweb.questions import smallest_gaps

HOST = "wide.test"
DELAY = timedelta(milliseconds=100)
PAGES = 4
AT_ONCE = 2
# Longer than the slack: whoever is woken after one such turn of the event loop is too late for a usual window.
TURN_S = 1.5 * SLACK.total_seconds()
# A kernel dates what arrives to a tick, of 10 ms at the most.
SMALLEST_GAP_SEEN_S = DELAY.total_seconds() - 0.005 - 2 * 0.010
# Only so that a hang ends: it took 4 s.
LONGEST_RUN_S = 120
# The claimed slot is missed, the first of the others teaches how wide a window must be.
MOST_SLOTS_PER_PAGE = 4


@dataclass
class Counted:
    regrants: Regrants
    asked: int = field(default=0, init=False)

    async def regrant(self, bucket: int, token: UUID, past: Visit) -> StartWindow | NotBefore:
        self.asked += 1
        return await self.regrants.regrant(bucket, token, past)


@asynccontextmanager
async def busy_loop() -> AsyncIterator[None]:
    """Every turn of the event loop takes long."""

    async def keep_busy() -> None:
        while True:
            time.sleep(TURN_S)
            await asyncio.sleep(0)

    task = asyncio.create_task(keep_busy())
    try:
        yield
    finally:
        task.cancel()


async def fetch_all(path: Path, regrants: Regrants) -> int:
    """Pages that came, all asked for at once as far as the host allows."""
    journey = replace(path.journey(), regrants=regrants)
    claimer = Claimer(path.database, SystemClock(), "w", timedelta(seconds=60))
    came = 0
    while came < PAGES:
        claimed = await claimer.claim(AT_ONCE)
        told = await asyncio.gather(*map(journey.travel, claimed.leases))
        came += sum(isinstance(one.verdict, Fetched) for one in told)
    return came


async def test_a_busy_process_gets_to_start_beside_others_and_stays_polite(database_url: str) -> None:
    page = Page(b"<html><title>One</title><p>Hello</html>")
    site = SmallSite({f"/{number}": page for number in range(PAGES + 1)})
    async with opened_path(database_url, {HOST: site}) as path:
        policy = HostPolicy(max_concurrency=AT_ONCE, min_request_interval_ms=round(DELAY.total_seconds() * 1000))
        await set_policy(path.database, HOST, policy, DELAY)
        await path.queue(*(f"http://{HOST}/{number}" for number in range(PAGES)))
        await path.fetch(f"http://{HOST}/{PAGES}")
        counted = Counted(path.web.regranter)
        async with asyncio.timeout(LONGEST_RUN_S), busy_loop():
            assert await fetch_all(path, counted) == PAGES
        assert counted.asked <= MOST_SLOTS_PER_PAGE * PAGES
        assert smallest_gaps(path.visits())[HOST] >= SMALLEST_GAP_SEEN_S
