from datetime import timedelta

import pytest
from tests.integration.frontier.stage import LEASE, Stage, seconds

from headwater.errors import UsageError
from headwater.frontier.claim import LARGEST_BATCH, MARKS_HOLD, Claimer
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.frontier.maintain import promote
from headwater.frontier.submit import FoundUrl
from headwater.frontier.verdicts import Postponed
from headwater.politeness.slots import LEASE_MARGIN
from headwater.urls.fingerprint import bucket_of

SPACING = seconds(1.03)


def urls(leases: list[Lease]) -> list[str]:
    return [lease.url for lease in leases]


def starts(leases: list[Lease], stage: Stage) -> list[float]:
    return sorted(round(lease.window.earliest - stage.clock.monotonic(), 3) for lease in leases)


async def test_the_best_host_comes_first_then_the_one_that_waited_longest(stage: Stage) -> None:
    low, high = await stage.add_source(priority=2), await stage.add_source(priority=9)
    await stage.submit("https://a.example/1", source=low)
    stage.wait(1)
    await stage.submit("https://b.example/1", source=low)
    await stage.submit("https://c.example/1", source=high)
    got = [(await stage.claim_one()).host for _ in range(3)]
    assert got == ["c.example", "a.example", "b.example"]


async def test_inside_a_host_the_best_entry_comes_first_then_the_one_due_longest(stage: Stage) -> None:
    await stage.submit("https://a.example/late", FoundUrl("https://a.example/early", due_in=seconds(-5)))
    await stage.submit("https://a.example/feed", origin=EntryOrigin.FEED)
    got = []
    for _ in range(3):
        lease = await stage.claim_one()
        got.append(lease.url.rpartition("/")[2])
        await stage.settle(lease)
        stage.wait(2)
    assert got == ["feed", "early", "late"]


async def test_one_entry_of_each_host_and_none_within_the_delay(stage: Stage) -> None:
    await stage.submit("https://a.example/1", "https://a.example/2", "https://b.example/1")
    leases = await stage.claim(10)
    assert sorted(lease.host for lease in leases) == ["a.example", "b.example"]
    assert await stage.claim(10) == []
    for lease in leases:
        await stage.settle(lease)
    looked = await stage.look(10)
    assert (looked.leases, looked.come_back_in) == ([], SPACING)
    stage.wait(SPACING.total_seconds())
    assert len(await stage.claim(10)) == 1


async def test_a_host_stays_closed_while_its_only_request_runs(stage: Stage) -> None:
    await stage.submit("https://a.example/1", "https://a.example/2")
    lease = await stage.claim_one()
    stage.wait(30)
    assert (await stage.look(owner="bob")).come_back_in is None
    await stage.settle(lease)
    assert len(await stage.claim()) == 1


@pytest.mark.parametrize(("empty", "limit"), [(10, 10), (40, 1), (300, 10)])
async def test_empty_hosts_at_the_head_do_not_stop_a_claim(stage: Stage, empty: int, limit: int) -> None:
    await stage.submit(*(f"https://e{n}.example/" for n in range(empty)))
    # Gone behind the hosts' backs: each host's row still says that something is due.
    await stage.database.execute("DELETE FROM url_frontier; DELETE FROM counter_deltas; DELETE FROM discoveries")
    stage.wait(1)
    await stage.submit("https://a.example/1")
    assert [lease.host for lease in await stage.claim(limit)] == ["a.example"]


async def test_a_better_entry_due_later_does_not_hide_one_due_now(stage: Stage) -> None:
    await stage.submit(FoundUrl("https://a.example/better", due_in=timedelta(days=1)), origin=EntryOrigin.FEED)
    await stage.submit("https://a.example/now")
    assert urls(await stage.claim()) == ["https://a.example/now"]


