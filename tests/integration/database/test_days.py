"""Days of history tables: rows find a place when nobody made their day, and nothing is lost when somebody does."""

import asyncio
from uuid import UUID, uuid4

import pytest

from headwater.database import days
from headwater.database.days import HISTORY, days_ahead, ensure_days, keep_days
from headwater.database.pool import Database

TODAY = "(now() at time zone 'utc')::date"
DAYS_FROM = f"""
select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::text::regclass
  and c.relname ~ '_[0-9]{{8}}$' and to_date(right(c.relname, 8), 'YYYYMMDD') >= {TODAY} + $2::integer
"""
RUN = (
    "insert into runs (at, id, source_id, channel_id, kind, trigger, status, duration_ms)"
    " values ({at}, $1, $1, $1, 'feed', 'schedule', 'ok', 1)"
)


async def forget_days(database: Database, table: str = "runs", fewest: int = 0) -> None:
    """As if nobody had made the days from that many after today."""
    for row in await database.fetch(DAYS_FROM, table, fewest):
        await database.execute(f"drop table {row['relname']}")


async def run_at(database: Database, at: str = "now()") -> UUID:
    run = uuid4()
    await database.execute(RUN.format(at=at), run)
    return run


async def place_of(database: Database, run: UUID) -> str:
    return str(await database.fetchval("select tableoid::regclass from runs where id = $1", run))


async def day(database: Database, ahead: int = 0) -> str:
    return str(await database.fetchval(f"select 'runs_' || to_char({TODAY} + $1::integer, 'YYYYMMDD')", ahead))


async def test_every_history_table_has_room_for_days_that_nobody_made(database: Database) -> None:
    """None is forgotten: all tables that are kept by a range of time."""
    kept = await database.fetch("select relname from pg_class where relkind = 'p' order by 1")
    assert sorted(HISTORY) == [row["relname"] for row in kept]
    for table in HISTORY:
        assert await database.fetchval("select to_regclass($1)", f"{table}_default") is not None


async def test_a_row_of_a_day_that_nobody_made_is_kept_and_found(database: Database) -> None:
    await forget_days(database)
    run = await run_at(database)
    assert await place_of(database, run) == "runs_default"


async def test_rows_move_to_their_day_when_it_is_made(database: Database) -> None:
    await forget_days(database)
    run, tomorrows = await run_at(database), await run_at(database, "now() + interval '1 day'")
    await ensure_days(database)
    assert await place_of(database, run) == await day(database)
    assert await place_of(database, tomorrows) == await day(database, 1)
    assert await database.fetchval("select count(*) from runs_default") == 0
    assert await database.fetchval("select count(*) from runs") == 2


async def test_a_day_with_more_rows_than_can_be_moved_at_once_stays_where_it_is(database: Database) -> None:
    """And keeps no other day from being made."""
    await forget_days(database)
    many = [await run_at(database) for _ in range(4)]
    one = await run_at(database, "now() + interval '1 day'")
    await database.fetchval(f"select ensure_days('runs', {TODAY}, 5, 3)")
    assert {await place_of(database, run) for run in many} == {"runs_default"}
    assert await place_of(database, one) == await day(database, 1)
    assert (await days_ahead(database))["runs"] == 4


async def test_a_day_is_made_while_others_write_to_it(database: Database) -> None:
    await forget_days(database)
    written: list[UUID] = []
    is_made = asyncio.Event()

    async def write() -> None:
        while not is_made.is_set():
            written.append(await run_at(database))

    writers = [asyncio.create_task(write()) for _ in range(3)]
    try:
        while len(written) < 20:
            await asyncio.sleep(0.01)
        await ensure_days(database)
    finally:
        is_made.set()
        await asyncio.gather(*writers)
    assert await database.fetchval("select count(*) from runs") == len(written)
    assert await place_of(database, await run_at(database)) == await day(database)


async def test_days_left_are_counted_up_to_the_first_gap(database: Database) -> None:
    await forget_days(database)
    await database.fetchval(f"select ensure_days('runs', {TODAY}, 4)")
    await database.fetchval(f"select ensure_days('runs', {TODAY} + 6, 4)")
    assert (await days_ahead(database))["runs"] == 3
    await forget_days(database)
    assert (await days_ahead(database))["runs"] == 0


async def test_retention_deletes_old_rows_of_days_that_nobody_made(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(days, "BATCH", 2)
    for _ in range(5):
        await run_at(database, "now() - interval '40 days'")
    young = await run_at(database, "now() - interval '20 days'")
    await keep_days(database, "runs", 30)
    left = await database.fetch("select id from runs_default")
    assert [row["id"] for row in left] == [young]


async def test_a_reader_keeps_a_day_and_no_writer_waits_for_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropped in the next round."""
    monkeypatch.setattr(days, "LOCK_SECONDS", 0.2)
    await database.fetchval(f"select ensure_days('runs', {TODAY} - 40, 1)")
    async with database.transaction(readonly=True) as reader:
        await reader.fetchval("select count(*) from runs")
        assert await keep_days(database, "runs", 30) == []
        async with asyncio.timeout(5):
            await run_at(database)
    assert len(await keep_days(database, "runs", 30)) == 1
