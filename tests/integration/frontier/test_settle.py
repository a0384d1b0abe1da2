from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import asyncpg
import pytest
from tests.integration.frontier.invariants import counts, recount
from tests.integration.frontier.stage import AT_ONCE, LEASE, NEVER_BEGAN, Stage, everything, seconds

from headwater.errors import UsageError
from headwater.frontier.entry import DeadReason
from headwater.frontier.maintain import fold_counters, queue_revisits
from headwater.frontier.settle import settle
from headwater.frontier.verdicts import Dead, Fetched, HostSaysWait, Moved, Released, RetryLater, Unchanged, Verdict
from headwater.politeness.slots import Visit

PAGE = "https://a.example/1"
SPACING = seconds(1.03)


@pytest.mark.parametrize(
    ("verdict", "status", "reason"),
    [
        (Fetched(etag='"1"', content_hash=b"x" * 32), "fetched", None),
        (Unchanged(), "fetched", None),
        (Moved("https://b.example/"), "dead", "redirect"),
        (RetryLater("timeout"), "failed", "timeout"),
        (HostSaysWait(seconds(60)), "pending", None),
        (Dead(DeadReason.NOT_FOUND), "dead", "not_found"),
        (Released(), "pending", None),
    ],
)
async def test_each_verdict_moves_its_entry(stage: Stage, verdict: Verdict, status: str, reason: str | None) -> None:
    await stage.submit(PAGE)
    assert await stage.settle(await stage.claim_one(), verdict)
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["reason"]) == (status, reason)


async def test_only_so_many_failures_then_dead_with_what_failed_last(stage: Stage) -> None:
    await stage.submit(PAGE)
    for _ in range(4):
        stage.wait(86_400)
        await stage.settle(await stage.claim_one(), RetryLater("timeout", "no answer in 30 s"))
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["reason"], entry["retry_count"]) == ("dead", "max_retries", 4)
    assert "no answer in 30 s" in entry["last_error"]


async def test_what_is_given_back_is_as_it_was(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), RetryLater("timeout"))
    stage.wait(86_400)
    before = await stage.entry(PAGE)
    await stage.settle(await stage.claim_one(), Released(), NEVER_BEGAN)
    after = await stage.entry(PAGE)
    ignored = {"updated_at"}
    assert {k: v for k, v in after.items() if k not in ignored} == {k: v for k, v in before.items() if k not in ignored}
    assert await stage.database.fetchval("SELECT count(*) FROM fetch_log") == 1


async def test_two_entries_of_one_host_in_one_call_free_it_twice(stage: Stage) -> None:
    await stage.submit(PAGE, "https://a.example/2")
    await stage.set_host("a.example", max_concurrency=2)
    leases = await stage.claim(2)
    assert (await stage.host("a.example"))["in_flight"] == 2
    assert await stage.settle_all([(lease, Fetched()) for lease in leases]) == 2
    assert (await stage.host("a.example"))["in_flight"] == 0


async def test_one_token_named_twice_in_a_call_counts_once(stage: Stage) -> None:
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    assert await stage.settle_all([(lease, Fetched()), (lease, Fetched())]) == 1
    assert (await stage.entry(PAGE))["fetch_count"] == 1


async def test_a_settled_lease_cannot_be_settled_again(stage: Stage) -> None:
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    await stage.settle(lease)
    await stage.submit(PAGE)
    before = await everything(stage.database)
    assert not await stage.settle(lease, Dead(DeadReason.GONE))
    assert await everything(stage.database) == before


async def test_an_expired_lease_changes_nothing_even_before_its_rescue(stage: Stage) -> None:
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    stage.wait(LEASE.total_seconds())
    before = await everything(stage.database)
    assert not await stage.settle(lease, HostSaysWait(seconds(60)))
    assert await stage.extend(lease) == 0
    assert await everything(stage.database) == before


async def test_a_frozen_worker_that_wakes_late_changes_nothing(stage: Stage) -> None:
    await stage.submit(PAGE)
    frozen = await stage.claim_one("frozen")
    stage.wait(LEASE.total_seconds())
    await stage.rescue()
    stage.wait(2)
    lease = await stage.claim_suspect("bob")
    assert lease is not None
    before = await everything(stage.database)
    assert not await stage.settle(frozen, Dead(DeadReason.GONE))
    assert await stage.extend(frozen) == 0
    assert await everything(stage.database) == before
    assert await stage.settle(lease)


