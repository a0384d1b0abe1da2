"""The frontier on a real database under a clock that stands still until moved, with short words for what tests do."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
from tests.clocks import ManualClock
from tests.integration.frontier.polls import slot_settlement

from headwater.chance import random_from
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.frontier.claim import Allowance, Claimed, Claimer
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.frontier.maintain import rescue
from headwater.frontier.settle import extend, settle
from headwater.frontier.submit import FoundUrl, SubmitOutcome, Submitter, submit
from headwater.frontier.verdicts import Fetched, Released, RetryPolicy, Verdict, settlement_of
from headwater.politeness.slots import NotBefore, Slot, SlotKeeper, Visit
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import NO_VOICE, Voice
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.frontier")

LEASE = timedelta(seconds=60)
DELAY = timedelta(seconds=1)
NEVER_BEGAN = Visit()
AT_ONCE = Visit(started_after=timedelta(), duration=timedelta(milliseconds=120), status=200, body_bytes=4_000)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


@dataclass(repr=False)
class Stage:
    database: Database
    source: UUID
    # Real days, since the fetch log has partitions for these only.
    clock: ManualClock = field(default_factory=lambda: ManualClock(datetime.now(UTC).replace(microsecond=0)))
    claimers: dict[str, Claimer] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def wait(self, count: float) -> None:
        self.clock.move(seconds(count))

    async def add_source(self, *, status: str = "active", priority: int = 5) -> UUID:
        return await add_source(self.database, status=status, priority=priority)

    async def set_source(self, status: str, source: UUID | None = None) -> None:
        await self.database.execute("UPDATE sources SET status = $2 WHERE id = $1", source or self.source, status)

    async def submit(
        self,
        *found: str | FoundUrl,
        source: UUID | None = None,
        origin: EntryOrigin = EntryOrigin.MANUAL,
        delay: timedelta = DELAY,
        voice: Voice = NO_VOICE,
        home: str | None = None,
    ) -> list[SubmitOutcome]:
        submitter = Submitter(source or self.source, origin, voice=voice, home=canonicalise(home) if home else None)
        wanted = [FoundUrl(one) if isinstance(one, str) else one for one in found]
        async with self.database.transaction() as connection:
            answers = await submit(connection, submitter, wanted, default_delay=delay, now=self.now)
        return [answer.outcome for answer in answers]

    def claimer(self, owner: str = "ann", lease: timedelta = LEASE) -> Claimer:
        if owner not in self.claimers:
            self.claimers[owner] = Claimer(self.database, self.clock, owner, lease)
        return self.claimers[owner]

    async def claim(self, limit: int = 1, owner: str = "ann") -> list[Lease]:
        return (await self.look(limit, owner)).leases

    async def look(self, limit: int = 1, owner: str = "ann", allowance: Allowance | None = None) -> Claimed:
        return await self.claimer(owner).claim(limit, self.now, allowance)

    async def claim_one(self, owner: str = "ann") -> Lease:
        (lease,) = await self.claim(1, owner)
        return lease

    async def claim_suspect(self, owner: str = "ann") -> Lease | None:
        return await self.claimer(owner).claim_suspect(self.now)

    async def settle(self, lease: Lease, verdict: Verdict | None = None, visit: Visit = AT_ONCE) -> bool:
        """Whether the lease still held."""
        return await self.settle_all([(lease, verdict or Fetched())], visit) == 1

    async def settle_all(self, verdicts: list[tuple[Lease, Verdict]], visit: Visit = AT_ONCE) -> int:
        settlements = [
            settlement_of(
                lease,
                verdict,
                NEVER_BEGAN if isinstance(verdict, Released) else visit,
                RetryPolicy(),
                random_from(7),
            )
            for lease, verdict in verdicts
        ]
        return len(await settle(self.database, settlements, self.now))

    async def extend(self, *held: Lease | Slot, lease: timedelta = LEASE) -> int:
        return len(await extend(self.database, held, lease, self.now))

    async def rescue(self, lease: timedelta | None = None) -> tuple[int, int]:
        done = await rescue(self.database, self.now, lease)
        return done.rescued, done.poisoned

    async def ask(self, host: str, kind: str = "feed", owner: str = "poller") -> Slot | NotBefore:
        return await SlotKeeper(self.database, self.clock, owner, LEASE, DELAY).ask(host, kind, self.now)

    async def reserve(self, host: str) -> Slot:
        answer = await self.ask(host)
        assert isinstance(answer, Slot), answer
        return answer

    async def refused(self, host: str) -> NotBefore:
        answer = await self.ask(host)
        assert isinstance(answer, NotBefore), answer
        return answer

    async def end(self, slot: Slot, *, close_for: timedelta | None = None, visit: Visit = AT_ONCE) -> bool:
        settlement = slot_settlement(slot, "polled", visit, close_for=close_for)
        return bool(await settle(self.database, [settlement], self.now))

    async def host(self, name: str) -> asyncpg.Record:
        row = await self.database.fetchrow("SELECT * FROM hosts WHERE bucket = $1 AND host = $2", bucket_of(name), name)
        assert row is not None
        return row

    async def set_host(self, name: str, **columns: Any) -> None:
        """As maintenance would: lock, write, refresh."""
        sets = ", ".join(f"{column} = ${at}" for at, column in enumerate(columns, start=3))
        async with self.database.transaction() as connection:
            await connection.execute(queries.lock_hosts, [bucket_of(name)], [name])
            await connection.execute(
                f"UPDATE hosts SET {sets} WHERE bucket = $1 AND host = $2", bucket_of(name), name, *columns.values()
            )
            await self.refresh(connection, name)

    async def refresh(self, connection: Connection | Database, name: str) -> None:
        await connection.execute(queries.refresh_hosts, [bucket_of(name)], [name], self.now)

    async def entry(self, url: str) -> asyncpg.Record:
        key = canonicalise(url)
        row = await self.database.fetchrow(
            "SELECT * FROM url_frontier WHERE bucket = $1 AND url_hash = $2", key.bucket, key.url_hash
        )
        assert row is not None
        return row

    async def state(self, url: str) -> tuple[str, str | None]:
        row = await self.entry(url)
        return row["status"], row["held"]


async def add_source(database: Database, *, status: str = "active", priority: int = 5) -> UUID:
    made: UUID = await database.fetchval(
        "INSERT INTO sources (name, url, status, priority) VALUES ('s', 'https://s.example/', $1, $2) RETURNING id",
        status,
        priority,
    )
    return made


async def everything(database: Database) -> dict[str, list[asyncpg.Record]]:
    """Every row of the frontier, to say that nothing changed."""
    tables = (
        "url_frontier",
        "hosts",
        "slots",
        "counters",
        "counter_deltas",
        "fetch_log",
        "host_closures",
        "discoveries",
    )
    return {table: await database.fetch(f"SELECT * FROM {table} ORDER BY {table}::text") for table in tables}
