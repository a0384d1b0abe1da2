from datetime import timedelta
from uuid import uuid4

import pytest
from tests.integration.frontier.invariants import counts, recount
from tests.integration.frontier.stage import Stage, seconds

from headwater.errors import NotFound, UsageError
from headwater.frontier.entry import DeadReason, EntryOrigin, EntryStatus
from headwater.frontier.maintain import name_domains
from headwater.frontier.submit import FoundUrl, SubmitOutcome, Submitter, is_below, submit
from headwater.frontier.verdicts import Dead, Fetched, HostSaysWait, Postponed, RetryLater
from headwater.politeness.hosts import close_host
from headwater.politeness.takedown import parse_takedown
from headwater.politeness.takedown import queries as politeness_queries
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import Voice

PAGE, OTHER = "https://a.example/1", "https://a.example/2"


async def test_every_url_of_a_call_is_answered_in_order(stage: Stage) -> None:
    await stage.submit("https://a.example/known")
    told = await stage.submit(
        "https://a.example/known", "ftp://a.example/", "https://b.example/new", "https://b.example/new?utm_source=x"
    )
    assert told == [SubmitOutcome.DUPLICATE, SubmitOutcome.REJECTED, SubmitOutcome.QUEUED, SubmitOutcome.DUPLICATE]


async def test_a_url_found_by_two_sources_is_one_entry_with_two_finders(stage: Stage) -> None:
    other = await stage.add_source()
    assert await stage.submit(PAGE) == [SubmitOutcome.QUEUED]
    assert await stage.submit(PAGE, source=other) == [SubmitOutcome.DUPLICATE]
    assert (await stage.entry(PAGE))["source_id"] == stage.source
    finders = await stage.database.fetch("SELECT source_id FROM discoveries")
    assert {row["source_id"] for row in finders} == {stage.source, other}


async def test_a_pending_entry_is_raised_by_a_better_finder_and_never_lowered(stage: Stage) -> None:
    await stage.submit(PAGE, origin=EntryOrigin.MANUAL)
    assert await stage.submit(PAGE, origin=EntryOrigin.FEED) == [SubmitOutcome.RAISED]
    assert (await stage.host("a.example"))["priority"] == 7
    assert await stage.submit(PAGE, origin=EntryOrigin.SPIDER) == [SubmitOutcome.DUPLICATE]
    assert (await stage.entry(PAGE))["priority"] == 7


async def test_a_url_listed_twice_in_one_call_keeps_the_best_of_both(stage: Stage) -> None:
    deep, near = FoundUrl(PAGE, "https://a.example/deep", depth=5), FoundUrl(PAGE, "https://a.example/", depth=1)
    later, now = FoundUrl(OTHER, due_in=seconds(60)), FoundUrl(OTHER, changed_at=stage.now)
    answers = await stage.submit(deep, near, later, now, origin=EntryOrigin.SPIDER)
    assert answers == [SubmitOutcome.QUEUED, SubmitOutcome.DUPLICATE] * 2
    entry, other = await stage.entry(PAGE), await stage.entry(OTHER)
    assert (entry["priority"], entry["depth"], entry["parent_url"]) == (4, 1, "https://a.example/")
    assert other["next_fetch_at"] == stage.now


async def test_a_pending_entry_wanted_sooner_comes_sooner(stage: Stage) -> None:
    await stage.submit(FoundUrl(PAGE, due_in=seconds(3600)))
    assert await stage.claim() == []
    assert await stage.submit(FoundUrl(PAGE, due_in=seconds(7200))) == [SubmitOutcome.DUPLICATE]
    assert await stage.submit(PAGE) == [SubmitOutcome.RAISED]
    assert await stage.claim() != []


async def test_a_failed_entry_may_rise_but_is_not_fetched_earlier(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), RetryLater("timeout"))
    due_at = (await stage.entry(PAGE))["next_fetch_at"]
    assert await stage.submit(PAGE) == [SubmitOutcome.DUPLICATE]
    assert await stage.submit(PAGE, origin=EntryOrigin.FEED) == [SubmitOutcome.RAISED]
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["priority"], entry["next_fetch_at"]) == ("failed", 7, due_at)


async def test_a_rate_limited_host_stays_closed_when_its_feed_lists_the_page_again(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), HostSaysWait(seconds(600)))
    assert (await stage.entry(PAGE))["retry_count"] == 0
    assert await stage.submit(PAGE, origin=EntryOrigin.FEED) == [SubmitOutcome.RAISED]
    stage.wait(599)
    assert await stage.claim() == []
    stage.wait(1)
    assert len(await stage.claim()) == 1