async def test_a_foreign_token_changes_nothing(stage: Stage) -> None:
    await stage.submit(PAGE, "https://b.example/1")
    lease, other = await stage.claim(2)
    before = await everything(stage.database)
    assert not await stage.settle(replace(lease, token=uuid4()))
    assert not await stage.settle(replace(lease, token=other.token))
    assert not await stage.settle(replace(lease, host=other.host))
    assert not await stage.settle(replace(lease, bucket=(lease.bucket + 1) % 256))
    assert await everything(stage.database) == before


async def test_settling_nothing_is_no_error(stage: Stage) -> None:
    assert await settle(stage.database, [], stage.now) == frozenset()


async def test_a_heartbeat_keeps_a_lease(stage: Stage) -> None:
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    for _ in range(5):
        stage.wait(50)
        assert await stage.extend(lease) == 1
        assert await stage.rescue() == (0, 0)
    assert await stage.settle(lease)


async def test_a_heartbeat_never_shortens_a_lease(stage: Stage) -> None:
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    assert await stage.extend(lease, lease=seconds(1)) == 1
    stage.wait(59)
    assert await stage.settle(lease)


@pytest.mark.parametrize("lease", [timedelta(), seconds(-5)])
async def test_a_heartbeat_of_no_length_is_refused(stage: Stage, lease: timedelta) -> None:
    with pytest.raises(UsageError, match="cannot be extended"):
        await stage.extend(lease=lease)


async def test_a_late_start_moves_the_next_slot(stage: Stage) -> None:
    await stage.submit(PAGE, "https://a.example/2")
    lease = await stage.claim_one()
    stage.wait(5)
    await stage.settle(lease, visit=replace(AT_ONCE, started_after=seconds(4)))
    assert (await stage.host("a.example"))["next_slot_at"] == stage.now - seconds(5) + seconds(4) + SPACING


async def test_a_slot_reserved_ahead_is_logged_and_spaced_from_its_real_start(stage: Stage) -> None:
    await stage.submit(PAGE, "https://a.example/2")
    await stage.set_host("a.example", delay_ms=8_000)
    await stage.settle(await stage.claim_one())
    asked_at = stage.now
    slot = await stage.reserve("a.example")
    stage.wait(8.03)
    started = slot.window.earliest
    assert slot.window.lateness(started) == timedelta()
    await stage.end(slot, visit=replace(AT_ONCE, started_after=slot.window.lateness(started)))
    logged = await stage.database.fetchval("SELECT started_at FROM fetch_log WHERE kind = 'feed'")
    assert logged == asked_at + seconds(8.03)
    assert (await stage.host("a.example"))["next_slot_at"] == asked_at + 2 * seconds(8.03)


async def test_retry_after_is_honoured_to_a_day_and_not_beyond(stage: Stage) -> None:
    await stage.submit(PAGE, "https://b.example/1", "https://c.example/1")
    waits = {"a.example": timedelta.max, "b.example": seconds(3), "c.example": seconds(-10)}
    leases = await stage.claim(3)
    await stage.settle_all([(lease, HostSaysWait(waits[lease.host])) for lease in leases])
    closed = {host: (await stage.host(host))["closed_until"] - stage.now for host in waits}
    assert closed == {"a.example": timedelta(hours=24), "b.example": seconds(3), "c.example": timedelta()}


async def test_a_retry_asked_for_by_the_server_is_capped_too(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), RetryLater("busy", asked_by_server=timedelta.max))
    wait = (await stage.entry(PAGE))["next_fetch_at"] - stage.now
    assert timedelta(hours=24) <= wait <= timedelta(hours=27)


