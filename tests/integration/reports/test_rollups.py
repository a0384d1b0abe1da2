"""Figures by the minute and by the hour: each row counted once, whatever is broken off, repeated or late."""

import asyncio
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.integration.reports.test_exposition import scraped

from headwater.database.pool import Database
from headwater.errors import QueryFailed, UsageError
from headwater.reports import rolling
from headwater.reports.rolling import forget_rollups, next_piece, recount, roll_up, roll_up_sources
from headwater.reports.rollups import hours_of_sources, series_of, step_for

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
LOG_REQUESTS = """
    insert into fetch_log (at, bucket, host, token, kind, owner, started_at, duration_ms, status, body_bytes, verdict)
    select clock_timestamp() - ago, 1, 'a.test', gen_random_uuid(), 'page', 'w', now(), 50, 200, 1000, 'done'
    from unnest($1::interval[]) as ago
"""
LOG_RUNS = """
    insert into runs (at, id, source_id, channel_id, kind, trigger, status, inserted, duration_ms, next_poll_at, policy)
    select clock_timestamp() - ago, gen_random_uuid(), $2, $2, 'feed', 'schedule', status, 3, 5,
           clock_timestamp() - ago + interval '5 hours', 'adaptive'
    from unnest($1::interval[], $3::text[]) as r (ago, status)
"""
SINCE_EVER = (
    "select figure, label, sum(count)::bigint from {table} where figure <> 'frontier' group by 1, 2 order by 1, 2"
)


async def log_runs(database: Database, source: UUID, *ago: timedelta, status: str = "ok") -> None:
    await database.execute(LOG_RUNS, list(ago), source, [status] * len(ago))


async def sums(database: Database, table: str) -> dict[tuple[str, str], int]:
    return {(row[0], row[1]): row[2] for row in await database.fetch(SINCE_EVER.format(table=table))}


async def recounted(database: Database) -> dict[tuple[str, str], int]:
    """From the tables themselves, all at once."""
    found: dict[tuple[str, str], int] = {}
    async with database.transaction() as connection:
        for _, figure, label, count in await recount(connection, datetime.now(UTC) - DAY, datetime.now(UTC) + DAY):
            found[figure, label] = found.get((figure, label), 0) + count
    return found


async def agree(database: Database) -> None:
    expected = await recounted(database)
    for table in ("rollup_minutes", "rollup_hours", "rollup_totals"):
        assert await sums(database, table) == expected, table


@pytest.fixture
def source() -> UUID:
    return uuid4()


async def test_all_three_tables_equal_a_recount_however_often_it_is_counted(database: Database, source: UUID) -> None:
    random = Random(1)
    for _ in range(5):
        ago = [random.random() * 5 * MINUTE for _ in range(20)]
        await database.execute(LOG_REQUESTS, ago)
        await log_runs(database, source, *ago[:7])
        await log_runs(database, source, *ago[7:9], status="fail")
        await roll_up(database)
        await agree(database)
    assert (await sums(database, "rollup_totals"))["requests", "page.2xx"] == 100
    assert (await sums(database, "rollup_totals"))["polls", "feed.failed"] == 10
    assert (await sums(database, "rollup_totals"))["polls_avoided", "rhythm"] == 5 * 9 * 4


async def test_rows_that_are_committed_late_are_counted(database: Database, source: UUID) -> None:
    """The first of two transactions takes its time first and commits last, when its minute was counted already."""
    async with database.transaction() as slow:
        await slow.execute(LOG_REQUESTS, [4 * MINUTE])
        await slow.execute(LOG_RUNS, [8 * MINUTE], source, ["ok"])
        await database.execute(LOG_REQUESTS, [2 * MINUTE])
        await roll_up(database)
        assert (await sums(database, "rollup_totals"))["requests", "page.2xx"] == 1
    await roll_up(database)
    await agree(database)
    assert (await sums(database, "rollup_totals"))["requests", "page.2xx"] == 2
    assert (await sums(database, "rollup_totals"))["polls", "feed.new"] == 1


BREAK = """
    create function break_off() returns trigger language plpgsql as $$ begin raise 'broken off'; end $$;
    create trigger break_off before insert or update on {table} for each row execute function break_off()
"""