async def test_a_dead_entry_is_not_revived_by_a_feed(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), Dead(DeadReason.GONE))
    told = await stage.submit(FoundUrl(PAGE, changed_at=stage.now + seconds(60)), origin=EntryOrigin.FEED)
    assert told == [SubmitOutcome.DUPLICATE]
    assert (await stage.entry(PAGE))["reason"] == "gone"


async def test_a_fetched_entry_is_fetched_again_only_for_a_change_after_its_last_fetch(stage: Stage) -> None:
    await stage.submit(PAGE)
    stage.wait(100)
    await stage.settle(await stage.claim_one())
    stage.wait(100)
    assert await stage.submit(FoundUrl(PAGE, changed_at=stage.now - seconds(150))) == [SubmitOutcome.DUPLICATE]
    assert await stage.submit(FoundUrl(PAGE, changed_at=stage.now - seconds(50))) == [SubmitOutcome.REVISIT]
    assert await stage.state(PAGE) == ("pending", None)
    await stage.settle(await stage.claim_one())
    assert await stage.submit(FoundUrl(PAGE, changed_at=stage.now - seconds(50))) == [SubmitOutcome.DUPLICATE]


async def test_what_changed_while_it_was_fetched_is_fetched_again(stage: Stage) -> None:
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    stage.wait(5)
    assert await stage.submit(FoundUrl(PAGE, changed_at=stage.now)) == [SubmitOutcome.REVISIT]
    assert await stage.state(PAGE) == ("fetching", None)
    stage.wait(5)
    await stage.settle(lease)
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["retry_count"], entry["fetch_count"]) == ("pending", 0, 1)
    stage.wait(5)
    await stage.settle(await stage.claim_one())
    assert await stage.state(PAGE) == ("fetched", None)


async def test_what_changed_before_the_fetch_began_is_not_fetched_twice(stage: Stage) -> None:
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    stage.wait(5)
    assert await stage.submit(FoundUrl(PAGE, changed_at=stage.now - seconds(60))) == [SubmitOutcome.REVISIT]
    await stage.settle(lease)
    assert await stage.state(PAGE) == ("fetched", None)


async def test_a_date_in_the_future_causes_one_revisit_and_not_a_loop(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one())
    tomorrow = stage.now + timedelta(days=1)
    stage.wait(60)
    assert await stage.submit(FoundUrl(PAGE, changed_at=tomorrow)) == [SubmitOutcome.REVISIT]
    await stage.settle(await stage.claim_one())
    assert await stage.state(PAGE) == ("fetched", None)
    stage.wait(60)
    assert await stage.submit(FoundUrl(PAGE, changed_at=tomorrow)) == [SubmitOutcome.DUPLICATE]


async def test_a_takedown_rejects_at_the_door_and_lets_the_rest_in(stage: Stage) -> None:
    for text in ("gone.example", "https://a.example/private"):
        takedown = parse_takedown(text)
        await stage.database.execute(
            politeness_queries.add_takedown, takedown.name, takedown.domain, takedown.key_prefix, None
        )
    told = await stage.submit(
        "https://gone.example/x",
        "https://www.gone.example/x",
        "https://notgone.example/x",
        "https://a.example/private/x",
        "https://a.example/privately",
    )
    rejected, queued = SubmitOutcome.REJECTED, SubmitOutcome.QUEUED
    assert told == [rejected, rejected, queued, rejected, queued]


async def test_a_host_closed_before_it_was_ever_seen_is_born_closed(stage: Stage) -> None:
    await close_host(stage.database, "a.example", "paused", stage.now + seconds(60), stage.now)
    await stage.submit(PAGE)
    assert await stage.claim() == []
    stage.wait(60)
    assert len(await stage.claim()) == 1


async def test_a_host_of_a_job_source_is_asked_less_often(stage: Stage) -> None:
    await stage.database.execute("UPDATE sources SET kind = 'jobs'")
    await stage.submit(PAGE)
    assert (await stage.host("a.example"))["delay_ms"] == 3_000


# Bad input


async def test_an_empty_batch_is_no_error(stage: Stage) -> None:
    assert await stage.submit() == []


async def test_an_unknown_source_is_named(stage: Stage) -> None:
    with pytest.raises(NotFound, match="There is no source"):
        await stage.submit(PAGE, source=uuid4())