async def test_a_feed_that_says_429_closes_and_slows_its_host(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.end(await stage.reserve("a.example"), close_for=timedelta.max)
    host = await stage.host("a.example")
    assert (host["closed_until"] - stage.now, host["penalty_ms"]) == (timedelta(hours=24), 2_000)


async def test_a_429_without_a_wait_still_slows_its_host(stage: Stage) -> None:
    await stage.end(await stage.reserve("a.example"), close_for=timedelta())
    assert (await stage.host("a.example"))["penalty_ms"] == 2_000


async def test_the_shorter_of_two_closures_does_not_open_the_host(stage: Stage) -> None:
    await stage.submit(PAGE, "https://a.example/2")
    await stage.set_host("a.example", max_concurrency=2)
    first, second = await stage.claim(2)
    await stage.settle(first, HostSaysWait(seconds(600)))
    await stage.settle(second, HostSaysWait(seconds(5)))
    assert (await stage.host("a.example"))["closed_until"] == stage.now + seconds(600)


async def test_the_penalty_doubles_to_five_minutes_and_halves_after_ten_good_answers(stage: Stage) -> None:
    await stage.submit(PAGE)
    penalties = []
    for _ in range(10):
        stage.wait(400)
        await stage.settle(await stage.claim_one(), HostSaysWait(timedelta()))
        penalties.append((await stage.host("a.example"))["penalty_ms"])
    assert penalties == [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]
    downs = []
    while (await stage.host("a.example"))["penalty_ms"]:
        for _ in range(10):
            stage.wait(400)
            await stage.end(await stage.reserve("a.example"))
        downs.append((await stage.host("a.example"))["penalty_ms"])
    assert downs == [150_000, 75_000, 37_500, 18_750, 9_375, 4_687, 2_343, 1_171, 0]


async def test_a_penalty_holds_from_the_very_next_request(stage: Stage) -> None:
    await stage.submit(PAGE, "https://a.example/2")
    await stage.settle(await stage.claim_one(), HostSaysWait(timedelta()))
    assert (await stage.look(owner="bob")).come_back_in == seconds(2.03)


async def test_a_304_keeps_the_validators_it_does_not_repeat(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), Fetched(etag='"1"', last_modified="Mon", revisit_in=seconds(60)))
    stage.wait(60)
    assert await queue_revisits(stage.database, stage.now) == 1
    lease = await stage.claim_one()
    assert (lease.etag, lease.last_modified) == ('"1"', "Mon")
    await stage.settle(lease, Unchanged(last_modified="Tue"))
    entry = await stage.entry(PAGE)
    assert (entry["etag"], entry["last_modified"], entry["fetch_count"]) == ('"1"', "Tue", 2)


async def test_counters_equal_a_recount_before_and_after_they_are_folded(stage: Stage) -> None:
    verdicts: list[Verdict] = [Fetched(), RetryLater("x"), Dead(DeadReason.GONE), Released(), HostSaysWait(seconds(9))]
    await stage.submit(*(f"https://h{n}.example/" for n in range(8)))
    leases = await stage.claim(6)
    await stage.settle_all(list(zip(leases, verdicts, strict=False)))
    expected = await recount(stage.database)
    assert await counts(stage.database) == expected
    assert await fold_counters(stage.database)
    assert await stage.database.fetchval("SELECT count(*) FROM counter_deltas") == 0
    assert await counts(stage.database) == expected
    assert {status: n for (_, status), n in expected.items()} == {
        "fetched": 1, "failed": 1, "dead": 1, "pending": 4, "fetching": 1
    }  # fmt: skip


async def test_every_finished_request_is_in_the_log_and_nothing_else(stage: Stage) -> None:
    await stage.submit(PAGE, "https://b.example/1")
    page, given_back = await stage.claim(2)
    await stage.settle(page, Fetched(), Visit(seconds(0.02), seconds(0.3), 200, 1_234))
    await stage.settle(given_back, Released(), NEVER_BEGAN)
    await stage.end(await stage.reserve("c.example"))
    rows = await stage.database.fetch(
        "SELECT host, kind, verdict, started_at, delay_ms, body_bytes FROM fetch_log ORDER BY kind"
    )
    assert [(row["host"], row["kind"], row["verdict"], row["body_bytes"]) for row in rows] == [
        ("c.example", "feed", "polled", 4_000),
        (page.host, "page", "fetched", 1_234),
    ]
    assert [row["started_at"] - stage.now for row in rows] == [timedelta(), seconds(0.02)]


async def test_a_penalty_does_not_earn_a_spent_burst_anew(stage: Stage) -> None:
    await stage.submit(PAGE, "https://a.example/2", "https://a.example/3", "https://a.example/4")
    await stage.set_host("a.example", burst=3)
    await stage.settle(await stage.claim_one())
    await stage.settle(await stage.claim_one())
    await stage.settle(await stage.claim_one(), HostSaysWait(timedelta()))
    assert (await stage.look(owner="bob")).come_back_in == seconds(2.03)


async def test_a_lease_that_is_locked_by_its_own_settlement_holds(stage: Stage, database_url: str) -> None:
    """Otherwise a heartbeat would end work in the middle of its last statement."""
    await stage.submit(PAGE, "https://b.example/1")
    first, second = await stage.claim(2)
    stage.wait(30)
    connection = await asyncpg.connect(database_url)
    async with connection.transaction():
        await connection.execute("select 1 from slots where token = $1 for update", first.token)
        assert await stage.extend(first, second) == 2
    await connection.close()
    stage.wait(LEASE.total_seconds() - 1)
    # The one that was locked was not extended, and nobody waited for it.
    assert await stage.extend(first, second) == 1