async def test_a_host_rises_when_something_better_falls_due_while_it_waits(stage: Stage) -> None:
    middle = await stage.add_source(priority=6)
    await stage.submit("https://a.example/now")
    await stage.submit(FoundUrl("https://a.example/better", due_in=seconds(60)), origin=EntryOrigin.FEED)
    await stage.submit("https://b.example/1", source=middle)
    assert (await stage.host("a.example"))["promote_at"] == stage.now + seconds(60)
    assert await promote(stage.database, stage.now) == 0
    stage.wait(60)
    assert await promote(stage.database, stage.now) == 1
    assert (await stage.host("a.example"))["priority"] == 7
    assert [lease.url for lease in (await stage.claim(1))] == ["https://a.example/better"]


async def test_a_host_that_waits_unpromoted_still_gives_its_best_entry(stage: Stage) -> None:
    await stage.submit("https://a.example/now")
    await stage.submit(FoundUrl("https://a.example/better", due_in=seconds(60)), origin=EntryOrigin.FEED)
    stage.wait(60)
    assert urls(await stage.claim()) == ["https://a.example/better"]


async def test_a_promoted_host_is_not_left_behind_the_marks_of_its_new_level(stage: Stage) -> None:
    """It has waited for long on its old level; on the new one nobody looks that far back."""
    top = await stage.add_source(priority=7)
    await stage.submit("https://a.example/now")
    await stage.submit(FoundUrl("https://a.example/better", due_in=seconds(60)), origin=EntryOrigin.FEED)
    stage.wait(55)
    await stage.submit("https://b.example/1", "https://c.example/1", source=top)
    await stage.claim_one()
    await stage.claim_one()
    stage.wait(6)
    await promote(stage.database, stage.now)
    assert urls(await stage.claim()) == ["https://a.example/better"]


async def test_a_host_that_opened_behind_the_marks_is_found_once_they_are_old(stage: Stage) -> None:
    await stage.submit("https://a.example/1")
    await stage.claim_one()
    await stage.submit("https://b.example/1")
    # As left by a transaction that judged a while ago and committed only now.
    await stage.database.execute(
        "UPDATE hosts SET wake_at = $1::timestamptz - interval '5 seconds' WHERE host = 'b.example'", stage.now
    )
    looked = await stage.look()
    assert (looked.leases, looked.come_back_in) == ([], MARKS_HOLD)
    stage.wait(MARKS_HOLD.total_seconds() + 0.001)
    assert [lease.host for lease in await stage.claim()] == ["b.example"]


async def test_a_claim_can_be_limited_to_one_bucket(stage: Stage) -> None:
    hosts = [f"h{n}.example" for n in range(20)]
    await stage.submit(*(f"https://{host}/" for host in hosts))
    bucket = bucket_of(hosts[3])
    claimer = Claimer(stage.database, stage.clock, "ann", LEASE, bucket)
    got = {lease.host for lease in (await claimer.claim(20, stage.now)).leases}
    assert got == {host for host in hosts if bucket_of(host) == bucket}
    assert (await claimer.claim(20, stage.now)).leases == []


async def test_several_requests_at_a_time_still_start_a_delay_apart(stage: Stage) -> None:
    await stage.submit(*(f"https://a.example/{n}" for n in range(10)))
    await stage.set_host("a.example", max_concurrency=4)
    leases = await stage.claim(10)
    assert starts(leases, stage) == [0.0, 1.03, 2.06, 3.09]
    assert not any(lease.window.allows(lease.window.earliest + 0.031) for lease in leases)
    stage.wait(2)
    await stage.settle(leases[0])
    assert await stage.claim(10) == []
    stage.wait(2.12)
    assert starts(await stage.claim(10), stage) == [0.0]


async def test_nothing_is_granted_further_ahead_than_ten_seconds(stage: Stage) -> None:
    await stage.submit(*(f"https://a.example/{n}" for n in range(30)))
    await stage.set_host("a.example", max_concurrency=30, burst=3)
    leases = await stage.claim(30)
    assert starts(leases, stage)[:4] == [0.0, 0.0, 0.0, 1.03]
    assert starts(leases, stage)[-1] <= 10


async def test_a_spent_burst_grants_no_further_ahead_either(stage: Stage) -> None:
    await stage.submit(*(f"https://a.example/{n}" for n in range(30)))
    await stage.set_host("a.example", max_concurrency=30, burst=5, delay_ms=4_000)
    first = await stage.claim(5)
    assert starts(first, stage) == [0.0] * 5
    stage.wait(4.03)
    assert starts(await stage.claim(30), stage) == [0.0, 4.03, 8.06]


