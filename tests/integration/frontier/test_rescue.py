from tests.integration.frontier.stage import LEASE, NEVER_BEGAN, Stage, seconds

from headwater.database.heartbeat import Heartbeat
from headwater.frontier.control import set_aside
from headwater.frontier.settle import release_all_but
from headwater.frontier.submit import FoundUrl
from headwater.frontier.verdicts import Fetched, Released, RetryLater

PAGE = "https://a.example/1"


async def die(stage: Stage) -> tuple[int, int]:
    """Everybody who holds something is gone, and it is noticed."""
    stage.wait(LEASE.total_seconds())
    return await stage.rescue()


async def test_a_dead_process_frees_its_host(stage: Stage) -> None:
    await stage.submit(PAGE)
    slot = await stage.reserve("a.example")
    assert await stage.claim() == []
    assert await die(stage) == (1, 0)
    assert not await stage.end(slot)
    assert (await stage.host("a.example"))["in_flight"] == 0
    assert await stage.claim() == []
    stage.wait(1.03)
    assert len(await stage.claim()) == 1


async def test_nothing_is_rescued_before_its_time(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    stage.wait(LEASE.total_seconds() - 0.001)
    assert await stage.rescue() == (0, 0)


async def test_a_crash_is_not_a_failure_of_the_url(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), RetryLater("timeout"))
    stage.wait(86_400)
    await stage.claim_one()
    await die(stage)
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["held"], entry["retry_count"], entry["crash_count"]) == ("failed", "suspect", 1, 1)


