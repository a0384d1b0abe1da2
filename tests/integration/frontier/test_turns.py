"""Claims and reservations share a host: neither may starve the other."""

import pytest
from tests.integration.frontier.stage import LEASE, Stage, seconds

from headwater.frontier.submit import FoundUrl
from headwater.politeness.slots import NotBefore, Slot

HOST = "a.example"
SPACING = 1.03


async def busy(stage: Stage, pages: int = 10) -> None:
    await stage.submit(*(f"https://{HOST}/{n}" for n in range(pages)))


async def test_a_refused_reservation_gets_the_next_turn(stage: Stage) -> None:
    await busy(stage)
    lease = await stage.claim_one()
    refusal = await stage.refused(HOST)
    assert (refusal.why, refusal.wait) == ("full", seconds(SPACING))
    await stage.settle(lease)
    stage.wait(SPACING)
    assert await stage.claim() == []
    assert (await stage.reserve(HOST)).window.earliest == stage.clock.monotonic()


async def test_after_a_reservation_a_claim_gets_its_turn(stage: Stage) -> None:
    await busy(stage)
    lease = await stage.claim_one()
    await stage.refused(HOST)
    await stage.settle(lease)
    stage.wait(SPACING)
    slot = await stage.reserve(HOST)
    await stage.end(slot)
    refusal = await stage.refused(HOST)
    assert (refusal.why, refusal.wait) == ("turn", seconds(SPACING + 1))
    stage.wait(SPACING)
    assert len(await stage.claim()) == 1


async def test_a_claim_that_does_not_come_loses_its_turn(stage: Stage) -> None:
    await busy(stage)
    await stage.end(await stage.reserve(HOST))
    stage.wait((await stage.refused(HOST)).wait.total_seconds())
    assert isinstance(await stage.ask(HOST), Slot)


async def test_a_reservation_that_does_not_come_back_holds_nobody_up(stage: Stage) -> None:
    await busy(stage)
    lease = await stage.claim_one()
    await stage.refused(HOST)
    await stage.settle(lease)
    looked = await stage.look(owner="bob")
    assert looked.come_back_in == seconds(2 * SPACING)
    stage.wait(2 * SPACING)
    assert len(await stage.claim()) == 1


async def test_reservations_follow_each_other_freely_where_no_entry_waits(stage: Stage) -> None:
    for _ in range(3):
        await stage.end(await stage.reserve(HOST))
        stage.wait(SPACING)


async def test_reservations_need_not_wait_for_an_entry_that_is_due_much_later(stage: Stage) -> None:
    await stage.submit(FoundUrl(f"https://{HOST}/1", due_in=seconds(600)))
    for _ in range(3):
        await stage.end(await stage.reserve(HOST))
        stage.wait(SPACING)


async def test_a_long_fetch_does_not_make_the_poller_lose_its_turn(stage: Stage) -> None:
    """It asks again and again while the host is full; the promise made at its first refusal is kept."""
    await busy(stage)
    lease = await stage.claim_one()
    for _ in range(100):
        stage.wait((await stage.refused(HOST)).wait.total_seconds())
    await stage.settle(lease)
    assert await stage.claim() == []
    assert isinstance(await stage.ask(HOST), Slot)


@pytest.mark.long
async def test_an_eager_poller_and_an_eager_worker_share_a_host(stage: Stage) -> None:
    """Both come back the moment they may; over a while each gets its half."""
    await busy(stage, 100)
    turns = {"claim": 0, "reservation": 0}
    ask_at = stage.now
    for _ in range(400):
        if stage.now >= ask_at:
            answer = await stage.ask(HOST)
            if isinstance(answer, NotBefore):
                ask_at = stage.now + answer.wait
            else:
                stage.wait(max(0, answer.window.earliest - stage.clock.monotonic()))
                turns["reservation"] += 1
                await stage.end(answer)
        for lease in await stage.claim():
            turns["claim"] += 1
            await stage.settle(lease)
        stage.wait(0.2)
    assert min(turns.values()) >= 20, turns


async def test_a_closed_host_refuses_and_does_not_yield(stage: Stage) -> None:
    await busy(stage)
    await stage.set_host(HOST, closed_until=stage.now + seconds(60))
    refusal = await stage.refused(HOST)
    assert (refusal.why, refusal.wait) == ("closed", seconds(60))
    stage.wait(60)
    assert len(await stage.claim()) == 1


async def test_beyond_the_reach_the_answer_is_a_time(stage: Stage) -> None:
    await busy(stage)
    await stage.set_host(HOST, delay_ms=3_600_000)
    await stage.settle(await stage.claim_one())
    refusal = await stage.refused(HOST)
    assert (refusal.why, refusal.wait) == ("delay", seconds(3_600.03))
    stage.wait(3_600.03)
    assert await stage.claim() == []
    assert isinstance(await stage.ask(HOST), Slot)


async def test_reservations_count_as_running_requests(stage: Stage) -> None:
    await busy(stage)
    await stage.set_host(HOST, max_concurrency=2)
    await stage.reserve(HOST)
    stage.wait(SPACING)
    assert len(await stage.claim(5)) == 1
    stage.wait(SPACING)
    assert await stage.claim(5) == []
    assert (await stage.refused(HOST)).why == "full"
    stage.wait(LEASE.total_seconds())
    assert await stage.rescue() == (2, 0)


async def test_reservations_and_claims_lie_a_delay_apart(stage: Stage) -> None:
    await busy(stage)
    await stage.set_host(HOST, max_concurrency=10)
    lease = await stage.claim_one()
    slot = await stage.reserve(HOST)
    assert slot.window.earliest - lease.window.earliest == SPACING
