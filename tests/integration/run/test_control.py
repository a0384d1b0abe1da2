"""Takedowns, rules that changed, a person's retry, and what people read of the frontier."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.integration.run.queueing import LEASE, judge_one, queue, status_of

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.errors import Busy, NotFound, UsageError
from headwater.frontier.claim import Claimer
from headwater.frontier.control import end_where, remove, retry_now, revive_where
from headwater.frontier.entry import DeadReason, EntryStatus
from headwater.frontier.explain import explain
from headwater.frontier.reads import Filter, count_entries, list_entries, recount_entries
from headwater.frontier.submit import SubmitOutcome
from headwater.frontier.verdicts import Dead, HostSaysWait, RetryLater
from headwater.ingest.taking_down import lift, take_down_everywhere
from headwater.politeness.hosts import HostPolicy, pace_of, read_host, set_crawl_delay, set_policy
from headwater.politeness.takedown import list_takedowns, parse_takedown
from headwater.sources.store import create_source, manual_source
from headwater.urls.canonical import canonicalise

SECOND = timedelta(seconds=1)


@pytest.fixture
async def source(database: Database) -> UUID:
    async with database.transaction() as connection:
        return await create_source(connection, "Harbour News", "https://harbour.test/")


async def test_a_domain_takedown_ends_what_waits_below_it_and_keeps_new_urls_out(
    database: Database, source: UUID
) -> None:
    await queue(database, source, "https://bad.test/1", "https://www.bad.test/2", "https://notbad.test/3")
    assert (await take_down_everywhere(database, parse_takedown("bad.test"), "asked")).entries == 2
    assert await status_of(database, "https://www.bad.test/2") == "dead"
    assert await status_of(database, "https://notbad.test/3") == "pending"
    assert await queue(database, source, "https://deep.www.bad.test/4") == [SubmitOutcome.REJECTED]
    assert (await count_entries(database)).by_source == (await recount_entries(database)).by_source


async def test_a_url_takedown_covers_whole_segments_only(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/members/1", "https://a.test/membership", "http://a.test/members/?x=1")
    assert (await take_down_everywhere(database, parse_takedown("https://a.test/members/"))).entries == 2
    assert await status_of(database, "https://a.test/membership") == "pending"


async def test_a_lifted_takedown_opens_the_host_but_revives_nothing(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1")
    takedown = parse_takedown("a.test")
    await take_down_everywhere(database, takedown)
    await lift(database, takedown)
    assert await list_takedowns(database, limit=1) == []
    assert await status_of(database, "https://a.test/1") == "dead"
    await queue(database, source, "https://a.test/2")
    assert len((await Claimer(database, SystemClock(), "w", LEASE).claim(5)).leases) == 1
    with pytest.raises(NotFound):
        await lift(database, takedown)


@pytest.mark.parametrize("text", ["", "not a domain", "ftp://a.test/x", "https://u:p@a.test/"])
def test_what_is_neither_domain_nor_url_cannot_be_taken_down(text: str) -> None:
    with pytest.raises(UsageError):
        parse_takedown(text)


async def test_changed_rules_end_and_revive_the_entries_they_concern(database: Database, source: UUID) -> None:
    await queue(database, source, *(f"https://a.test/{part}/{n}" for part in ("open", "closed") for n in range(3)))
    ended = await end_where(database, "a.test", lambda url: url.path.startswith("/closed"), DeadReason.ROBOTS_BLOCKED)
    assert ended == 3
    assert (await count_entries(database)).by_status[EntryStatus.DEAD] == 3
    assert await revive_where(database, "a.test", lambda url: url.path.endswith("1")) == 1
    assert (await count_entries(database)).by_source == (await recount_entries(database)).by_source


async def test_a_person_can_revive_the_dead_but_not_what_is_being_fetched(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1")
    await judge_one(database, Dead(DeadReason.NOT_FOUND))
    await retry_now(database, canonicalise("https://a.test/1"))
    assert await status_of(database, "https://a.test/1") == "pending"
    await database.execute("update hosts set next_slot_at = '-infinity', wake_at = now()")
    await Claimer(database, SystemClock(), "w", LEASE).claim(1)
    for act in (retry_now, remove):
        with pytest.raises(Busy):
            await act(database, canonicalise("https://a.test/1"))
        with pytest.raises(NotFound):
            await act(database, canonicalise("https://a.test/unknown"))


async def test_a_removed_entry_is_new_when_found_again(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1")
    await remove(database, canonicalise("https://a.test/1"))
    assert (await count_entries(database)).by_source == (await recount_entries(database)).by_source == {}
    assert await queue(database, source, "https://a.test/1") == [SubmitOutcome.QUEUED]


async def test_a_list_is_paged_by_key_and_filtered(database: Database, source: UUID) -> None:
    urls = [f"https://h{n % 3}.test/{n}" for n in range(30)]
    await queue(database, source, *urls)
    seen: list[str] = []
    cursor = None
    while True:
        page = await list_entries(database, Filter(source_id=source), limit=7, cursor=cursor)
        seen += [entry.url for entry in page.entries]
        if (cursor := page.cursor) is None:
            break
    assert sorted(seen) == sorted(urls)
    on_host = await list_entries(database, Filter(host="h1.test"), limit=100)
    assert {entry.host for entry in on_host.entries} == {"h1.test"}
    assert len(on_host.entries) == 10
    prefixed = await list_entries(database, Filter(url_prefix="https://h2.test/2"), limit=100)
    assert {entry.url for entry in prefixed.entries} == {url for url in urls if url.startswith("https://h2.test/2")}
    assert (await list_entries(database, Filter(status=EntryStatus.DEAD), limit=5)).entries == []


async def test_bad_pages_are_refused(database: Database) -> None:
    for limit in (0, -1, 100_000):
        with pytest.raises(UsageError):
            await list_entries(database, Filter(), limit=limit)
    with pytest.raises(UsageError):
        await list_entries(database, Filter(), cursor="'; drop table url_frontier; --")


async def test_an_entry_explains_itself(database: Database, source: UUID) -> None:
    url = canonicalise("https://a.test/1")
    with pytest.raises(NotFound):
        await explain(database, url)
    await queue(database, source, url.url)
    assert (await explain(database, url)).why.startswith("ready")
    await judge_one(database, RetryLater("upstream", "HTTP 502"))
    told = await explain(database, url)
    assert told.why == "not due yet after a failed attempt: HTTP 502"
    assert told.next_at is not None
    assert [past.verdict for past in told.history] == ["retry_later"]
    await retry_now(database, url)
    assert "next slot is not open yet" in (await explain(database, url)).why
    await database.execute("update hosts set next_slot_at = '-infinity', wake_at = now()")
    await judge_one(database, HostSaysWait(timedelta(minutes=10)))
    assert (await explain(database, url)).why == "its host is closed: retry_after"


async def test_a_policy_holds_at_once_and_never_undercuts_robots(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1")
    await set_policy(database, "a.test", HostPolicy(max_concurrency=3, min_request_interval_ms=200, burst=2), SECOND)
    row = await read_host(database, "a.test")
    assert (row["delay_ms"], row["max_concurrency"], row["burst"]) == (200, 3, 2)
    async with database.transaction() as connection:
        await set_crawl_delay(connection, "a.test", timedelta(days=400), SECOND)
    row = await read_host(database, "a.test")
    assert (row["delay_ms"], row["burst"]) == (86_400_000, 1)
    assert pace_of(row).decided_by == "Crawl-delay of robots.txt"


@pytest.mark.parametrize("wrong", [{"max_concurrency": 0}, {"min_request_interval_ms": -1}, {"burst": 5000}])
def test_an_impossible_policy_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="is not possible"):
        HostPolicy(**wrong)  # type: ignore[arg-type]


async def test_the_manual_source_is_made_once(database: Database) -> None:
    async with database.transaction() as connection:
        first = await manual_source(connection)
    async with database.transaction() as connection:
        assert await manual_source(connection) == first