@pytest.mark.parametrize("table", ["rollup_minutes", "rollup_hours", "rollup_totals", "rollup_mark"])
async def test_a_count_that_is_broken_off_anywhere_leaves_no_trace(
    database: Database, source: UUID, table: str
) -> None:
    await database.execute(LOG_REQUESTS, [MINUTE] * 10)
    await log_runs(database, source, 2 * MINUTE)
    await database.execute(BREAK.format(table=table))
    with pytest.raises(QueryFailed, match="broken off"):
        await roll_up(database)
    assert await sums(database, "rollup_totals") == {}
    await database.execute("drop function break_off cascade")
    await roll_up(database)
    await agree(database)


async def test_counting_goes_on_where_it_was_when_it_is_cancelled(database: Database, source: UUID) -> None:
    await database.execute("update rollup_mark set rolled_until = now() - interval '6 hours'")
    ago = [number * MINUTE for number in range(300)]
    await database.execute(LOG_REQUESTS, ago)
    await log_runs(database, source, *ago)
    random = Random(7)
    for _ in range(12):
        task = asyncio.create_task(roll_up(database))
        await asyncio.sleep(random.random() * 0.05)
        task.cancel()
        await asyncio.wait([task])
    while not await roll_up(database):
        await asyncio.sleep(0.01)
    await agree(database)


async def test_several_that_count_at_once_count_nothing_twice(database: Database, source: UUID) -> None:
    await database.execute(LOG_REQUESTS, [MINUTE] * 50)
    await asyncio.gather(*(roll_up(database) for _ in range(5)))
    await roll_up(database)
    await agree(database)


async def test_sums_of_processes_and_sinks_are_rolled_once(database: Database) -> None:
    await database.execute("insert into figure_totals values ('politeness_wait.100', 5), ('work_lost', 2)")
    await database.execute("insert into sinks (name, type, position, sent) values ('store', 'files', 0, 40)")
    await roll_up(database)
    await roll_up(database)
    await database.execute("update figure_totals set count = count + 1")
    await database.execute("update sinks set sent = sent + 2")
    await roll_up(database)
    for table in ("rollup_minutes", "rollup_hours", "rollup_totals"):
        found = {figure: count for (figure, _), count in (await sums(database, table)).items()}
        assert found == {"politeness_wait": 6, "work_lost": 3, "delivered": 42}


async def test_documents_that_are_removed_take_nothing_back(database: Database) -> None:
    await database.execute(
        "insert into rollup_minutes values ('documents', date_trunc('minute', now()) - interval '1 minute', '', 5)"
    )
    await database.execute("insert into rollup_totals values ('documents', '', 5)")
    await roll_up(database)
    assert (await scraped(database))["headwater_documents_stored_total"][()] == 5


async def test_a_clock_that_was_set_back_loses_no_minute(database: Database) -> None:
    """What is written in the minutes that are lived twice is added to them."""
    await database.execute(LOG_REQUESTS, [5 * MINUTE] * 3)
    await roll_up(database)
    await database.execute("update rollup_mark set rolled_until = now() + interval '1 hour'")
    await database.execute(LOG_REQUESTS, [5 * MINUTE] * 2)
    await roll_up(database)
    await agree(database)


def test_after_a_long_absence_it_is_counted_in_pieces() -> None:
    now = datetime(2026, 3, 4, 12, 0, 30, tzinfo=UTC)
    start, until = next_piece(now - DAY, now)
    assert (start, until) == (datetime(2026, 3, 3, 11, 50, tzinfo=UTC), datetime(2026, 3, 3, 12, 20, tzinfo=UTC))
    assert next_piece(now - MINUTE, now) == (datetime(2026, 3, 4, 11, 49, tzinfo=UTC), now)


async def test_old_minutes_and_hours_are_forgotten_and_sums_stay(database: Database) -> None:
    await database.execute(
        "insert into rollup_minutes select 'polls', now() - ago, '', 1 from unnest($1::interval[]) as ago",
        [HOUR, 49 * HOUR],
    )
    await database.execute(
        "insert into rollup_hours select 'polls', now() - ago, '', 1 from unnest($1::interval[]) as ago",
        [DAY, 401 * DAY],
    )
    await database.execute("insert into rollup_totals values ('polls', '', 2)")
    await database.execute(
        "insert into source_days select gen_random_uuid(), current_date - ago, '{}', '{}', '{}'"
        " from generate_series(30, 40) as ago"
    )
    await forget_rollups(database, rolling.RollupDays())
    counts = [
        await database.fetchval(f"select count(*) from rollup_{table}") for table in ("minutes", "hours", "totals")
    ]
    assert counts == [1, 1, 1]
    assert await database.fetchval("select count(*) from source_days") == 6


