"""The clients of the frontier's benchmark: processes of their own, so that none of them waits for another's Python."""

import asyncio
import multiprocessing as mp
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import NamedTuple, Self
from uuid import UUID

from benchmarks.frontier_world import World, plain_connection
from headwater.chance import Random, random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.settle import settle
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.frontier.verdicts import RetryLater, RetryPolicy, settlement_of
from headwater.politeness.backoff import Backoff
from headwater.politeness.slots import Visit

PROCESSES = 2
CONNECTIONS_EACH = 2
LEASE = timedelta(seconds=60)
SUBMIT_BATCH = 1_000
DUPLICATES = 0.45

# Every claimed entry fails and is due again at once, so that the queue keeps its size.
FAILED = RetryLater("upstream", "503 Service Unavailable")
VISIT = Visit(timedelta(milliseconds=1), timedelta(milliseconds=120), 503, 512)
AT_ONCE = RetryPolicy(max_retries=30_000, backoff=Backoff(timedelta(), timedelta()))

# In one round trip, which is kinder to it than the textbook's transaction of three statements.
TEXTBOOK_CLAIM = """
with picked as materialized (
    select f.id, f.host from textbook_frontier f join textbook_hosts h on h.host = f.host
    where f.status = 'pending' and f.next_fetch_at <= now()
      and (h.last_fetch_at is null or h.last_fetch_at + h.min_delay_ms * interval '1 millisecond' <= now())
    order by f.priority desc, f.next_fetch_at limit 1
    for update of f skip locked
), touched as (
    update textbook_hosts h set last_fetch_at = now() from picked p where h.host = p.host
)
update textbook_frontier f set status = 'fetching' from picked p where f.id = p.id returning f.id
"""
TEXTBOOK_SETTLE = """
update textbook_frontier set status = 'pending', next_fetch_at = now(), retry_count = retry_count + 1 where id = $1
"""


@dataclass(frozen=True)
class Load:
    """What each connection does: calls for `batch` entries, every `every_s` seconds; 0 is one right after the other."""

    world: World
    seconds: float
    batch: int = 10
    every_s: float = 0.0
    warm_up_s: float = 1.0


@dataclass
class Tally:
    """`call_ms` holds only calls that had an effect, without those of the warm-up."""

    done: int = 0
    call_ms: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    cpu_s: float = 0.0

    def add(self, other: Self) -> None:
        self.done += other.done
        self.call_ms += other.call_ms
        self.outcomes += other.outcomes
        self.cpu_s += other.cpu_s


class Step(NamedTuple):
    done: int
    call_s: float
    wait_s: float = 0.0


Work = Callable[[Load, int], Tally]


class Clients:
    """Processes that stay, for one load after the other."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(PROCESSES, mp_context=mp.get_context("spawn"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    async def run(self, work: Work, load: Load, processes: int = PROCESSES) -> Tally:
        loop = asyncio.get_running_loop()
        parts = (loop.run_in_executor(self._pool, work, load, number) for number in range(processes))
        return total(await asyncio.gather(*parts))


def total(parts: list[Tally]) -> Tally:
    summed = Tally()
    for part in parts:
        summed.add(part)
    return summed


async def keep_calling(load: Load, client: int, step: Callable[[], Awaitable[Step]]) -> Tally:
    tally = Tally()
    # At a slow pace the clients take turns; all at once they would measure each other.
    await asyncio.sleep(load.every_s * client / (PROCESSES * CONNECTIONS_EACH))
    turn = time.perf_counter()
    begins = turn + load.warm_up_s
    while (now := time.perf_counter()) < begins + load.seconds:
        done, call_s, wait_s = await step()
        if done and now >= begins:
            tally.done += done
            tally.call_ms.append(call_s * 1000)
        turn = max(turn + load.every_s, now)
        await asyncio.sleep(max(wait_s, turn - time.perf_counter(), 0))
    return tally


def claim_and_settle(load: Load, process: int) -> Tally:
    return on_connections(load, process, claiming)


def claim_by_textbook(load: Load, process: int) -> Tally:
    return on_connections(load, process, claiming_by_textbook)


def submit_on_several(load: Load, process: int) -> Tally:
    return on_connections(load, process, submitting)


def submit_on_one(load: Load, process: int) -> Tally:
    return on_connections(load, process, submitting, connections=1)


def on_connections(
    load: Load,
    process: int,
    work: Callable[[Load, Database, int], Awaitable[Tally]],
    connections: int = CONNECTIONS_EACH,
) -> Tally:
    async def all_of_them() -> Tally:
        async with await Database.connect(load.world.dsn, size=connections) as database:
            numbers = (process * connections + one for one in range(connections))
            return total(await asyncio.gather(*(work(load, database, number) for number in numbers)))

    before = time.process_time()
    tally = asyncio.run(all_of_them())
    tally.cpu_s = time.process_time() - before
    return tally


async def claiming(load: Load, database: Database, client: int) -> Tally:
    claimer = Claimer(database, SystemClock(), f"client-{client}", LEASE)
    random = random_from(client)

    async def step() -> Step:
        asked = time.perf_counter()
        claimed = await claimer.claim(load.batch)
        took = time.perf_counter() - asked
        if claimed.leases:
            await settle(database, [settlement_of(lease, FAILED, VISIT, AT_ONCE, random) for lease in claimed.leases])
        wait = claimed.come_back_in or timedelta()
        return Step(len(claimed.leases), took, 0 if claimed.leases else wait.total_seconds())

    return await keep_calling(load, client, step)


async def claiming_by_textbook(load: Load, database: Database, client: int) -> Tally:
    async def step() -> Step:
        asked = time.perf_counter()
        entry = await database.fetchval(TEXTBOOK_CLAIM)
        took = time.perf_counter() - asked
        if entry is not None:
            await database.execute(TEXTBOOK_SETTLE, entry)
        return Step(int(entry is not None), took)

    return await keep_calling(load, client, step)


async def submitting(load: Load, database: Database, client: int) -> Tally:
    random = random_from(f"{client} {time.time_ns()}")
    # Apart from every other client's and every other run's, so that what is meant to be new is new.
    fresh = count(load.world.entries + random.randrange(10**6, 10**15) * 100)
    submitter = Submitter(await any_source(load.world), EntryOrigin.FEED)
    outcomes: Counter[str] = Counter()

    async def step() -> Step:
        found = [FoundUrl(url) for url in raw_urls(load.world, load.batch, fresh, random)]
        began = time.perf_counter()
        async with database.transaction() as connection:
            answers = await submit(connection, submitter, found)
        outcomes.update(str(answer.outcome) for answer in answers)
        return Step(len(answers), time.perf_counter() - began)

    tally = await keep_calling(load, client, step)
    tally.outcomes = outcomes
    return tally


async def any_source(world: World) -> UUID:
    async with plain_connection(world.dsn) as connection:
        source: UUID = await connection.fetchval("select id from sources limit 1")
        return source


def raw_urls(world: World, wanted: int, fresh: "count[int]", random: Random) -> list[str]:
    """As feeds give them; `DUPLICATES` of them are in the queue already."""
    known = round(wanted * DUPLICATES)
    numbers = [random.randrange(world.entries) for _ in range(known)] + [next(fresh) for _ in range(wanted - known)]
    return [world.url(number) + ("?utm_source=rss" if number % 3 == 0 else "") for number in numbers]
