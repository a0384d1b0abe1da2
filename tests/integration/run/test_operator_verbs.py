"""What a person does with URLs of the queue: to the front, never again, by class, in bulk."""

from uuid import UUID

import pytest
from tests.integration.run.queueing import judge_one, queue, status_of

from headwater.database.pool import Database
from headwater.errors import NotFound, Refused, UsageError
from headwater.frontier.control import kill, kill_where, raise_now, remove_where, retry_now, retry_where
from headwater.frontier.entry import DeadReason, EntryStatus
from headwater.frontier.explain import explain
from headwater.frontier.listing import count_matching
from headwater.frontier.reads import Filter, count_entries, failures_by_class, list_entries, recount_entries
from headwater.frontier.submit import SubmitOutcome
from headwater.frontier.verdicts import Dead, RetryLater
from headwater.ingest.taking_down import take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.sources.store import create_source
from headwater.urls.canonical import canonicalise

FIRST, SECOND, THIRD = (canonicalise(f"https://a.test/{n}") for n in (1, 2, 3))


@pytest.fixture
async def source(database: Database) -> UUID:
    async with database.transaction() as connection:
        return await create_source(connection, "Harbour News", "https://harbour.test/")


async def next_url(database: Database) -> str:
    await database.execute("update hosts set next_slot_at = '-infinity', wake_at = now()")
    return await judge_one(database, Dead(DeadReason.GONE))


async def test_what_is_raised_is_the_next_of_its_host(database: Database, source: UUID) -> None:
    await queue(database, source, FIRST.url, SECOND.url, THIRD.url)
    await raise_now(database, SECOND)
    await raise_now(database, THIRD)
    assert (await explain(database, THIRD)).ahead_on_host == 0
    assert (await explain(database, SECOND)).ahead_on_host == 1
    assert [await next_url(database) for _ in range(3)] == [THIRD.url, SECOND.url, FIRST.url]


async def test_the_dead_are_raised_as_well_and_the_taken_down_are_not(database: Database, source: UUID) -> None:
    await queue(database, source, FIRST.url)
    await judge_one(database, Dead(DeadReason.NOT_FOUND))
    await queue(database, source, SECOND.url)
    await raise_now(database, FIRST)
    assert await next_url(database) == FIRST.url
    await take_down_everywhere(database, parse_takedown("a.test"))
    with pytest.raises(Refused):
        await raise_now(database, SECOND)
    with pytest.raises(NotFound):
        await raise_now(database, canonicalise("https://b.test/"))


async def test_what_is_killed_is_fetched_never_again_and_says_who_did_it(database: Database, source: UUID) -> None:
    await queue(database, source, FIRST.url)
    await kill(database, FIRST, "ann", "spam\x1b[31m\nof the worst kind")
    told = await explain(database, FIRST)
    assert (told.status, told.reason) == (EntryStatus.DEAD, DeadReason.KILLED)
    assert told.why == "killed (by ann: spam[31m of the worst kind)"
    assert await queue(database, source, FIRST.url) == [SubmitOutcome.DUPLICATE]
    assert await retry_where(database, Filter(status=EntryStatus.DEAD)) == 0
    assert await status_of(database, FIRST.url) == "dead"
    assert await retry_where(database, Filter(status=EntryStatus.DEAD, reason="killed")) == 1
    await kill(database, FIRST, "ann", "")
    await retry_now(database, FIRST)
    assert await status_of(database, FIRST.url) == "pending"
    assert (await count_entries(database)).by_source == (await recount_entries(database)).by_source
    with pytest.raises(UsageError):
        await kill(database, FIRST, "ann", "x" * 501)
    with pytest.raises(NotFound):
        await kill(database, SECOND, "ann", "")


async def test_failures_are_grouped_by_what_went_wrong(database: Database, source: UUID) -> None:
    for n in range(5):
        await queue(database, source, f"https://h{n}.test/")
        await judge_one(database, Dead(DeadReason.NOT_FOUND) if n < 3 else RetryLater("upstream", "HTTP 502"))
    await queue(database, source, "https://h9.test/")
    groups = await failures_by_class(database)
    assert [(one.status, one.reason, one.entries) for one in groups] == [
        (EntryStatus.DEAD, "not_found", 3),
        (EntryStatus.FAILED, "upstream", 2),
    ]
    assert groups[1].said == "HTTP 502"
    of_class = Filter(status=EntryStatus.DEAD, reason="not_found")
    assert (await count_matching(database, of_class)).count == 3
    first = await list_entries(database, of_class, limit=2)
    rest = await list_entries(database, of_class, limit=2, cursor=first.cursor)
    assert len({one.url for one in (*first.entries, *rest.entries)}) == 3
    assert rest.cursor is None


async def test_many_are_killed_and_forgotten_by_a_filter_and_never_all_of_them(
    database: Database, source: UUID
) -> None:
    await queue(database, source, *(f"https://h{n % 2}.test/{n}" for n in range(6)))
    pending = Filter(status=EntryStatus.PENDING)
    for refused in (Filter(host="h0.test"), pending, Filter(status=EntryStatus.FETCHING, host="h0.test")):
        with pytest.raises(UsageError):
            await kill_where(database, refused, "ann", "")
        with pytest.raises(UsageError):
            await remove_where(database, refused)
    assert await kill_where(database, Filter(status=EntryStatus.PENDING, host="h0.test"), "ann", "spam") == 3
    assert await remove_where(database, Filter(status=EntryStatus.DEAD, reason="killed")) == 3
    assert (await count_entries(database)).by_status[EntryStatus.PENDING] == 3
    assert (await count_entries(database)).by_source == (await recount_entries(database)).by_source
