"""A process of its own that works on the frontier as a worker would, and tells what it did, one JSON line each.

Started as `python -m tests.integration.frontier.lease_worker ROLE ADDRESS OWNER SOURCE`; ends with its input.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from tests.integration.frontier.polls import slot_settlement

from headwater.chance import Random, random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.frontier.settle import settle
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.frontier.verdicts import Fetched, Postponed, Released, RetryLater, RetryPolicy, Verdict, settlement_of
from headwater.politeness.slots import Slot, SlotKeeper, Visit

LEASE = timedelta(seconds=6)
DELAY = timedelta(milliseconds=100)
HOSTS = [f"h{n}.example" for n in range(6)]


@dataclass
class Worker:
    database: Database
    owner: str
    source: UUID
    told_to_end: asyncio.Event
    clock: SystemClock
    random: Random

    def tell(self, **what: object) -> None:
        sys.stdout.write(json.dumps({"owner": self.owner, **what}) + "\n")
        sys.stdout.flush()

    async def fetch(self) -> None:
        claimer = Claimer(self.database, self.clock, self.owner, LEASE)
        while not self.told_to_end.is_set():
            claimed = await claimer.claim(self.random.randint(1, 5))
            await asyncio.gather(*map(self.visit, claimed.leases))
            if suspect := await claimer.claim_suspect():
                await self.visit(suspect)
            if not claimed.leases:
                await asyncio.sleep(0.01)

    async def visit(self, lease: Lease) -> None:
        await self.reach(lease.window.earliest)
        started = self.clock.monotonic()
        if not lease.window.allows(started):
            await self.settle(lease, Released(), Visit())
            return
        self.tell(at=started, host=lease.host, url=lease.url, what="start")
        await asyncio.sleep(self.random.random() * 0.03)
        # A worker that answers so late that somebody else may be at work has already lost its lease.
        self.tell(at=self.clock.monotonic(), host=lease.host, url=lease.url, what="end")
        verdicts: list[Verdict] = [Postponed(timedelta(seconds=0.2), lease.url, 0), Fetched(), RetryLater("timeout")]
        verdict = self.random.choices(verdicts, [8, 1, 1])[0]
        await self.settle(lease, verdict, Visit(lease.window.lateness(started), timedelta(milliseconds=20), 200, 10))

    async def reach(self, moment: float) -> None:
        await asyncio.sleep(max(0.0, moment - self.clock.monotonic()))
        if self.random.random() < 0.1:
            # The whole process stalls between its slot and its start.
            time.sleep(self.random.random() * 0.1)

    async def settle(self, lease: Lease, verdict: Verdict, visit: Visit) -> None:
        settlement = settlement_of(lease, verdict, visit, RetryPolicy(), self.random)
        held = await settle(self.database, [settlement])
        self.tell(what="settled" if held else "stale", url=lease.url)

    async def poll(self) -> None:
        page_store = SlotKeeper(self.database, self.clock, self.owner, LEASE, DELAY)
        while not self.told_to_end.is_set():
            slot = await page_store.reserve(self.random.choice(HOSTS), "feed")
            if isinstance(slot, Slot):
                await self.call_on(slot)

    async def call_on(self, slot: Slot) -> None:
        await self.reach(slot.window.earliest)
        started = self.clock.monotonic()
        visit = Visit()
        if slot.window.allows(started):
            self.tell(at=started, host=slot.host, what="start")
            await asyncio.sleep(self.random.random() * 0.03)
            visit = Visit(slot.window.lateness(started), timedelta(milliseconds=20), 200, 10)
        held = await settle(self.database, [slot_settlement(slot, "polled", visit)])
        self.tell(what="settled" if held else "stale")

    async def discover(self) -> None:
        submitter = Submitter(self.source, EntryOrigin.FEED)
        while not self.told_to_end.is_set():
            hosts = self.random.sample(HOSTS, 4)
            found = [FoundUrl(f"https://{host}/{self.random.randint(0, 500)}") for host in hosts]
            async with self.database.transaction() as connection:
                await submit(connection, submitter, found, default_delay=DELAY)
            self.tell(what="submitted")
            await asyncio.sleep(0.02)


async def main(role: str, address: str, owner: str, source: str) -> None:
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, told_to_end.set)
    async with await Database.connect(address, size=4) as database:
        worker = Worker(database, owner, UUID(source), told_to_end, SystemClock(), random_from(owner))
        worker.tell(what="ready")
        await getattr(worker, role)()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
