"""Who comes first: hosts that answer before hosts in doubt, and of these the first ones of every source."""

import pytest
from tests.integration.frontier.stage import AT_ONCE, Stage, seconds

from headwater.database.pool import Database
from headwater.frontier.claim import Allowance
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, SubmitAnswer, SubmitOutcome, Submitter, submit
from headwater.frontier.verdicts import Fetched, RetryLater
from headwater.politeness.slots import Visit

SLOWLY = Visit(started_after=seconds(0), duration=seconds(6), status=200, body_bytes=4_000)
IN_VAIN = Visit(started_after=seconds(0), duration=seconds(1))
MISSING = Visit(started_after=seconds(0), duration=seconds(0.1), status=404)
BROKEN = Visit(started_after=seconds(0), duration=seconds(0.1), status=502)


async def prove(stage: Stage, *hosts: str) -> None:
    for host in hosts:
        await stage.end(await stage.reserve(host))


async def tell(stage: Stage, *urls: str, most_new_hosts: int | None = None) -> list[SubmitAnswer]:
    async with stage.database.transaction() as connection:
        submitter = Submitter(stage.source, EntryOrigin.FEED, most_new_hosts=most_new_hosts)
        return await submit(connection, submitter, [FoundUrl(url) for url in urls], now=stage.now)


async def hosts_claimed(stage: Stage, limit: int, allowance: Allowance | None = None) -> list[str]:
    claimed = await stage.claimer().claim(limit, stage.now, allowance)
    return [lease.host for lease in claimed.leases]


async def test_a_host_that_answers_comes_before_a_better_one_in_doubt(stage: Stage) -> None:
    await prove(stage, "known.example")
    stage.wait(2)
    await stage.submit(FoundUrl("https://new.example/", priority=9))
    stage.wait(2)
    await stage.submit(FoundUrl("https://known.example/1", priority=2))
    assert await hosts_claimed(stage, 1) == ["known.example"]
    assert await hosts_claimed(stage, 1) == ["new.example"]


@pytest.mark.parametrize(
    ("visit", "is_doubted"), [(AT_ONCE, False), (MISSING, False), (SLOWLY, True), (BROKEN, True), (IN_VAIN, True)]
)
async def test_only_a_prompt_answer_ends_the_doubt(stage: Stage, visit: Visit, is_doubted: bool) -> None:
    await stage.submit("https://a.example/")
    lease = await stage.claim_one()
    assert lease.is_doubted
    await stage.settle(lease, Fetched() if visit.status else RetryLater("timeout"), visit)
    assert (await stage.host("a.example"))["is_doubted"] is is_doubted


@pytest.mark.parametrize("visit", [SLOWLY, IN_VAIN])
async def test_a_host_that_stops_answering_is_in_doubt_again(stage: Stage, visit: Visit) -> None:
    await prove(stage, "a.example")
    stage.wait(2)
    await stage.submit("https://a.example/")
    lease = await stage.claim_one()
    assert not lease.is_doubted
    await stage.settle(lease, Fetched() if visit.status else RetryLater("timeout"), visit)
    assert (await stage.host("a.example"))["is_doubted"]


async def test_no_more_hosts_in_doubt_are_taken_than_allowed_and_the_rest_is_no_reason_to_come_back(
    stage: Stage,
) -> None:
    await stage.submit(*(f"https://n{n}.example/" for n in range(6)))
    claimed = await stage.claimer().claim(6, stage.now, Allowance(doubted=2, doubted_first=0))
    assert len(claimed.leases) == 2
    assert claimed.come_back_in is None
    assert await hosts_claimed(stage, 6, Allowance(doubted=0, doubted_first=0)) == []
    assert len(await hosts_claimed(stage, 6)) == 4


async def test_one_host_in_doubt_comes_first_when_it_is_their_turn(stage: Stage) -> None:
    known = [f"k{n}.example" for n in range(4)]
    await prove(stage, *known)
    stage.wait(2)
    await stage.submit(*(f"https://{host}/" for host in known), "https://new.example/")
    taken = await hosts_claimed(stage, 2, Allowance(doubted=1, doubted_first=1))
    assert "new.example" in taken
    assert len(taken) == 2