async def test_a_suspect_is_left_out_of_ordinary_claims(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    stage.wait(10)
    assert await stage.claim(10) == []
    assert await stage.claim_suspect() is not None


async def test_a_suspect_goes_only_to_a_worker_that_holds_nothing_else(stage: Stage) -> None:
    await stage.submit(PAGE, "https://b.example/1")
    await stage.claim(2)
    await die(stage)
    stage.wait(10)
    await stage.submit("https://c.example/1")
    busy = await stage.claim_one("ann")
    assert await stage.claim_suspect("ann") is None
    assert await stage.claim_suspect("bob") is not None
    assert await stage.claim_suspect("bob") is None
    await stage.settle(busy)
    assert await stage.claim_suspect("ann") is not None


async def test_a_second_death_alone_is_poison(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    assert await die(stage) == (1, 0)
    stage.wait(10)
    assert await stage.claim_suspect() is not None
    assert await die(stage) == (1, 1)
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["reason"], entry["held"]) == ("dead", "poison", None)


async def test_a_suspect_that_survives_is_free_of_suspicion(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    stage.wait(10)
    lease = await stage.claim_suspect()
    assert lease is not None
    await stage.settle(lease, Fetched())
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["held"], entry["crash_count"]) == ("fetched", None, 0)


async def test_a_suspect_given_back_unworked_stays_one(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    stage.wait(10)
    lease = await stage.claim_suspect()
    assert lease is not None
    await stage.settle(lease, Released(), NEVER_BEGAN)
    assert await stage.state(PAGE) == ("pending", "suspect")


async def test_a_suspect_keeps_its_hosts_delay_closure_and_turn(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    assert await stage.claim_suspect() is None
    stage.wait(1.03)
    await stage.set_host("a.example", closed_until=stage.now + seconds(5))
    assert await stage.claim_suspect() is None
    stage.wait(5)
    await stage.set_host("a.example", yield_until=stage.now + seconds(1))
    assert await stage.claim_suspect() is None
    stage.wait(1)
    lease = await stage.claim_suspect()
    assert lease is not None
    assert lease.window.allows(stage.clock.monotonic() + 30)
    assert (await stage.host("a.example"))["next_slot_at"] == stage.now + seconds(1.03)


async def test_a_suspect_of_a_paused_source_waits_and_stays_a_suspect(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    await stage.set_source("paused")
    await set_aside(stage.database, stage.source)
    assert await stage.state(PAGE) == ("pending", "suspect")
    stage.wait(10)
    assert await stage.claim_suspect() is None


async def test_a_change_announced_to_a_dead_worker_is_not_lost(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    stage.wait(5)
    await stage.submit(FoundUrl(PAGE, changed_at=stage.now))
    await die(stage)
    stage.wait(10)
    lease = await stage.claim_suspect()
    assert lease is not None
    await stage.settle(lease, Fetched())
    assert await stage.state(PAGE) == ("fetched", None)


async def test_a_crash_is_noted_in_the_log(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    row = await stage.database.fetchrow("SELECT verdict, reason, owner FROM fetch_log")
    assert row is not None
    assert tuple(row) == ("crashed", "lease_expired", "ann")


async def test_what_its_owner_does_not_know_of_is_given_back_without_blame(stage: Stage) -> None:
    await stage.submit(PAGE, "https://b.example/1", "https://c.example/1")
    await stage.claim_one("bob")
    first, second = await stage.claim(2, "ann")
    assert await release_all_but(stage.database, "ann", [first.token], stage.now) == 1
    entry = await stage.entry(second.url)
    assert (entry["status"], entry["held"], entry["crash_count"]) == ("pending", None, 0)
    assert not await stage.settle(second)
    # Whether it was asked for is not known: its host rests a whole delay.
    assert await stage.claim(2, "ann") == []
    stage.wait(1.03)
    assert len(await stage.claim(2, "ann")) == 1
    assert await stage.settle(first)


async def test_a_suspect_that_its_owner_does_not_know_of_stays_one(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    stage.wait(10)
    assert await stage.claim_suspect() is not None
    stage.wait(LEASE.total_seconds() + 1)
    assert await release_all_but(stage.database, "ann", [], stage.now) == 1
    assert await stage.state(PAGE) == ("pending", "suspect")
    assert await stage.rescue() == (0, 0)


async def test_slots_that_are_no_entrys_are_left_to_whoever_holds_them(stage: Stage) -> None:
    slot = await stage.reserve("a.example")
    assert await release_all_but(stage.database, "poller", [], stage.now) == 0
    assert await stage.end(slot)


async def test_what_a_living_owner_lost_is_given_back_as_it_was(stage: Stage) -> None:
    """It lost its way to the database for longer than a lease, and not its life."""
    await stage.submit(PAGE, "https://b.example/1")
    await stage.claim_one("bob")
    async with Heartbeat(stage.database, "ann", 30):
        await stage.claim_one("ann")
        stage.wait(LEASE.total_seconds())
        assert await stage.rescue(LEASE) == (2, 0)
    states = {str(await stage.state(url)) for url in (PAGE, "https://b.example/1")}
    assert states == {str(("pending", None)), str(("pending", "suspect"))}
    assert await stage.database.fetch("select owner from fetch_log where verdict = 'crashed' and owner = 'ann'") == []


async def test_a_suspect_that_a_living_owner_lost_stays_one(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.claim_one()
    await die(stage)
    stage.wait(10)
    async with Heartbeat(stage.database, "ann", 30):
        assert await stage.claim_suspect("ann") is not None
        stage.wait(LEASE.total_seconds())
        assert await stage.rescue(LEASE) == (1, 0)
    assert await stage.state(PAGE) == ("pending", "suspect")


async def test_an_owner_that_was_stopped_counts_as_dead_when_its_heart_beats_no_more(stage: Stage) -> None:
    await stage.submit(PAGE)
    async with Heartbeat(stage.database, "ann", 30):
        await stage.claim_one("ann")
        stage.wait(LEASE.total_seconds())
        assert await stage.rescue(seconds(0)) == (1, 0)
    assert await stage.state(PAGE) == ("pending", "suspect")


async def test_what_waited_for_its_slot_when_its_worker_died_is_no_suspect(stage: Stage) -> None:
    await stage.submit(PAGE, "https://a.example/2", "https://a.example/3")
    await stage.set_host("a.example", max_concurrency=3)
    leases = sorted(await stage.claim(3), key=lambda lease: lease.window.earliest)
    stage.wait(LEASE.total_seconds())
    assert await stage.rescue(LEASE) == (3, 0)
    states = [await stage.state(lease.url) for lease in leases]
    assert states == [("pending", "suspect"), ("pending", None), ("pending", None)]


async def test_a_second_death_suspects_also_what_seemed_to_wait(stage: Stage) -> None:
    """Its worker may have died before it showed a sign of life again."""
    await stage.submit(PAGE, "https://a.example/2")
    await stage.set_host("a.example", max_concurrency=2)
    _, waited = sorted(await stage.claim(2), key=lambda lease: lease.window.earliest)
    stage.wait(LEASE.total_seconds())
    await stage.rescue(LEASE)
    assert await stage.state(waited.url) == ("pending", None)
    stage.wait(2)
    await stage.submit(FoundUrl("https://a.example/3", priority=10))
    assert [lease.url for lease in await stage.claim(2)][-1] == waited.url
    stage.wait(LEASE.total_seconds())
    await stage.rescue(LEASE)
    assert await stage.state(waited.url) == ("pending", "suspect")


async def test_an_entry_that_living_owners_lose_again_and_again_is_poison_in_the_end(stage: Stage) -> None:
    await stage.submit(PAGE)
    states = []
    async with Heartbeat(stage.database, "ann", 30):
        for _ in range(10):
            assert await stage.claim(1, "ann") or await stage.claim_suspect("ann")
            stage.wait(LEASE.total_seconds())
            await stage.rescue(LEASE)
            stage.wait(10)
            states.append(await stage.state(PAGE))
    assert states == [*[("pending", None)] * 4, *[("pending", "suspect")] * 5, ("dead", None)]
