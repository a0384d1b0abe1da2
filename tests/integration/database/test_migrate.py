import asyncio
from collections.abc import AsyncIterator

import pytest

from headwater import __version__
from headwater.database.installation import installation_of
from headwater.database.migrate import (
    Migration,
    known_migrations,
    migrate,
    require_current,
    rollback,
    status,
    staying_current,
)
from headwater.database.pool import Database
from headwater.errors import DatabaseDown, MigrationFailed

ONE = Migration(1, "one", up="create table one (a int); insert into one values (1)", down="drop table one")
TWO = Migration(2, "two", up="create table two (b int)", down="drop table two")
BROKEN = Migration(3, "broken", up="create table three (c int); select 1 / 0", down="drop table three")

# Everything a person would call the schema, in words that do not change with object numbers.
SCHEMA = """
select format('column %s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as line
  from information_schema.columns where table_schema = 'public'
union all
select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
  from pg_constraint where connamespace = 'public'::regnamespace
union all
select format('index %s', indexdef) from pg_indexes where schemaname = 'public'
union all
select format('routine %s', pg_get_functiondef(oid))
  from pg_proc where pronamespace = 'public'::regnamespace and prokind in ('f', 'p')
union all
select format('relation %s %s %s %s', relkind, relname, reloptions, obj_description(oid, 'pg_class'))
  from pg_class where relnamespace = 'public'::regnamespace
union all
select format('view %s %s', viewname, definition) from pg_views where schemaname = 'public'
union all
select format('trigger %s', pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
union all
select format('type %s %s', typname, typtype) from pg_type where typnamespace = 'public'::regnamespace
order by line
"""


@pytest.fixture
async def empty(empty_database_url: str) -> AsyncIterator[Database]:
    async with await Database.connect(empty_database_url, size=5) as connected:
        yield connected


async def schema_of(database: Database) -> list[str]:
    return [row["line"] for row in await database.fetch(SCHEMA)]


async def exists(database: Database, table: str) -> bool:
    return await database.fetchval("select to_regclass($1)", table) is not None


async def test_what_is_missing_is_applied_once(empty: Database) -> None:
    assert await migrate(empty, known=[ONE, TWO]) == [ONE, TWO]
    assert await migrate(empty, known=[ONE, TWO]) == []
    assert await empty.fetchval("select count(*) from one") == 1


async def test_a_target_is_where_it_stops(empty: Database) -> None:
    assert await migrate(empty, target=1, known=[ONE, TWO]) == [ONE]
    assert not await exists(empty, "two")


async def test_a_target_nobody_knows_is_refused(empty: Database) -> None:
    with pytest.raises(MigrationFailed, match="no migration with the number 7"):
        await migrate(empty, target=7, known=[ONE, TWO])


async def test_status_tells_and_changes_nothing(empty: Database) -> None:
    assert (await status(empty, known=[ONE])).pending == (ONE,)
    assert await schema_of(empty) == []
    await migrate(empty, known=[ONE])
    found = await status(empty, known=[ONE, TWO])
    assert (found.applied, found.pending) == ((ONE,), (TWO,))


async def test_the_newest_are_taken_back_first(empty: Database) -> None:
    await migrate(empty, known=[ONE, TWO])
    assert await rollback(empty, known=[ONE, TWO]) == [TWO]
    assert await rollback(empty, steps=9, known=[ONE, TWO]) == [ONE]
    assert (await status(empty, known=[ONE, TWO])).applied == ()


async def test_a_failing_migration_leaves_nothing_behind(empty: Database) -> None:
    with pytest.raises(MigrationFailed, match=r"0003_broken failed and left nothing behind: .*division by zero"):
        await migrate(empty, known=[ONE, BROKEN])
    assert not await exists(empty, "three")
    assert (await status(empty, known=[ONE, BROKEN])).pending == (BROKEN,)