async def test_the_first_new_host_of_a_source_comes_before_the_flood_of_another(stage: Stage) -> None:
    await tell(stage, *(f"https://n{n}.example/" for n in range(1_000)))
    stage.wait(5)
    other = await stage.add_source()
    await stage.submit("https://modest.example/", source=other, origin=EntryOrigin.FEED)
    assert "modest.example" in await hosts_claimed(stage, 5)


async def test_a_lists_own_order_is_kept_among_its_first_hosts(stage: Stage) -> None:
    await tell(stage, *(f"https://n{n}.example/" for n in range(20)))
    steps = {n: (await stage.host(f"n{n}.example"))["steps_back"] for n in (0, 3, 4, 15, 16, 19)}
    assert steps == {0: 0, 3: 0, 4: 2, 15: 2, 16: 4, 19: 4}


async def test_domains_and_sources_with_their_share_wait_for_others_and_are_served_when_nobody_else_waits(
    stage: Stage,
) -> None:
    names = ["a.big.example", "b.big.example", "small.test"]
    await prove(stage, *names)
    stage.wait(2)
    await stage.submit("https://a.big.example/", "https://b.big.example/")
    stage.wait(1)
    other = await stage.add_source()
    await stage.submit("https://small.test/", source=other)
    full = Allowance(9, 0, full_domains=("big.example",))
    assert await hosts_claimed(stage, 1, full) == ["small.test"]
    # Nobody else waits by now.
    by_source = await hosts_claimed(stage, 1, Allowance(9, 0, full_sources=(stage.source,)))
    assert {*by_source, *await hosts_claimed(stage, 1, full)} == {"a.big.example", "b.big.example"}


async def test_what_was_passed_over_is_found_by_the_next_claim(stage: Stage) -> None:
    """The marks of a claim that left hosts out do not hide them."""
    await prove(stage, "a.big.example", "small.test")
    stage.wait(2)
    await stage.submit("https://a.big.example/")
    stage.wait(3)
    await stage.submit("https://small.test/")
    assert await hosts_claimed(stage, 1, Allowance(9, 0, full_domains=("big.example",))) == ["small.test"]
    assert await hosts_claimed(stage, 1) == ["a.big.example"]


async def test_new_hosts_beyond_the_limit_of_an_hour_are_refused_and_get_no_row(stage: Stage) -> None:
    urls = [f"https://n{n}.example/{page}" for n in range(10) for page in (1, 2)]
    answers = await tell(stage, *urls, most_new_hosts=4)
    assert [answer.outcome for answer in answers] == [SubmitOutcome.QUEUED] * 8 + [SubmitOutcome.REJECTED] * 12
    assert {answer.reason for answer in answers[8:]} == {"too_many_new_hosts"}
    assert await stage.database.fetchval("SELECT count(*) FROM hosts") == 4
    assert await stage.database.fetchval("SELECT count(*) FROM discoveries") == 8
    # The same hour, another call: hosts it knows are welcome, new ones are not.
    again = await tell(stage, "https://n1.example/3", "https://n9.example/1", most_new_hosts=4)
    assert [answer.outcome for answer in again] == [SubmitOutcome.QUEUED, SubmitOutcome.REJECTED]
    assert await counted(stage.database) == (4, 7)
    stage.wait(3600)
    (later,) = await tell(stage, "https://n9.example/1", most_new_hosts=4)
    assert later.outcome is SubmitOutcome.QUEUED


async def counted(database: Database) -> tuple[int, int]:
    row = await database.fetchrow("SELECT hosts, refused FROM new_hosts")
    assert row is not None
    return row["hosts"], row["refused"]


async def test_a_persons_list_may_have_any_number_of_new_hosts(stage: Stage) -> None:
    outcomes = await stage.submit(*(f"https://n{n}.example/" for n in range(1_000)))
    assert set(outcomes) == {SubmitOutcome.QUEUED}
    assert await stage.database.fetchval("SELECT count(*) FROM new_hosts") == 0


async def test_the_limit_is_each_sources_own(stage: Stage) -> None:
    await tell(stage, "https://a.example/", most_new_hosts=1)
    other = Stage(stage.database, await stage.add_source(), stage.clock)
    (answer,) = await tell(other, "https://b.example/", most_new_hosts=1)
    assert answer.outcome is SubmitOutcome.QUEUED
