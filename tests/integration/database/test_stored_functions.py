"""Functions of the database follow their files, together with the migrations or alone."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.integration.database.test_migrate import ONE, TWO, working_on

from headwater.database.former import LAST
from headwater.database.migrate import Migration, known_migrations, migrate, require_current, rollback, status
from headwater.database.pool import Database
from headwater.database.stored_functions import Function, known_functions
from headwater.errors import MigrationFailed, QueryFailed
from headwater.reports.doctor import check_schema

KIND = Migration(1, "kind", up="create type kind as (a integer)", down="drop type kind")
OTHER = Migration(2, "other", up="drop type kind; create type kind as (b text)", down="drop type kind")


def answering(name: str, answer: str = "1", takes: str = "", returns: str = "integer") -> Function:
    return Function(name, f"create function {name}({takes}) returns {returns} language sql as $$ select {answer} $$;")


@pytest.fixture
async def empty(empty_database_url: str) -> AsyncIterator[Database]:
    async with await Database.connect(empty_database_url, size=5) as connected:
        yield connected


async def made(database: Database) -> list[str]:
    here = "select oid::regprocedure::text as one from pg_proc where pronamespace = current_schema()::regnamespace"
    return sorted(row["one"] for row in await database.fetch(here))


async def test_functions_come_with_the_newest_migration(empty: Database) -> None:
    functions = [answering("f"), answering("g", "f()")]
    assert await migrate(empty, known=[ONE, TWO], functions=functions) == [ONE, TWO]
    assert await made(empty) == ["f()", "g()"]
    await require_current(empty, [ONE, TWO], functions)


async def test_a_changed_function_is_replaced_and_others_require_it(empty: Database) -> None:
    await migrate(empty, known=[ONE], functions=[answering("f", "1")])
    assert await empty.fetchval("select f()") == 1
    newer = [answering("f", "2")]
    with pytest.raises(MigrationFailed, match=r"has 1 function of another Headwater, such as f\."):
        await require_current(empty, [ONE], newer)
    assert await migrate(empty, known=[ONE], functions=newer) == []
    assert await empty.fetchval("select f()") == 2
    await require_current(empty, [ONE], newer)


async def test_another_signature_or_answer_leaves_nothing_of_the_one_before(empty: Database) -> None:
    await migrate(empty, known=[ONE], functions=[answering("f"), answering("g", "f()")])
    await migrate(empty, known=[ONE], functions=[answering("f", "a", "a text", "text"), answering("g", "1")])
    assert await made(empty) == ["f(text)", "g()"]


async def test_a_function_whose_file_is_gone_is_dropped(empty: Database) -> None:
    await migrate(empty, known=[ONE], functions=[answering("f"), answering("g", "f()")])
    await migrate(empty, known=[ONE], functions=[answering("g")])
    assert await made(empty) == ["g()"]
    assert (await status(empty, [ONE], [answering("g")])).stale == ()


async def test_a_migration_may_change_what_functions_stand_on(empty: Database) -> None:
    await migrate(empty, known=[KIND], functions=[answering("f", "k.a", "k kind")])
    await migrate(empty, known=[KIND, OTHER], functions=[answering("f", "length(k.b)", "k kind")])
    assert await empty.fetchval("select f(row('four')::kind)") == 4


async def test_a_function_that_fails_takes_its_migration_with_it(empty: Database) -> None:
    broken = answering("g", "no_such_column")
    with pytest.raises(MigrationFailed, match=r"The function g could not be made: .*no_such_column"):
        await migrate(empty, known=[ONE, TWO], functions=[answering("f"), broken])
    assert (await status(empty, [ONE, TWO])).pending == (TWO,)
    assert await made(empty) == []


async def test_a_rollback_leaves_the_functions_to_the_headwater_that_comes_next(empty: Database) -> None:
    before, after = [answering("f", "1")], [answering("f", "2"), answering("g")]
    await migrate(empty, known=[ONE, TWO], functions=after)
    assert await rollback(empty, known=[ONE, TWO], functions=after) == [TWO]
    assert await made(empty) == []
    with pytest.raises(MigrationFailed, match="1 function of another Headwater"):
        await require_current(empty, [ONE], before)
    await migrate(empty, known=[ONE], functions=before)
    assert await empty.fetchval("select f()") == 1


async def test_what_others_stand_on_our_functions_is_told_and_nothing_is_replaced(empty: Database) -> None:
    await migrate(empty, known=[ONE], functions=[answering("f", "1")])
    await empty.execute("create view theirs as select f()")
    with pytest.raises(MigrationFailed, match="view theirs depends on function f") as caught:
        await migrate(empty, known=[ONE], functions=[answering("f", "2")])
    assert "a view of yours" in caught.value.fix
    assert "CASCADE" not in caught.value.what
    assert await empty.fetchval("select f()") == 1


async def test_work_ends_when_another_headwater_replaces_its_functions(database: Database) -> None:
    working = asyncio.create_task(working_on(database))
    changed = [Function(one.name, f"{one.text}-- newer\n") for one in known_functions()]
    await migrate(database, functions=changed)
    with pytest.raises(MigrationFailed, match="functions of another Headwater"):
        await working


async def test_doctor_tells_of_functions_that_are_not_of_this_version(database: Database) -> None:
    await database.execute("update schema_functions set checksum = 'another' where name = 'submit_urls'")
    check = await check_schema(database)
    assert (check.level, check.fix) == ("failure", "Run: headwater db migrate")
    await migrate(database)
    assert (await check_schema(database)).level == "ok"


TEXT_OF_ONE = "select pg_get_functiondef(oid) from pg_proc where proname = 'began_at'"
FORMER = """
    delete from schema_migrations;
    insert into schema_migrations (number, name, checksum, applied_at)
    values (1, 'foundation', 'of before', '2026-01-01'), ({number}, '{name}', '{checksum}', '2026-02-01');
    drop table schema_functions;
    create function amend_function(text, text, text) returns void language sql as '';
    create or replace function began_at(granted timestamptz, duration_ms integer, p_now timestamptz)
        returns timestamptz language sql immutable return granted;
    insert into sources (name, url) values ('kept', 'https://a.example/')
"""


async def test_the_last_state_of_before_is_taken_over_with_its_data(database: Database) -> None:
    body = await database.fetchval(TEXT_OF_ONE)
    await database.execute(FORMER.format(number=LAST.number, name=LAST.name, checksum=LAST.checksum))
    assert (await check_schema(database)).fix == "Run: headwater db migrate"
    with pytest.raises(MigrationFailed, match=f"stands at {LAST}"):
        await require_current(database)
    assert await migrate(database) == []
    await require_current(database)
    assert await database.fetchval("select name from sources") == "kept"
    assert await database.fetchval(TEXT_OF_ONE) == body
    assert not await database.fetchval("select count(*) from pg_proc where proname = 'amend_function'")
    ledger = await database.fetch("select name, applied_at::date::text as day from schema_migrations order by number")
    assert [tuple(row) for row in ledger] == [(one.name, "2026-01-01") for one in known_migrations()]


async def test_another_state_of_before_is_left_alone(database: Database) -> None:
    await database.execute(FORMER.format(number=25, name="views_refuse_writes", checksum="some"))
    with pytest.raises(MigrationFailed, match="stands at 0025_views_refuse_writes"):
        await migrate(database)
    with pytest.raises(QueryFailed, match="schema_functions"):
        await database.fetch("select from schema_functions")
