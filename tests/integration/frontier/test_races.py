"""Two or more connections at once, brought to the worst moment on purpose."""

import asyncio
from itertools import count

import pytest
from tests.integration.frontier.invariants import broken_invariants
from tests.integration.frontier.stage import AT_ONCE, Stage, seconds
from tests.integration.frontier.surgery import STOP_HERE, alter, closed_gate, somebody_waits_for_a_row

from headwater.chance import random_from
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.frontier.settle import settle
from headwater.frontier.submit import BATCH, FoundUrl, SubmitOutcome, Submitter, hold_hosts, submit
from headwater.frontier.verdicts import Fetched, Postponed, RetryPolicy, settlement_of

PAGE = "https://a.example/1"
BEFORE_THE_CHOICE = ("exit when v_hosts is null;", f"exit when v_hosts is null; {STOP_HERE}")
BEFORE_THE_LOCKS = ("perform hold_hosts(", f"{STOP_HERE} perform hold_hosts(")
AFTER_THE_FIRST_LOOK = ("as n;", f"as n; {STOP_HERE}")
AT_THE_START = ("for v_round in 1..50 loop", f"{STOP_HERE} for v_round in 1..50 loop")


async def test_a_submit_between_a_claims_lock_and_its_choice_waits_and_is_not_lost(
    stage: Stage, database_url: str
) -> None:
    await stage.submit(PAGE)
    await alter(stage.database, "claim_entries", BEFORE_THE_CHOICE)
    async with closed_gate(database_url) as somebody_stopped:
        claiming = asyncio.create_task(stage.claim(5))
        await somebody_stopped()
        submitting = asyncio.create_task(stage.submit("https://a.example/2", "https://b.example/1"))
        await somebody_waits_for_a_row(stage.database)
    assert [lease.url for lease in await claiming] == [PAGE]
    assert await submitting == [SubmitOutcome.QUEUED, SubmitOutcome.QUEUED]
    assert await broken_invariants(stage.database, stage.now) == []
    assert [lease.host for lease in await stage.claim(5)] == ["b.example"]


async def test_a_submit_just_before_the_lock_is_seen_by_the_choice(stage: Stage, database_url: str) -> None:
    """The choice has a snapshot of its own: it sees what was committed after the claim began."""
    await stage.submit(PAGE)
    await alter(stage.database, "claim_entries", AT_THE_START)
    async with closed_gate(database_url) as somebody_stopped:
        claiming = asyncio.create_task(stage.claim(1))
        await somebody_stopped()
        await stage.submit("https://a.example/better", origin=EntryOrigin.FEED)
    assert [lease.url for lease in await claiming] == ["https://a.example/better"]


async def test_two_claims_at_once_never_share_a_host(stage: Stage, database_url: str) -> None:
    await stage.submit(PAGE, "https://a.example/2")
    await alter(stage.database, "claim_entries", BEFORE_THE_CHOICE)
    async with closed_gate(database_url) as somebody_stopped:
        first = asyncio.create_task(stage.claim(5, "ann"))
        await somebody_stopped()
        second = await stage.look(5, "bob")
        assert (second.leases, second.come_back_in) == ([], seconds(0.05))
    assert len(await first) == 1


async def test_a_duplicate_that_is_settled_meanwhile_is_not_changed_without_its_hosts_lock(
    stage: Stage, database_url: str
) -> None:
    """At the first look it is being fetched; before the second it is put off, and then it would be raised."""
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    await alter(stage.database, "submit_urls", AFTER_THE_FIRST_LOOK)
    async with closed_gate(database_url) as somebody_stopped:
        submitting = asyncio.create_task(stage.submit(PAGE))
        await somebody_stopped()
        assert await stage.settle(lease, Postponed(seconds(3600), PAGE, 0))
    assert await submitting == [SubmitOutcome.DUPLICATE]
    assert await broken_invariants(stage.database, stage.now) == []


async def test_one_new_url_from_two_submits_at_once_is_one_entry(stage: Stage, database_url: str) -> None:
    await alter(stage.database, "submit_urls", BEFORE_THE_LOCKS)
    async with closed_gate(database_url) as somebody_stopped:
        both = asyncio.gather(stage.submit(PAGE), stage.submit(PAGE))
        await somebody_stopped()
    assert sorted(outcome for (outcome,) in await both) == [SubmitOutcome.DUPLICATE, SubmitOutcome.QUEUED]


@pytest.mark.long
async def test_settling_and_claiming_in_opposite_orders_never_deadlocks(stage: Stage) -> None:
    """A deadlock would be an error here: PostgreSQL ends one of the two."""
    hosts = [f"h{n}.example" for n in range(12)]
    random, numbers = random_from(11), count()
    await stage.submit(*(f"https://{host}/{n}" for host in hosts for n in range(40)))
    await stage.database.execute("UPDATE hosts SET max_concurrency = 4, delay_ms = 0")

    async def submit_shuffled() -> None:
        shuffled = random.sample(hosts, len(hosts))
        await stage.submit(*(f"https://{host}/new/{next(numbers)}" for host in shuffled))

    async def settle_shuffled(leases: list[Lease]) -> None:
        shuffled = random.sample(leases, len(leases))
        assert await stage.settle_all([(lease, Fetched()) for lease in shuffled]) == len(leases)

    for _ in range(15):
        leases = random.sample(got := await stage.claim(40), len(got))
        halves = leases[::2], leases[1::2]
        await asyncio.gather(*map(settle_shuffled, halves), submit_shuffled(), submit_shuffled(), stage.rescue())


@pytest.mark.long
async def test_settling_with_outlinks_never_deadlocks_when_all_hosts_are_held_first(stage: Stage) -> None:
    hosts = [f"h{n}.example" for n in range(8)]
    random, numbers = random_from(12), count()
    await stage.submit(*(f"https://{host}/{n}" for host in hosts for n in range(20)))
    await stage.database.execute("UPDATE hosts SET max_concurrency = 4, delay_ms = 0")

    async def settle_with_outlinks(lease: Lease) -> None:
        links = [FoundUrl(f"https://{host}/link/{next(numbers)}") for host in random.sample(hosts, 5)]
        async with stage.database.transaction() as connection:
            await hold_hosts(connection, {lease.host, *hosts})
            settlement = settlement_of(lease, Fetched(), AT_ONCE, RetryPolicy(), random)
            assert await settle(connection, [settlement], stage.now)
            await submit(connection, Submitter(stage.source, EntryOrigin.SPIDER), links, now=stage.now)

    for _ in range(6):
        await asyncio.gather(*map(settle_with_outlinks, await stage.claim(10)))


@pytest.mark.long
async def test_calls_of_several_batches_in_opposite_orders_never_deadlock(stage: Stage) -> None:
    hosts = [f"h{n}.example" for n in range(300)]

    def found(order: list[str], name: str) -> list[FoundUrl]:
        return [FoundUrl(f"https://{host}/{name}/{n}") for host in order for n in range(BATCH // 300 + 2)]

    async def submit_all(items: list[FoundUrl]) -> None:
        assert len(items) > BATCH
        async with stage.database.transaction() as connection:
            await submit(connection, Submitter(stage.source, EntryOrigin.SITEMAP), items, now=stage.now)

    await asyncio.gather(submit_all(found(hosts, "up")), submit_all(found(hosts[::-1], "down")))