@pytest.mark.parametrize("status", ["deleted", "blocked"])
async def test_a_source_that_is_gone_takes_no_urls(stage: Stage, status: str) -> None:
    with pytest.raises(UsageError, match=status):
        await stage.submit(PAGE, source=await stage.add_source(status=status))


async def test_hostile_urls_are_rejected_one_by_one(stage: Stage) -> None:
    long_label, long_name = "a" * 300, ".".join(["a" * 60] * 5)
    told = await stage.submit(
        f"https://{long_label}.example/",
        f"https://{long_name}/",
        "https://a.example/\0",
        "https://a.example/\ud800",
        PAGE,
    )
    assert told == [SubmitOutcome.REJECTED] * 4 + [SubmitOutcome.QUEUED]


async def test_text_that_postgresql_cannot_keep_does_not_fail_a_batch(stage: Stage) -> None:
    assert await stage.submit(FoundUrl(PAGE, parent_url="https://a.example/\0\ud800")) == [SubmitOutcome.QUEUED]
    await stage.settle(await stage.claim_one(), RetryLater("broken", "header was \0\ud800"))
    assert (await stage.entry(PAGE))["last_error"] == "header was \ufffd?"


@pytest.mark.parametrize("depth", [-1, 1_001, 40_000])
def test_an_impossible_depth_is_refused(depth: int) -> None:
    with pytest.raises(UsageError, match="depth"):
        FoundUrl(PAGE, depth=depth)


async def test_a_deep_page_has_the_lowest_priority_and_not_less(stage: Stage) -> None:
    await stage.submit(FoundUrl(PAGE, depth=1_000), origin=EntryOrigin.SPIDER)
    assert (await stage.entry(PAGE))["priority"] == 1


async def submit_many(stage: Stage, count: int, hosts: int) -> None:
    found = [FoundUrl(f"https://h{n % hosts}.example/{n}") for n in range(count)]
    async with stage.database.transaction() as connection:
        answers = await submit(connection, Submitter(stage.source, EntryOrigin.SITEMAP), found, now=stage.now)
    assert [answer.url for answer in answers] == [one.url for one in found]
    assert {answer.outcome for answer in answers} == {SubmitOutcome.QUEUED}
    # The checks of the stage look at whole tables; without statistics they would look at them row by row.
    await stage.database.execute("ANALYZE hosts, url_frontier, discoveries")
    assert sum((await counts(stage.database)).values()) == count
    assert await counts(stage.database) == await recount(stage.database)


@pytest.mark.long
async def test_a_hundred_thousand_urls_go_in_with_one_call(stage: Stage) -> None:
    await submit_many(stage, 100_000, 500)


@pytest.mark.slow
async def test_a_million_urls_go_in_with_one_call(stage: Stage) -> None:
    await submit_many(stage, 1_000_000, 5_000)


async def test_a_journey_that_goes_on_later_keeps_its_place(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), Postponed(seconds(30), "https://a.example/2", 2))
    assert (await stage.look(owner="bob")).come_back_in == seconds(30)
    stage.wait(30)
    lease = await stage.claim_one()
    assert (lease.resume_url, lease.hops) == ("https://a.example/2", 2)
    await stage.settle(lease, Fetched())
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["resume_url"], entry["hops"]) == (EntryStatus.FETCHED, None, 0)


OWN = Voice("a.example")


async def test_a_source_that_speaks_for_a_page_takes_it_over_from_one_that_does_not(stage: Stage) -> None:
    owner = await stage.add_source()
    await stage.submit(PAGE, origin=EntryOrigin.FEED)
    assert await stage.submit(PAGE, source=owner, origin=EntryOrigin.FEED, voice=OWN) == [SubmitOutcome.TAKEN_OVER]
    assert (await stage.entry(PAGE))["source_id"] == owner
    # And keeps it: a second one with the same right comes too late, a stranger even more so.
    assert await stage.submit(PAGE, origin=EntryOrigin.FEED, voice=OWN) == [SubmitOutcome.DUPLICATE]
    assert (await stage.entry(PAGE))["source_id"] == owner


async def test_what_a_stranger_had_read_is_read_again_for_its_owner(stage: Stage) -> None:
    owner = await stage.add_source()
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), Fetched('"1"', "Mon, 02 Mar 2026 08:00:00 GMT", b"x" * 32))
    assert await stage.submit(PAGE, source=owner, voice=OWN) == [SubmitOutcome.TAKEN_OVER]
    stage.wait(5)
    lease = await stage.claim_one()
    # Without validators: a page that has not changed has to be sent all the same.
    assert (lease.source_id, lease.etag, lease.last_modified, lease.content_hash) == (owner, None, None, None)
    assert await counts(stage.database) == await recount(stage.database)


