"""A worker without a web: it claims, keeps to its slots and settles, but asks nobody. For the demo and for measuring.

Run as a process of its own; told what to do in one line of JSON on standard input, and ends when that input ends.
"""

import asyncio
import sys
from dataclasses import dataclass
from datetime import timedelta

import orjson

from headwater.chance import Random, random_from
from headwater.clock import Clock, SystemClock
from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import Lease
from headwater.frontier.settle import settle
from headwater.frontier.verdicts import Fetched, Released, RetryPolicy, Settlement, Visit, settlement_of
from headwater.frontier.wake import CHANNEL, Sleeper

LONGEST_SLEEP = timedelta(seconds=1)
# As long as a quick page takes, so that hosts are busy for a while.
PRETENDED_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Rehearsal:
    database: Database
    clock: Clock
    random: Random
    claimer: Claimer
    sleeper: Sleeper
    batch: int

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            claimed = await self.claimer.claim(self.batch)
            if claimed.leases:
                await settle(self.database, await asyncio.gather(*map(self._pretend, claimed.leases)))
            else:
                await self.sleeper.sleep(claimed.come_back_in)

    async def _pretend(self, lease: Lease) -> Settlement:
        await self.clock.sleep(max(0.0, lease.window.earliest - self.clock.monotonic()))
        started = self.clock.monotonic()
        if not lease.window.allows(started):
            return settlement_of(lease, Released(), Visit(), RetryPolicy(), self.random)
        await self.clock.sleep(PRETENDED_SECONDS)
        duration = timedelta(seconds=self.clock.monotonic() - started)
        visit = Visit(lease.window.lateness(started), duration, status=200, body_bytes=0)
        return settlement_of(lease, Fetched(), visit, RetryPolicy(), self.random)


async def rehearse(dsn: str, owner: str, batch: int, lease: timedelta) -> None:
    clock, random = SystemClock(), random_from()
    async with await Database.connect(dsn, size=2) as database, Listener(dsn, [CHANNEL], random) as listener:
        claimer = Claimer(database, clock, owner, lease)
        sleeper = Sleeper(database, listener, owner, LONGEST_SLEEP)
        running = asyncio.create_task(Rehearsal(database, clock, random, claimer, sleeper, batch).run())
        told_to_stop = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait([running, told_to_stop], return_when=asyncio.FIRST_COMPLETED)
        running.cancel()
        await asyncio.wait([running])


def main() -> None:
    asked = orjson.loads(sys.stdin.readline())
    asyncio.run(rehearse(asked["dsn"], asked["owner"], asked["batch"], timedelta(seconds=asked["lease_seconds"])))


if __name__ == "__main__":
    main()