async def test_a_migration_killed_half_way_leaves_nothing_behind_and_can_be_run_again(empty: Database) -> None:
    slow = Migration(2, "slow", up="create table two (b int); select pg_sleep(30)", down="")
    running = asyncio.create_task(migrate(empty, known=[ONE, slow]))
    kill = (
        "select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity"
        " where datname = current_database() and query like 'create table two%'"
    )
    while not await empty.fetchval(kill):
        pass
    with pytest.raises(DatabaseDown):
        await running
    assert not await exists(empty, "two")
    assert await migrate(empty, known=[ONE, TWO]) == [TWO]


async def test_processes_that_migrate_at_once_share_the_work(empty: Database) -> None:
    done = await asyncio.gather(*(migrate(empty, known=[ONE, TWO]) for _ in range(4)))
    assert sorted(str(one) for each in done for one in each) == ["0001_one", "0002_two"]


async def test_a_database_of_a_newer_headwater_is_left_alone(empty: Database) -> None:
    await migrate(empty, known=[ONE, TWO])
    for step in (migrate(empty, known=[ONE]), rollback(empty, known=[ONE]), require_current(empty, known=[ONE])):
        with pytest.raises(MigrationFailed, match="made by a newer Headwater"):
            await step
    assert await exists(empty, "two")


async def test_a_changed_migration_is_refused(empty: Database) -> None:
    await migrate(empty, known=[ONE])
    changed = Migration(1, "one", up="create table uno ()", down="drop table uno")
    with pytest.raises(MigrationFailed, match="0001_one was changed"):
        await migrate(empty, known=[changed])


async def test_a_program_newer_than_the_database_says_what_to_run(empty: Database) -> None:
    await migrate(empty, known=[ONE])
    await require_current(empty, known=[ONE])
    with pytest.raises(MigrationFailed, match="lacks 1 migration, beginning with 0002_two"):
        await require_current(empty, known=[ONE, TWO])


async def test_a_program_that_starts_while_its_schema_is_made_waits_for_it(empty: Database) -> None:
    slow = Migration(2, "two", up="select pg_sleep(0.3); create table two (b int)", down="drop table two")
    await migrate(empty, known=[ONE])
    making = asyncio.create_task(migrate(empty, known=[ONE, slow]))
    await require_current(empty, known=[ONE, slow])
    assert await exists(empty, "two")
    await making


async def working_on(database: Database) -> None:
    async with staying_current(database, every=0.01):
        await asyncio.Event().wait()


async def test_work_on_a_schema_that_becomes_newer_is_ended(database: Database) -> None:
    working = asyncio.create_task(working_on(database))
    await database.execute("insert into schema_migrations values (9999, 'later', 'x')")
    with pytest.raises(MigrationFailed, match="made by a newer Headwater: its migration 9999_later"):
        await working


async def test_work_on_a_schema_that_is_taken_back_is_ended(database: Database) -> None:
    working = asyncio.create_task(working_on(database))
    await rollback(database)
    with pytest.raises(MigrationFailed, match="lacks 1 migration, beginning"):
        await working


async def test_being_told_to_stop_is_not_trouble_with_the_schema(database: Database) -> None:
    working = asyncio.create_task(working_on(database))
    await asyncio.sleep(0.05)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working


@pytest.mark.parametrize("number", [one.number for one in known_migrations()])
async def test_down_and_up_again_gives_the_same_schema(empty: Database, number: int) -> None:
    await migrate(empty, target=number)
    before = await schema_of(empty)
    await rollback(empty)
    assert await schema_of(empty) != before
    await migrate(empty, target=number)
    assert await schema_of(empty) == before


async def test_all_the_way_down_leaves_only_the_ledger(empty: Database) -> None:
    await migrate(empty, target=1)
    await rollback(empty)
    ledger = await schema_of(empty)
    await migrate(empty)
    await rollback(empty, steps=len(known_migrations()))
    assert await schema_of(empty) == ledger


async def test_a_database_belongs_to_the_installation_that_used_it_first(database: Database) -> None:
    first = await installation_of(database, __version__)
    assert first.created_by == __version__
    assert await installation_of(database, "9.9.9") == first