async def test_a_page_taken_over_while_it_is_fetched_is_fetched_again(stage: Stage) -> None:
    owner = await stage.add_source()
    await stage.submit(PAGE)
    lease = await stage.claim_one()
    assert await stage.submit(PAGE, source=owner, voice=OWN) == [SubmitOutcome.TAKEN_OVER]
    assert await counts(stage.database) == await recount(stage.database)
    await stage.settle(lease, Fetched('"1"', None, b"x" * 32))
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["source_id"], entry["etag"], entry["content_hash"]) == ("pending", owner, None, None)
    stage.wait(5)
    await stage.settle(await stage.claim_one(), Fetched('"1"', None, b"x" * 32))
    assert (await stage.entry(PAGE))["status"] == "fetched"
    assert await counts(stage.database) == await recount(stage.database)


async def test_a_page_a_stranger_could_not_read_is_tried_again_for_its_owner(stage: Stage) -> None:
    owner = await stage.add_source()
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), Dead(DeadReason.EXTRACT_FAILED))
    await stage.submit(PAGE, source=owner, voice=OWN)
    assert (await stage.entry(PAGE))["status"] == "pending"


async def test_a_page_that_is_gone_stays_gone_for_its_owner(stage: Stage) -> None:
    owner = await stage.add_source()
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), Dead(DeadReason.GONE))
    await stage.submit(PAGE, source=owner, voice=OWN)
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["source_id"]) == ("dead", owner)


async def test_a_paused_source_takes_nothing_over(stage: Stage) -> None:
    owner = await stage.add_source(status="paused")
    await stage.submit(PAGE)
    assert await stage.submit(PAGE, source=owner, voice=OWN) == [SubmitOutcome.DUPLICATE]


async def test_a_host_knows_its_registrable_domain(stage: Stage) -> None:
    await stage.submit("https://feeds.paper.co.uk/1")
    assert (await stage.host("feeds.paper.co.uk"))["domain"] == "paper.co.uk"
    await stage.database.execute("UPDATE hosts SET domain = NULL")
    assert await name_domains(stage.database) == 1
    assert (await stage.host("feeds.paper.co.uk"))["domain"] == "paper.co.uk"


async def test_a_source_at_home_takes_a_page_over_from_another_one_of_its_domain(stage: Stage) -> None:
    alice = await stage.add_source()
    page = "https://a.example/~alice/post"
    await stage.submit(page, origin=EntryOrigin.FEED, voice=OWN, home="https://a.example/~mallory/")
    told = await stage.submit(
        page, source=alice, origin=EntryOrigin.FEED, voice=OWN, home="https://www.a.example/~alice"
    )
    assert told == [SubmitOutcome.TAKEN_OVER]
    assert (await stage.entry(page))["source_id"] == alice


async def test_a_better_claim_of_the_owner_itself_fetches_nothing_again(stage: Stage) -> None:
    await stage.submit(PAGE)
    await stage.settle(await stage.claim_one(), Fetched('"1"', None, b"x" * 32))
    assert await stage.submit(PAGE, origin=EntryOrigin.FEED, voice=OWN) == [SubmitOutcome.DUPLICATE]
    entry = await stage.entry(PAGE)
    assert (entry["status"], entry["owner_rank"], entry["etag"]) == ("fetched", 1, '"1"')


@pytest.mark.parametrize(
    ("home", "url", "is_home"),
    [
        ("https://a.example/", "https://a.example/1", True),
        ("https://www.a.example/feed.xml", "https://a.example/1", True),
        ("https://a.example/~alice/", "https://a.example/~alice/1", True),
        ("https://a.example/~alice", "https://a.example/~alice", True),
        ("https://a.example/~alice/feed.xml", "https://a.example/~alice/1", True),
        ("https://a.example/~alice", "https://a.example/~alice2/1", False),
        ("https://a.example/~mallory/", "https://a.example/~alice/1", False),
        ("https://b.a.example/", "https://a.example/1", False),
    ],
)
def test_home_is_the_folder_of_an_address(home: str, url: str, is_home: bool) -> None:
    assert is_below(canonicalise(url), canonicalise(home)) is is_home
