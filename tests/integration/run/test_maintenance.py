"""Maintenance on a real database: each chore does its work, alone and beside others."""

import asyncio
import io
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.days import keep_days
from headwater.database.pool import Database
from headwater.discover.adding import Stopped, change_status
from headwater.figures import LEASES_RESCUED
from headwater.frontier import maintain
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import DeadReason, EntryOrigin, EntryStatus
from headwater.frontier.reads import count_both_ways, count_entries_of, count_statuses, recount_statuses
from headwater.frontier.settle import settle
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.frontier.verdicts import Dead, Fetched, RetryPolicy, settlement_of
from headwater.log import make_logger
from headwater.politeness.slots import Visit
from headwater.reports.discovery import summary
from headwater.reports.operations import operations_now
from headwater.run.maintenance import Maintenance
from headwater.sources.source import SourceStatus
from headwater.sources.store import create_source

LEASE = timedelta(seconds=60)


@pytest.fixture
async def source(database: Database) -> UUID:
    async with database.transaction() as connection:
        return await create_source(connection, "Harbour News", "https://harbour.test/")


async def queue(database: Database, source: UUID, *urls: str) -> None:
    async with database.transaction() as connection:
        await submit(connection, Submitter(source, EntryOrigin.MANUAL), [FoundUrl(url) for url in urls])


async def fetch_one(database: Database, verdict: Fetched, now: datetime | None = None) -> None:
    claimed = await Claimer(database, SystemClock(), "w", LEASE).claim(1, now)
    visit = Visit(timedelta(), timedelta(milliseconds=80), 200, 1000)
    settlement = settlement_of(claimed.leases[0], verdict, visit, RetryPolicy(), random_from(1))
    assert await settle(database, [settlement], now)


def maintenance(
    database: Database, log: io.StringIO, longest_snapshot: timedelta = timedelta(minutes=1)
) -> Maintenance:
    logger = make_logger("info", "json", stream=log)
    sweep = timedelta(seconds=10)
    return Maintenance(
        database, SystemClock(), random_from(1), logger, sweep, {"fetch_log": 30, "runs": 30}, 60, 30, longest_snapshot
    )


async def test_every_chore_runs_on_an_empty_database(database: Database) -> None:
    await maintenance(database, io.StringIO()).once()