async def test_a_series_has_a_point_for_each_step_and_zeros_between(database: Database, source: UUID) -> None:
    await log_runs(database, source, 3 * MINUTE, 3 * MINUTE, 10 * MINUTE)
    await roll_up(database)
    now = datetime.now(UTC)
    series = await series_of(database, "polls", now - HOUR, now)
    assert (series.step, list(series.points)) == (MINUTE, ["feed.new"])
    assert len(series.points["feed.new"]) in {60, 61}
    assert sorted(point for point in series.sums if point) in ([1, 2], [3])
    by_hours = await series_of(database, "polls", now - 2 * DAY - HOUR, now, HOUR)
    assert (sum(by_hours.sums), len(by_hours.sums)) == (3, 50)
    assert (await series_of(database, "nothing", now - HOUR, now)).points == {}


async def test_a_level_stays_between_its_notes(database: Database) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    await database.execute(
        "insert into rollup_minutes values ('frontier', $1, 'pending', 7), ('frontier', $2, 'pending', 9)",
        now - 4 * MINUTE,
        now - 2 * MINUTE,
    )
    series = await series_of(database, "frontier", now - 5 * MINUTE, now + MINUTE)
    assert series.points == {"pending": (0, 7, 7, 9, 9, 9)}


@pytest.mark.parametrize(
    ("length", "step"),
    [(HOUR, MINUTE), (DAY, 5 * MINUTE), (2 * DAY, 10 * MINUTE), (7 * DAY, HOUR), (400 * DAY, 2 * DAY)],
)
def test_the_finest_step_that_fits_is_taken(length: timedelta, step: timedelta) -> None:
    now = datetime(2026, 3, 4, 12, tzinfo=UTC)
    assert step_for(now - length, now, now) == step


@pytest.mark.parametrize(
    ("length", "step"),
    [(DAY, MINUTE), (HOUR, timedelta(seconds=90)), (5 * DAY, 30 * MINUTE), (-HOUR, MINUTE)],
    ids=["too many points", "half minutes", "forgotten minutes", "the wrong way round"],
)
async def test_a_series_that_cannot_be_had_is_refused(database: Database, length: timedelta, step: timedelta) -> None:
    now = datetime.now(UTC)
    with pytest.raises(UsageError) as refused:
        await series_of(database, "polls", now - length, now, step)
    assert refused.value.fix


async def hour_of_runs(database: Database, source: UUID, hour: datetime, **counts: Any) -> None:
    for status, number in counts.items():
        await log_runs(database, source, *[datetime.now(UTC) - hour - MINUTE] * number, status=status)


async def test_the_hours_of_a_source_equal_its_runs_before_and_after_they_are_rolled(
    database: Database, source: UUID
) -> None:
    await database.execute("select ensure_days('runs', (now() at time zone 'utc')::date - 4, 5)")
    this = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    await database.execute("update rollup_mark set sources_rolled_until = $1", this - 40 * HOUR)
    await hour_of_runs(database, source, this - 30 * HOUR, ok=2, fail=1)
    await hour_of_runs(database, source, this - 3 * HOUR, ok=4)
    await log_runs(database, source, timedelta())
    before = (await hours_of_sources(database, [source], 3))[source]
    assert await roll_up_sources(database) >= 30
    after = (await hours_of_sources(database, [source], 3))[source]
    assert before == after
    found = {after.start + place * HOUR: polls for place, polls in enumerate(after.polls) if polls}
    assert found == {this - 30 * HOUR: 3, this - 3 * HOUR: 4, this: 1}
    assert (sum(after.items), sum(after.errors)) == (3 * 8, 1)
    assert sum(map(sum, after.week())) == 24
    assert after.week()[(this - 3 * HOUR).weekday()][(this - 3 * HOUR).hour] == 12


async def test_an_hour_that_is_rolled_again_is_the_same(database: Database, source: UUID) -> None:
    this = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    await database.execute("update rollup_mark set sources_rolled_until = $1", this - 5 * HOUR)
    await hour_of_runs(database, source, this - 2 * HOUR, ok=2)
    await roll_up_sources(database)
    first = [tuple(row) for row in await database.fetch("select * from source_days")]
    await database.execute("update rollup_mark set sources_rolled_until = $1", this - 5 * HOUR)
    await roll_up_sources(database)
    assert [tuple(row) for row in await database.fetch("select * from source_days")] == first
    assert await roll_up_sources(database) == 0