async def test_nothing_is_granted_beyond_the_middle_of_its_lease(stage: Stage) -> None:
    await stage.submit(*(f"https://a.example/{n}" for n in range(30)))
    await stage.set_host("a.example", max_concurrency=30)
    leases = (await Claimer(stage.database, stage.clock, "ann", seconds(6), None).claim(30, stage.now)).leases
    assert starts(leases, stage) == [0.0, 1.03, 2.06]
    assert all(lease.window.latest <= stage.clock.monotonic() + 1 for lease in leases)


async def test_a_burst_starts_at_once_and_is_earned_back_slowly(stage: Stage) -> None:
    await stage.submit(*(f"https://a.example/{n}" for n in range(10)))
    await stage.set_host("a.example", burst=3)
    for _ in range(3):
        await stage.settle(await stage.claim_one())
    assert (await stage.look()).come_back_in == SPACING
    stage.wait(SPACING.total_seconds())
    await stage.settle(await stage.claim_one())
    assert await stage.claim() == []


async def test_a_host_without_a_delay_gives_as_much_as_it_may_at_a_time(stage: Stage) -> None:
    await stage.submit(*(f"https://a.example/{n}" for n in range(10)), delay=timedelta())
    await stage.set_host("a.example", max_concurrency=7)
    assert starts(await stage.claim(10), stage) == [0.0] * 7


async def test_an_entry_of_a_paused_source_is_set_aside_and_others_go_on(stage: Stage) -> None:
    active = await stage.add_source()
    await stage.submit("https://a.example/1", origin=EntryOrigin.FEED)
    await stage.submit("https://a.example/2", source=active)
    await stage.set_source("paused")
    assert urls(await stage.claim()) == ["https://a.example/2"]
    assert await stage.state("https://a.example/1") == ("pending", "paused")


async def test_when_to_come_back_is_the_next_moment_something_opens(stage: Stage) -> None:
    await stage.submit(
        FoundUrl("https://a.example/1", due_in=seconds(90)), FoundUrl("https://b.example/1", due_in=seconds(40))
    )
    assert (await stage.look()).come_back_in == seconds(40)


async def test_an_empty_frontier_says_that_nothing_is_waiting(stage: Stage) -> None:
    assert (await stage.look()).come_back_in is None


@pytest.mark.parametrize("limit", [0, -1, LARGEST_BATCH + 1])
async def test_an_impossible_batch_is_refused(stage: Stage, limit: int) -> None:
    with pytest.raises(UsageError, match="not possible"):
        await stage.claim(limit)


@pytest.mark.parametrize("lease", [timedelta(), seconds(-1), LEASE_MARGIN])
async def test_a_lease_too_short_to_work_under_is_refused(stage: Stage, lease: timedelta) -> None:
    with pytest.raises(UsageError, match="too short"):
        Claimer(stage.database, stage.clock, "ann", lease)


async def test_a_new_delay_holds_from_the_last_request_on(stage: Stage) -> None:
    """robots.txt is itself a request: a Crawl-delay learned from it counts from there."""
    await stage.submit("https://a.example/1")
    await stage.end(await stage.reserve("a.example"))
    await stage.database.execute(
        "INSERT INTO host_policies (bucket, host, crawl_delay_ms) VALUES ($1, 'a.example', 20000)",
        bucket_of("a.example"),
    )
    await stage.database.execute(
        "SELECT apply_host_policy($1::smallint, 'a.example', 1000, $2)", bucket_of("a.example"), stage.now
    )
    assert (await stage.look(owner="bob")).come_back_in == seconds(20.03)


async def test_what_is_given_back_for_later_does_not_wake_its_host_now(stage: Stage) -> None:
    await stage.submit("https://a.example/1")
    await stage.settle(await stage.claim_one(), Postponed(seconds(120), "https://a.example/2", 1))
    assert (await stage.host("a.example"))["wake_at"] == stage.now + seconds(120)