async def test_folding_keeps_the_counters_equal_to_a_recount(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1", "https://b.test/2")
    await fetch_one(database, Fetched())
    assert await maintain.fold_counters(database)
    assert await database.fetchval("select count(*) from counter_deltas") == 0
    counted, recounted = await count_both_ways(database)
    assert counted.by_source == recounted.by_source
    assert counted.by_status[EntryStatus.FETCHED] == 1


async def test_the_totals_equal_a_recount_before_and_after_a_fold(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1", "https://b.test/2", "https://c.test/3")
    await fetch_one(database, Fetched())
    # A lease that is held counts as being fetched.
    await Claimer(database, SystemClock(), "w", LEASE).claim(1)
    for _ in range(3):
        assert await count_statuses(database) == await recount_statuses(database)
        assert (await count_statuses(database))[EntryStatus.FETCHING] == 1
        assert (await count_entries_of(database, [source])).by_status == await count_statuses(database)
        assert await maintain.fold_counters(database)


LOG_RUN = """
    insert into runs (at, id, source_id, channel_id, kind, trigger, status, inserted, duration_ms)
    select now() - ago, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'feed', 'schedule', status, 3, 5
    from unnest($1::interval[], $2::text[]) as r (ago, status)
"""


async def test_runs_of_the_last_day_are_counted_alike_before_and_after_a_fold(database: Database) -> None:
    await database.execute("update statistics_mark set runs_folded_until = now() - interval '1 day'")
    ago = [timedelta(hours=23), timedelta(hours=22), timedelta(minutes=2), timedelta(seconds=20)]
    await database.execute("select ensure_days('runs', (now() at time zone 'utc')::date - 2, 3)")
    await database.execute(LOG_RUN, [timedelta(hours=25), *ago], ["fail", "ok", "fail", "ok", "ok"])
    for _ in range(3):
        found = await summary(database)
        assert (found.runs, found.failed_runs, found.found) == (4, 1, 12)
        await maintain.fold_statistics(database)
    folded = await database.fetchval("select sum(runs) from run_minutes")
    assert folded == 3, "the last minute is not folded: its writers may not have ended"


async def test_minutes_of_days_ago_are_forgotten(database: Database) -> None:
    await database.execute("insert into run_minutes values (now() - interval '3 days', 1, 0, 0)")
    await maintain.fold_statistics(database)
    assert await database.fetchval("select count(*) from run_minutes") == 0


async def test_two_folds_at_once_count_nothing_twice(database: Database, source: UUID) -> None:
    await queue(database, source, *(f"https://h{n}.test/" for n in range(50)))
    await asyncio.gather(*(maintain.fold_counters(database) for _ in range(4)))
    counted, recounted = await count_both_ways(database)
    assert counted.by_source == recounted.by_source


async def test_a_due_revisit_is_queued_again(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1")
    await fetch_one(database, Fetched(revisit_in=timedelta(minutes=5)))
    assert await maintain.queue_revisits(database) == 0
    later = datetime.now(UTC) + timedelta(minutes=6)
    assert await maintain.queue_revisits(database, later) == 1
    assert await database.fetchval("select status from url_frontier") == "pending"


async def test_an_expired_lease_is_rescued_and_said_so(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1")
    await Claimer(database, SystemClock(), "dead", LEASE).claim(1)
    await database.execute("update slots set expires_at = now() - interval '1 second'")
    log = io.StringIO()
    upkeep = maintenance(database, log)
    await upkeep.once()
    assert '"leases_rescued"' in log.getvalue()
    assert upkeep.figures.counts[LEASES_RESCUED] == 1
    assert await database.fetchval("select in_flight from hosts") == 0


async def test_statistics_are_folded_once(database: Database, source: UUID) -> None:
    await queue(database, source, "https://a.test/1")
    await fetch_one(database, Fetched())
    await database.execute("update fetch_log set at = at - interval '2 minutes'")
    await database.execute("update statistics_mark set folded_until = now() - interval '10 minutes'")
    await maintain.fold_statistics(database)
    await maintain.fold_statistics(database)
    row = await database.fetchrow("select requests, succeeded, body_bytes, last_status from host_statistics")
    assert row is not None
    assert tuple(row) == (1, 1, 1000, 200)


async def test_a_page_that_is_not_there_is_no_failure_of_its_host(database: Database, source: UUID) -> None:
    statuses = (200, 404, 410, 500, 403, None)
    urls = [f"https://a.test/{number}" for number in range(len(statuses))]
    await queue(database, source, *urls, "https://a.test/never-asked")
    await database.execute("update hosts set delay_ms = 0, max_concurrency = 9")
    visits = [Visit(timedelta(), timedelta(milliseconds=80), status, 0) for status in statuses]
    for visit in (*visits, Visit()):
        await database.execute("update hosts set next_slot_at = now() - interval '1 second', wake_at = next_slot_at")
        [lease] = (await Claimer(database, SystemClock(), "w", LEASE).claim(1)).leases
        ended = settlement_of(lease, Dead(DeadReason.NOT_FOUND), visit, RetryPolicy(), random_from(1))
        assert await settle(database, [ended])
    await database.execute("update fetch_log set at = at - interval '2 minutes'")
    await database.execute("update statistics_mark set folded_until = now() - interval '10 minutes'")
    await maintain.fold_statistics(database)
    row = await database.fetchrow("select requests, succeeded, failed from host_statistics")
    assert row is not None
    assert tuple(row) == (6, 1, 3)


async def test_requests_are_counted_by_what_was_answered(database: Database) -> None:
    """Those that were not made for robots.txt too; by the minute, and since ever."""
    await database.execute(
        "insert into fetch_log (at, bucket, host, token, kind, owner, started_at, status, verdict, reason)"
        " select now() - interval '5 minutes', 1, 'a.test', gen_random_uuid(), 'page', 'w', v.* from (values"
        " (now(), 200, 'fetched', null), (now(), 204, 'fetched', null), (now(), 304, 'unchanged', null),"
        " (now(), 503, 'host_says_wait', ''), (now(), null, 'retry_later', 'timeout'),"
        " (null, null, 'dead', 'robots_blocked'), (null, null, 'crashed', 'lease_expired')) as v"
    )
    await database.execute("update statistics_mark set folded_until = now() - interval '10 minutes'")
    await maintain.fold_statistics(database)
    await maintain.fold_statistics(database)
    counted = {"2xx": 2, "3xx": 1, "5xx": 1, "crashed": 1, "no_answer": 1, "robots_blocked": 1}
    assert (await operations_now(database)).requests == counted
    totals = await database.fetch("select class, requests from request_totals")
    assert {row["class"]: row["requests"] for row in totals} == counted


async def test_old_days_of_the_fetch_log_are_dropped_and_coming_days_are_made(database: Database) -> None:
    await database.execute("select ensure_days('fetch_log', (now() at time zone 'utc')::date - 40, 3)")
    dropped = await keep_days(database, "fetch_log", retention_days=30)
    assert len(dropped) == 3
    ahead = await database.fetchval(
        "select to_regclass('fetch_log_' || to_char(now() + interval '10 days', 'YYYYMMDD'))"
    )
    assert ahead is not None


async def test_dropping_a_day_does_not_stall_writers_while_a_reader_is_open(database: Database, source: UUID) -> None:
    await database.execute("select ensure_days('fetch_log', (now() at time zone 'utc')::date - 40, 1)")
    await queue(database, source, "https://a.test/1")
    async with database.transaction(readonly=True, snapshot=True) as reader:
        await reader.fetchval("select count(*) from hosts")
        dropping = asyncio.create_task(keep_days(database, "fetch_log", retention_days=30))
        async with asyncio.timeout(300):
            await fetch_one(database, Fetched())
    await dropping


async def test_pausing_sets_entries_aside_and_resuming_lets_them_go(database: Database, source: UUID) -> None:
    await queue(database, source, *(f"https://h{n}.test/" for n in range(5)))
    assert await change_status(database, source, SourceStatus.PAUSED, "asked by its owner") == Stopped(5)
    claimer = Claimer(database, SystemClock(), "w", LEASE)
    assert (await claimer.claim(10)).leases == []
    assert await change_status(database, source, SourceStatus.ACTIVE) == Stopped(5)
    assert len((await claimer.claim(10)).leases) == 5


async def test_another_active_source_takes_over_what_a_paused_one_found(database: Database, source: UUID) -> None:
    async with database.transaction() as connection:
        other = await create_source(connection, "Second", "https://second.test/")
    await queue(database, source, "https://shared.test/1", "https://own.test/2")
    await queue(database, other, "https://shared.test/1")
    await change_status(database, source, SourceStatus.PAUSED)
    leases = (await Claimer(database, SystemClock(), "w", LEASE).claim(10)).leases
    assert [(lease.host, lease.source_id) for lease in leases] == [("shared.test", other)]
    counted, recounted = await count_both_ways(database)
    assert counted.by_source == recounted.by_source


async def test_what_slipped_past_a_pause_is_set_aside_by_maintenance(database: Database, source: UUID) -> None:
    await change_status(database, source, SourceStatus.PAUSED)
    await queue(database, source, "https://late.test/1")
    assert await maintain.follow_source_status(database) == 1
    assert await database.fetchval("select held from url_frontier") == "paused"


async def test_an_old_snapshot_raises_an_alarm_that_names_its_holder(database: Database, database_url: str) -> None:
    log = io.StringIO()
    async with (
        await Database.connect(database_url, size=1, application_name="forgotten report") as other,
        other.transaction(readonly=True, snapshot=True) as reader,
    ):
        await reader.fetchval("select count(*) from hosts")
        await maintenance(database, log).once()
        assert "old_snapshot" not in log.getvalue()
        await maintenance(database, log, longest_snapshot=timedelta()).once()
    assert "old_snapshot_holds_vacuum_back" in log.getvalue()
    assert "forgotten report" in log.getvalue()


async def test_an_open_transaction_without_a_snapshot_raises_the_alarm_too(
    database: Database, database_url: str
) -> None:
    """It has written, and does nothing any more: vacuum waits for it all the same."""
    log = io.StringIO()
    async with (
        await Database.connect(database_url, size=1, application_name="forgotten change") as other,
        other.transaction() as writer,
    ):
        await writer.execute("select txid_current()")
        await maintenance(database, log, longest_snapshot=timedelta()).once()
    assert "forgotten change" in log.getvalue()
