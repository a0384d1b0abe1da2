"""A takedown at every moment of a transaction that stores, and killed at every step of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.archive.shelf import LONG, Shelf, broken, key_of, page
from tests.integration.frontier.invariants import broken_invariants
from tests.integration.frontier.stage import AT_ONCE, DELAY, Stage, add_source
from tests.integration.frontier.surgery import STOP_HERE, alter, closed_gate, until
from tests.integration.ingest.remains import is_waiting, remains_of

from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.raw import RawBody
from headwater.chance import random_from
from headwater.database.pool import Database
from headwater.errors import HeadwaterError
from headwater.frontier.entry import Lease
from headwater.frontier.submit import SubmitOutcome
from headwater.frontier.verdicts import Fetched, Moved, RetryPolicy, Verdict, settlement_of
from headwater.ingest.page_context import PageContext
from headwater.ingest.page_store import NOTHING, PageEffects, PageStore
from headwater.ingest.taking_down import finish_takedowns, lift, outlive_earlier, take_down_everywhere
from headwater.politeness.takedown import parse_takedown, takedowns_for
from headwater.sources.source import Profile
from headwater.urls.domains import Voice
from headwater.vacancy import NewJob

GONE, ELSEWHERE = "gone.example", "https://fine.example/1"
PAGE, OTHER_PAGE = f"https://www.{GONE}/1", f"https://{GONE}/2"
TAKEDOWN = parse_takedown(GONE)
AT_ONCE_OVERDUE = timedelta()


@dataclass(frozen=True)
class Desk:
    stage: Stage

    @property
    def database(self) -> Database:
        return self.stage.database

    async def lease(self, url: str) -> Lease:
        await self.stage.submit(url)
        return replace(await self.stage.claim_one(), fetch_count=1)

    async def keep(self, lease: Lease, verdict: Verdict, effects: PageEffects = NOTHING) -> bool:
        settlement = settlement_of(lease, verdict, AT_ONCE, RetryPolicy(), random_from(1))
        return await PageStore(self.database, DELAY).keep(lease, verdict, settlement, effects)

    async def finish(self) -> None:
        await finish_takedowns(self.database, AT_ONCE_OVERDUE)


@pytest.fixture
async def desk(database_url: str) -> AsyncIterator[Desk]:
    async with await Database.connect(database_url, size=5) as database:
        stage = Stage(database, await add_source(database))
        yield Desk(stage)
        assert await broken(database) == []
        assert await broken_invariants(database, stage.now) == []


def effects_of(url: str, **fields: Any) -> PageEffects:
    raw = RawBody(key_of(url), page(url).source_id, url, 200, {}, b"<p>")
    return PageEffects(page(url, **fields), raw=raw)


def vacancy(**fields: Any) -> NewJob:
    ours = {"canonical_hash": b"h" * 32, "title": "Nurse", "org_name": "Org", "apply_url": ELSEWHERE}
    return NewJob(**ours | fields)


# What stores, each ready to run: everything it needs has been claimed and read before the takedown.
Work = Callable[[], Awaitable[object]]
Prepare = Callable[[Desk], Awaitable[Work]]
Stop = tuple[str, str, str, bool]


async def a_page(desk: Desk) -> Work:
    lease = await desk.lease(PAGE)
    return lambda: desk.keep(lease, Fetched(), effects_of(PAGE))


async def a_page_that_calls_it_canonical(desk: Desk) -> Work:
    # So deep that the page it names is not asked for: all of it is one statement.
    lease = replace(await desk.lease(ELSEWHERE), depth=1)
    effects = effects_of(ELSEWHERE)
    assert effects.document
    document = replace(effects.document, canonical_url=PAGE, claimed=key_of(PAGE))
    return lambda: desk.keep(lease, Fetched(), replace(effects, document=document))


async def a_redirect_to_it(desk: Desk) -> Work:
    lease = await desk.lease(ELSEWHERE)
    return lambda: desk.keep(lease, Moved(PAGE))


async def a_redirect_from_it(desk: Desk) -> Work:
    lease = await desk.lease(PAGE)
    return lambda: desk.keep(lease, Moved(ELSEWHERE))


async def a_crawled_page(desk: Desk) -> Work:
    lease = await desk.lease(PAGE)
    source = Profile(f"https://{GONE}/", max_depth=5, allow_external=True)
    effects = replace(effects_of(PAGE), links=(OTHER_PAGE, ELSEWHERE), known=PageContext(source, crawls=True))
    return lambda: desk.keep(lease, Fetched(), effects)


async def a_vacancy_on_its_page(desk: Desk) -> Work:
    lease = await desk.lease(PAGE)
    effects = replace(effects_of(PAGE), document=None, jobs=(vacancy(page_url=PAGE, is_detailed=True),))
    return lambda: desk.keep(lease, Fetched(), effects)


async def a_vacancy_one_applies_for_there(desk: Desk) -> Work:
    lease = await desk.lease(ELSEWHERE)
    effects = replace(effects_of(ELSEWHERE), document=None, jobs=(vacancy(apply_url=PAGE, page_url=ELSEWHERE),))
    return lambda: desk.keep(lease, Fetched(), effects)


async def a_submit(desk: Desk) -> Work:
    return lambda: desk.stage.submit(OTHER_PAGE)


async def a_list_of_vacancies(desk: Desk) -> Work:
    teller = Teller(UUID(int=7), f"https://{GONE}/jobs", Voice(GONE), source_url="https://fine.example/")
    job = vacancy(page_url=teller.url)

    async def work() -> None:
        async with desk.database.transaction() as connection:
            await keep_jobs(connection, teller, [job], desk.stage.now)

    return work


ASKS_THE_PAGE = (a_page, a_page_that_calls_it_canonical)
ASKS_FIRST = (
    a_redirect_to_it,
    a_redirect_from_it,
    a_crawled_page,
    a_vacancy_on_its_page,
    a_vacancy_one_applies_for_there,
    a_submit,
    a_list_of_vacancies,
)
WATCH = "perform watch_takedowns();"
# Where the transaction stops, in which function, and whether a takedown must wait for it there.
PAGE_STOPS = {
    "before it looks": ("is_taken_down", WATCH, f"{STOP_HERE} {WATCH}", False),
    "before it sees": ("is_taken_down", WATCH, f"{WATCH} {STOP_HERE}", True),
    "after it saw": (
        "keep_page",
        "if cardinality(settle_requests",
        f"{STOP_HERE} if cardinality(settle_requests",
        True,
    ),
    "before the body": ("keep_page", "if p_body.url_hash", f"{STOP_HERE} if p_body.url_hash", True),
    "with everything stored": ("keep_page", "return true;\nend", f"{STOP_HERE} return true;\nend", True),
}
OTHER_STOPS = {
    "before it looks": ("takedowns_over", WATCH, f"{STOP_HERE} {WATCH}", False),
    "before it sees": ("takedowns_over", WATCH, f"{WATCH} {STOP_HERE}", True),
    "after it saw": ("takedowns_over", "(p_domains);", f"(p_domains); {STOP_HERE}", True),
}
CASES = [
    *((work, where) for work in ASKS_THE_PAGE for where in PAGE_STOPS.items()),
    *((work, where) for work in ASKS_FIRST for where in OTHER_STOPS.items()),
]
NAMES = [f"{work.__name__}-{where}" for work, (where, _) in CASES]


@pytest.mark.parametrize(("work", "where"), CASES, ids=NAMES)
async def test_wherever_a_transaction_is_when_its_place_is_taken_down_nothing_of_it_is_left(
    desk: Desk,
    database_url: str,
    work: Callable[[Desk], Awaitable[Work]],
    where: tuple[str, tuple[str, str, str, bool]],
) -> None:
    store = await work(desk)
    function, old, new, must_wait = where[1]
    await alter(desk.database, function, (old, new))
    async with closed_gate(database_url) as somebody_stopped:
        storing = asyncio.ensure_future(store())
        await somebody_stopped()
        taking = asyncio.create_task(take_down_everywhere(desk.database, TAKEDOWN))
        if must_wait:
            await until(lambda: is_waiting(desk.database))
        else:
            await taking
    await storing
    await taking
    await desk.finish()
    assert await remains_of(desk.database, GONE) == []


@pytest.mark.parametrize(("work", "where"), CASES, ids=NAMES)
async def test_killed_wherever_it_is_a_transaction_leaves_nothing_of_what_is_taken_down(
    desk: Desk,
    database_url: str,
    work: Callable[[Desk], Awaitable[Work]],
    where: tuple[str, tuple[str, str, str, bool]],
) -> None:
    store = await work(desk)
    function, old, new, _ = where[1]
    await alter(desk.database, function, (old, new))
    async with closed_gate(database_url) as somebody_stopped:
        storing = asyncio.ensure_future(store())
        await somebody_stopped()
        taking = asyncio.create_task(take_down_everywhere(desk.database, TAKEDOWN))
        await desk.database.execute("""
            SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE NOT granted AND locktype = 'advisory' AND datname = current_database()""")
        with pytest.raises(HeadwaterError):
            await storing
        await taking
    await alter(desk.database, function, (new, old))
    desk.stage.wait(3_600)
    await desk.stage.rescue()
    await desk.finish()
    assert await remains_of(desk.database, GONE) == []


STEPS = ("close_host", "outlive_watchers", "change_entries", "tombstone_documents", "strip_claim")


@pytest.mark.parametrize("step", STEPS)
async def test_killed_at_any_step_a_takedown_is_finished_by_maintenance(desk: Desk, step: str) -> None:
    await desk.keep(await desk.lease(PAGE), Fetched(), effects_of(PAGE))
    async with desk.database.transaction() as connection:
        teller = Teller(UUID(int=7), ELSEWHERE, Voice("fine.example"))
        await keep_jobs(connection, teller, [vacancy(apply_url=PAGE)], desk.stage.now)
    await Shelf(desk.database).keep(ELSEWHERE, f"{LONG} more", canonical_url=PAGE, claimed=key_of(PAGE))
    await alter(desk.database, step, ("begin\n", "begin\n raise 'killed'; \n"))
    with pytest.raises(HeadwaterError, match="killed"):
        await take_down_everywhere(desk.database, TAKEDOWN)
    assert await remains_of(desk.database, GONE) != []
    # From the first moment on nothing new gets in.
    assert await desk.stage.submit(OTHER_PAGE) == [SubmitOutcome.REJECTED]
    await alter(desk.database, step, ("begin\n raise 'killed'; \n", "begin\n"))
    await desk.finish()
    assert await remains_of(desk.database, GONE) == []
    assert (await Shelf(desk.database).row(ELSEWHERE))["claimed_url"] is None


async def test_a_page_elsewhere_that_claims_a_taken_down_address_is_stored_under_its_own(desk: Desk) -> None:
    store = await a_page_that_calls_it_canonical(desk)
    await take_down_everywhere(desk.database, TAKEDOWN)
    await store()
    row = await Shelf(desk.database).row(ELSEWHERE)
    assert (row["url"], row["canonical_url"], row["deleted_at"]) == (ELSEWHERE, ELSEWHERE, None)
    assert await remains_of(desk.database, GONE) == []


async def test_a_fetch_under_way_ends_as_taken_down_whatever_it_brings(desk: Desk) -> None:
    lease = await desk.lease(PAGE)
    done = await take_down_everywhere(desk.database, TAKEDOWN)
    assert (done.entries, done.living, done.is_whole) == (0, 1, False)
    assert await desk.keep(lease, Fetched(), effects_of(PAGE))
    entry = await desk.stage.entry(PAGE)
    assert (entry["status"], entry["reason"]) == ("dead", "takedown")
    log = await desk.database.fetchrow("SELECT verdict, reason, status FROM fetch_log")
    assert log is not None
    assert tuple(log) == ("dead", "takedown", 200)


async def test_a_fetch_that_is_given_back_is_ended_by_maintenance(desk: Desk) -> None:
    await desk.lease(PAGE)
    await take_down_everywhere(desk.database, TAKEDOWN)
    desk.stage.wait(3_600)
    await desk.stage.rescue()
    assert (await desk.stage.entry(PAGE))["status"] == "pending"
    await desk.finish()
    assert await remains_of(desk.database, GONE) == []


async def test_a_takedown_that_is_lifted_while_it_is_swept_leaves_no_host_closed(desk: Desk, database_url: str) -> None:
    await desk.stage.submit(PAGE)
    await alter(desk.database, "close_host", ("begin\n", f"begin\n {STOP_HERE} \n"))
    async with closed_gate(database_url) as somebody_stopped:
        taking = asyncio.create_task(take_down_everywhere(desk.database, TAKEDOWN))
        await somebody_stopped()
        lifting = asyncio.create_task(lift(desk.database, TAKEDOWN))
        await until(lambda: desk.database.fetchval("SELECT count(*) = 0 FROM takedowns"))
    await asyncio.gather(taking, lifting)
    assert await desk.database.fetchval("SELECT count(*) FROM host_closures") == 0


async def test_taken_down_twice_the_second_time_finds_nothing(desk: Desk) -> None:
    await desk.keep(await desk.lease(PAGE), Fetched(), effects_of(PAGE))
    first = await take_down_everywhere(desk.database, TAKEDOWN, "asked")
    assert (first.entries, first.documents, first.is_whole) == (1, 1, True)
    second = await take_down_everywhere(desk.database, TAKEDOWN, "again")
    assert (second.entries, second.documents, second.is_whole) == (0, 0, True)
    assert await desk.database.fetchval("SELECT reason FROM takedowns") == "asked"


async def test_nobody_waits_for_a_takedown_that_waits_for_others(desk: Desk) -> None:
    lease = await desk.lease(ELSEWHERE)
    async with desk.database.transaction() as connection:
        await takedowns_for(connection, [GONE])
        taking = asyncio.create_task(take_down_everywhere(desk.database, TAKEDOWN))
        await until(lambda: is_waiting(desk.database))
        assert await desk.keep(lease, Fetched(), effects_of(ELSEWHERE))
        assert await desk.stage.submit("https://fine.example/2") == [SubmitOutcome.QUEUED]
        assert not taking.done()
    await taking
    assert await desk.database.fetchval("SELECT count(*) FROM documents WHERE deleted_at IS NULL") == 1


async def test_a_transaction_without_end_is_waited_for_only_so_long(desk: Desk) -> None:
    async with desk.database.transaction() as connection:
        await takedowns_for(connection, [GONE])
        assert not await outlive_earlier(desk.database, timedelta(milliseconds=100))
    assert await outlive_earlier(desk.database, timedelta(milliseconds=100))
