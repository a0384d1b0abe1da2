"""Each protection taken away once: the scenario that passes with it must show the harm without it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import pytest
from tests.integration.frontier.invariants import broken_invariants
from tests.integration.frontier.stage import LEASE, Stage, add_source, everything
from tests.integration.frontier.surgery import (
    STOP_HERE,
    alter,
    closed_gate,
    held_rows,
    somebody_waits_for_a_row,
    until,
    waiting_for_a_row,
)

from headwater.database.pool import Database
from headwater.frontier.control import WAITING, EntryKey, change
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.verdicts import Dead, Fetched
from headwater.urls.canonical import canonicalise

PAGE = "https://a.example/1"
SKIP = "for update skip locked"
CHOICE_OF_HOSTS = "order by h.wake_at limit v_left\n                  "
CHOICE_OF_ENTRIES = "order by f.next_fetch_at limit o.room\n                    "
STATUS_AGAIN = "and f.url_hash = c.url_hash and f.status in ('pending', 'failed')\n            returning"
FENCE = "t.bucket = g.bucket and t.token = g.token and t.host = g.host and t.expires_at > v_now"


@dataclass(frozen=True)
class Bare:
    """Like the stage, but nobody checks at the end: here things are meant to break."""

    stage: Stage
    address: str

    async def problems(self) -> list[str]:
        return await broken_invariants(self.stage.database, self.stage.now)


Scenario = Callable[[Bare], Awaitable[list[str]]]
Fault = tuple[str, tuple[str, str]]


@pytest.fixture
async def bare(database: Database, database_url: str) -> Bare:
    return Bare(Stage(database, await add_source(database)), database_url)


async def a_frozen_worker_answers_late(bare: Bare) -> list[str]:
    stage = bare.stage
    await stage.submit(PAGE)
    frozen = await stage.claim_one("frozen")
    stage.wait(LEASE.total_seconds())
    await stage.rescue()
    stage.wait(5)
    assert await stage.claim_suspect("bob")
    return await what_changes_by(stage, lambda: stage.settle(frozen, Dead(DeadReason.GONE)))


async def a_worker_answers_after_its_lease(bare: Bare) -> list[str]:
    stage = bare.stage
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    stage.wait(LEASE.total_seconds())
    return await what_changes_by(stage, lambda: stage.settle(lease))


async def what_changes_by(stage: Stage, work: Callable[[], Awaitable[object]]) -> list[str]:
    before = await everything(stage.database)
    await work()
    after = await everything(stage.database)
    return [table for table in before if before[table] != after[table]]


async def two_claims_wait_for_one_entry(bare: Bare) -> list[str]:
    """Both have chosen it before either could take it."""
    stage = bare.stage
    await stage.submit(PAGE)
    async with held_rows(bare.address, "url_frontier"):
        claims = [asyncio.create_task(stage.claim(1, owner)) for owner in ("ann", "bob")]
        await until(lambda: _all_done_or(claims, lambda: waiting_for_a_row(stage.database)))
    leased = Counter(lease.url for leases in await asyncio.gather(*claims) for lease in leases)
    return [f"{url} leased {times} times" for url, times in leased.items() if times > 1]


async def two_claims_look_at_one_host(bare: Bare) -> list[str]:
    """Somebody else is at its row for a moment: whoever does not mind takes an entry, and then another one."""
    stage = bare.stage
    await stage.submit(PAGE, "https://a.example/2")
    async with held_rows(bare.address, "hosts"):
        claims = [asyncio.create_task(stage.claim(1, owner)) for owner in ("ann", "bob")]
        await until(lambda: _all_done_or(claims, lambda: waiting_for_a_row(stage.database)))
    leases = [lease for leases in await asyncio.gather(*claims) for lease in leases]
    return ["one host, two requests at a time"] if len(leases) > 1 else []


async def a_resume_meets_a_settle(bare: Bare) -> list[str]:
    """To the resume the host is still full, to the settle nothing waits; only the lock makes one see the other."""
    stage = bare.stage
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    await stage.submit("https://a.example/2")
    second = canonicalise("https://a.example/2")
    keys = [EntryKey(second.bucket, second.url_hash)]
    await change(stage.database, keys, before=WAITING, held="paused", now=stage.now)
    stage.wait(5)
    await alter(stage.database, "settle_requests", ("return v_tokens;", f"{STOP_HERE} return v_tokens;"))
    async with closed_gate(bare.address) as somebody_stopped:
        settling = asyncio.create_task(stage.settle(lease))
        await somebody_stopped()
        resuming = asyncio.create_task(change(stage.database, keys, before=WAITING, now=stage.now))
        waiting = asyncio.create_task(somebody_waits_for_a_row(stage.database))
        await asyncio.wait([resuming, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
    await asyncio.gather(settling, resuming)
    return await bare.problems()


async def empty_hosts_stand_at_the_head(bare: Bare) -> list[str]:
    stage = bare.stage
    await stage.submit(*(f"https://e{n}.example/" for n in range(4)))
    await stage.database.execute("DELETE FROM url_frontier; DELETE FROM counter_deltas; DELETE FROM discoveries")
    stage.wait(1)
    await stage.submit(PAGE)
    return [] if await stage.claim(4) else ["no claim gets past them"]


async def one_call_settles_two_entries_of_a_host(bare: Bare) -> list[str]:
    stage = bare.stage
    await stage.submit(PAGE, "https://a.example/2")
    await stage.set_host("a.example", max_concurrency=2)
    await stage.settle_all([(lease, Fetched()) for lease in await stage.claim(2)])
    return await bare.problems()


FAULTS: list[tuple[Scenario, list[Fault]]] = [
    (
        a_frozen_worker_answers_late,
        [
            ("settle_requests", (FENCE, "t.bucket = g.bucket and t.host = g.host")),
            ("settle_requests", ("e.url_hash = x.url_hash and e.token = x.token", "e.url_hash = x.url_hash")),
        ],
    ),
    (a_worker_answers_after_its_lease, [("settle_requests", (" and t.expires_at > v_now", ""))]),
    (
        two_claims_wait_for_one_entry,
        [
            ("claim_entries", (CHOICE_OF_HOSTS + SKIP, CHOICE_OF_HOSTS)),
            ("claim_entries", (CHOICE_OF_ENTRIES + SKIP, CHOICE_OF_ENTRIES)),
            ("claim_entries", (STATUS_AGAIN, "and f.url_hash = c.url_hash\n            returning")),
        ],
    ),
    (two_claims_look_at_one_host, [("claim_entries", (CHOICE_OF_HOSTS + SKIP, CHOICE_OF_HOSTS))]),
    (a_resume_meets_a_settle, [("lock_hosts", ("for update) as locked", ") as locked"))]),
    (
        empty_hosts_stand_at_the_head,
        [("claim_entries", ("perform refresh_hosts(", "continue when v_found = 0; perform refresh_hosts("))],
    ),
    (
        one_call_settles_two_entries_of_a_host,
        [("settle_requests", ("in_flight = h.in_flight - f.n", "in_flight = h.in_flight - 1"))],
    ),
]
SCENARIOS = [pytest.param(*case, id=case[0].__name__) for case in FAULTS]


@pytest.mark.parametrize(("scenario", "faults"), SCENARIOS)
async def test_all_is_well_as_things_are(bare: Bare, scenario: Scenario, faults: list[Fault]) -> None:
    assert faults
    assert await scenario(bare) == []


@pytest.mark.parametrize(("scenario", "faults"), SCENARIOS)
async def test_the_fault_is_seen(bare: Bare, scenario: Scenario, faults: list[Fault]) -> None:
    for function, replacement in faults:
        await alter(bare.stage.database, function, replacement)
    assert await scenario(bare) != []


async def test_the_repeated_status_alone_prevents_a_double_lease(bare: Bare) -> None:
    *locks_gone, _ = next(faults for scenario, faults in FAULTS if scenario is two_claims_wait_for_one_entry)
    for function, replacement in locks_gone:
        await alter(bare.stage.database, function, replacement)
    assert await two_claims_wait_for_one_entry(bare) == []


async def _all_done_or(tasks: Sequence[asyncio.Task[list[Lease]]], count_waiting: Callable[[], Awaitable[int]]) -> bool:
    """Each of them has come to its end or to where it must wait."""
    return sum(task.done() for task in tasks) + await count_waiting() >= len(tasks)
