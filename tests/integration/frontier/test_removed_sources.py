"""What a removed source leaves behind: its pages go to sources that find them, and to nobody else's cost."""

import pytest
from tests.integration.frontier.invariants import counts, recount
from tests.integration.frontier.stage import Stage

from headwater.frontier.control import set_aside
from headwater.frontier.entry import DeadReason, EntryOrigin
from headwater.frontier.submit import SubmitOutcome
from headwater.frontier.verdicts import Dead, Fetched, RetryLater
from headwater.urls.domains import Voice

PAGE = "https://a.example/1"
OWN = Voice("a.example")
HOME = "https://a.example/"


async def stop(stage: Stage, status: str) -> None:
    await stage.set_source(status)
    await set_aside(stage.database, stage.source)


async def remove(stage: Stage) -> None:
    await stop(stage, "deleted")


async def test_a_page_of_a_removed_source_goes_to_one_that_speaks_for_it(stage: Stage) -> None:
    await stage.submit(PAGE, origin=EntryOrigin.FEED, voice=OWN, home=HOME)
    await remove(stage)
    assert await stage.state(PAGE) == ("pending", "paused")
    again = await stage.add_source()
    assert await stage.submit(PAGE, source=again, origin=EntryOrigin.FEED, voice=OWN) == [SubmitOutcome.TAKEN_OVER]
    assert await stage.state(PAGE) == ("pending", None)
    entry = await stage.entry(PAGE)
    assert (entry["source_id"], entry["owner_rank"]) == (again, 1)
    assert (await stage.claim_one()).source_id == again
    assert await counts(stage.database) == await recount(stage.database)


async def test_what_a_removed_source_had_read_is_read_again_for_the_new_one(stage: Stage) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await stage.settle(await stage.claim_one(), Fetched('"1"', None, b"x" * 32))
    await remove(stage)
    again = await stage.add_source()
    assert await stage.submit(PAGE, source=again, voice=OWN, home=HOME) == [SubmitOutcome.TAKEN_OVER]
    stage.wait(5)
    lease = await stage.claim_one()
    assert (lease.source_id, lease.etag, lease.content_hash) == (again, None, None)
    assert await counts(stage.database) == await recount(stage.database)


async def test_a_page_whose_source_is_removed_while_it_is_fetched_is_fetched_again_for_the_new_one(
    stage: Stage,
) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    lease = await stage.claim_one()
    await remove(stage)
    again = await stage.add_source()
    assert await stage.submit(PAGE, source=again, voice=OWN, home=HOME) == [SubmitOutcome.TAKEN_OVER]
    await stage.settle(lease, Fetched('"1"', None, b"x" * 32))
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["source_id"], entry["etag"]) == ("pending", again, None)
    assert await counts(stage.database) == await recount(stage.database)


async def test_the_backoff_of_a_page_outlives_its_removed_source(stage: Stage) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await stage.settle(await stage.claim_one(), RetryLater("timeout"))
    due_at = (await stage.entry(PAGE))["next_fetch_at"]
    await remove(stage)
    again = await stage.add_source()
    assert await stage.submit(PAGE, source=again, voice=OWN, home=HOME) == [SubmitOutcome.TAKEN_OVER]
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["held"], entry["next_fetch_at"]) == ("failed", None, due_at)


async def test_a_page_that_is_gone_stays_gone_whoever_owns_it(stage: Stage) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await stage.settle(await stage.claim_one(), Dead(DeadReason.GONE))
    await remove(stage)
    again = await stage.add_source()
    await stage.submit(PAGE, source=again, voice=OWN, home=HOME)
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["source_id"]) == ("dead", again)


async def test_a_waiting_page_of_a_removed_source_goes_to_any_source_that_finds_it(stage: Stage) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await remove(stage)
    stranger = await stage.add_source()
    assert await stage.submit(PAGE, source=stranger, origin=EntryOrigin.FEED) == [SubmitOutcome.TAKEN_OVER]
    assert (await stage.claim_one()).source_id == stranger


async def test_a_stranger_does_not_get_what_a_removed_source_has_read_of_its_own_pages(stage: Stage) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await stage.settle(await stage.claim_one())
    await remove(stage)
    stranger = await stage.add_source()
    assert await stage.submit(PAGE, source=stranger, origin=EntryOrigin.FEED) == [SubmitOutcome.DUPLICATE]
    assert (await stage.entry(PAGE))["source_id"] == stage.source


async def test_a_person_may_have_any_page_of_a_removed_source(stage: Stage) -> None:
    await stage.submit(PAGE, origin=EntryOrigin.FEED, voice=OWN, home=HOME)
    await stage.settle(await stage.claim_one())
    await remove(stage)
    by_hand = await stage.add_source()
    assert await stage.submit(PAGE, source=by_hand, origin=EntryOrigin.MANUAL) == [SubmitOutcome.TAKEN_OVER]


async def test_an_aggregator_that_is_added_again_has_its_links_again(stage: Stage) -> None:
    """It may speak for none of them, and neither could the removed one."""
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one())
    await remove(stage)
    again = await stage.add_source()
    assert await stage.submit(PAGE, source=again, origin=EntryOrigin.FEED) == [SubmitOutcome.TAKEN_OVER]


@pytest.mark.parametrize("status", ["paused", "blocked"])
async def test_an_owner_that_only_rests_keeps_its_pages(stage: Stage, status: str) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await stop(stage, status)
    other = await stage.add_source()
    assert await stage.submit(PAGE, source=other, voice=OWN, home=HOME) == [SubmitOutcome.DUPLICATE]
    assert (await stage.entry(PAGE))["source_id"] == stage.source


async def test_a_paused_source_takes_nothing_of_a_removed_one(stage: Stage) -> None:
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await remove(stage)
    paused = await stage.add_source(status="paused")
    assert await stage.submit(PAGE, source=paused, voice=OWN, home=HOME) == [SubmitOutcome.DUPLICATE]
    assert await stage.state(PAGE) == ("pending", "paused")


async def test_what_a_removed_source_has_read_goes_to_a_source_that_found_it_before(stage: Stage) -> None:
    other = await stage.add_source()
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await stage.submit(PAGE, source=other, voice=OWN)
    await stage.settle(await stage.claim_one(), Fetched('"1"', None, b"x" * 32))
    await remove(stage)
    entry = await stage.entry(PAGE)
    assert (entry["source_id"], entry["status"], entry["etag"], entry["content_hash"]) == (other, "pending", None, None)
    assert await counts(stage.database) == await recount(stage.database)
    stage.wait(5)
    assert (await stage.claim_one()).source_id == other


async def test_what_a_paused_source_has_read_stays_its_own(stage: Stage) -> None:
    other = await stage.add_source()
    await stage.submit(PAGE, voice=OWN, home=HOME)
    await stage.submit(PAGE, source=other, voice=OWN)
    await stage.settle(await stage.claim_one())
    await stop(stage, "paused")
    entry = await stage.entry(PAGE)
    assert (entry["source_id"], entry["status"]) == (stage.source, "fetched")
