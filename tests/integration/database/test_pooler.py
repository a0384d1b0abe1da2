"""Behind a real pgbouncer, which gives each transaction another session: limits hold, and nothing stays in one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.integration.database.bouncer import PROGRAM, bouncer

from headwater.database.migrate import known_migrations, migrate, rollback, status
from headwater.database.pool import Connection, Database, PoolLimits
from headwater.errors import DatabaseDown, OutOfConnections, QueryFailed

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed")

IMPATIENT = PoolLimits(acquire=30, command=8, statement=1, lock=0.5, idle_in_transaction=2, close=1)
# Of a pooler that is told to let them through, the settings of a session come to nothing.
IGNORES = (
    "ignore_startup_parameters = "
    "statement_timeout, lock_timeout, idle_in_transaction_session_timeout, jit, options, search_path"
)
# Without what pgbouncer itself keeps in order for each of its clients.
SET_HERE = """
select name, setting from pg_settings
where source = 'session' and name not like 'transaction%' and name not in
    ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')
"""


@pytest.fixture
async def pooled_url(database_url: str, open_folder: Path) -> AsyncIterator[str]:
    async with bouncer(open_folder, database_url) as url:
        yield url


@pytest.fixture
async def pooled(pooled_url: str) -> AsyncIterator[Database]:
    async with await Database.connect(pooled_url, size=4, pooler=True, limits=IMPATIENT) as database:
        yield database


@pytest.fixture
async def neighbour(pooled_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Somebody else, who is given the same session of the server."""
    connection = await asyncpg.connect(pooled_url, statement_cache_size=0)
    yield connection
    await connection.close()


async def test_a_slow_statement_is_cut_behind_a_pooler(pooled: Database) -> None:
    with pytest.raises(QueryFailed) as caught:
        await pooled.fetch("select pg_sleep(5)")
    assert caught.value.sqlstate == "57014"
    assert await pooled.fetchval("select 1") == 1


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("statement_timeout", "1s"),
        ("lock_timeout", "500ms"),
        ("idle_in_transaction_session_timeout", "2s"),
        ("jit", "off"),
        ("application_name", "headwater"),
    ],
)
async def test_every_limit_holds_in_each_transaction(pooled: Database, setting: str, value: str) -> None:
    assert await pooled.fetchval("select current_setting($1)", setting) == value
    async with pooled.transaction(readonly=True, snapshot=True) as connection:
        assert await connection.fetchval("select current_setting($1)", setting) == value
        assert await connection.fetchval("select current_setting('transaction_isolation')") == "repeatable read"


async def test_nothing_is_left_in_the_session_for_the_next_client(
    pooled: Database, neighbour: asyncpg.Connection
) -> None:
    await pooled.fetchval("select $1::int", 1)
    async with pooled.transaction(patience=77) as connection:
        ours = await connection.fetchval("select pg_backend_pid()")
        # A type that the driver has to look up, for which it would switch jit off and leave it so.
        await connection.fetch("select $1::settlement[]", [])
    await pooled.execute_patiently("vacuum (skip_locked) url_frontier", 60)
    assert await neighbour.fetchval("select pg_backend_pid()") == ours
    assert await neighbour.fetch(SET_HERE) == []
    assert await neighbour.fetchval("show statement_timeout") == "0"
    assert await neighbour.fetchval("select count(*) from pg_prepared_statements where name <> ''") == 0
    held = "select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'"
    assert await neighbour.fetchval(held) == 0


async def test_many_statements_at_once_share_one_session_and_get_their_own_answers(pooled: Database) -> None:
    async def ask(number: int) -> None:
        if number % 2:
            assert await pooled.fetchval("select $1::int + 1", number) == number + 1
        else:
            assert await pooled.fetchval("select $1::text || $2", str(number), "!") == f"{number}!"

    await asyncio.gather(*(ask(number) for number in range(200)))


async def test_a_savepoint_is_taken_back_alone(pooled: Database) -> None:
    async def stumble(connection: Connection) -> None:
        async with connection.savepoint():
            await connection.execute("insert into kept values (1)")
            async with connection.savepoint():
                await connection.execute("select 1 / 0")

    async with pooled.transaction() as connection:
        await connection.execute("create table kept (a int)")
        with pytest.raises(QueryFailed):
            await stumble(connection)
        async with connection.savepoint():
            await connection.execute("insert into kept values (2)")
    assert [row["a"] for row in await pooled.fetch("select a from kept")] == [2]


async def test_migrations_go_up_and_down_behind_a_pooler(empty_database_url: str, open_folder: Path) -> None:
    async with (
        bouncer(open_folder, empty_database_url) as url,
        await Database.connect(url, size=2, pooler=True, schema="hw") as database,
    ):
        await asyncio.gather(migrate(database), migrate(database))
        assert len((await status(database)).applied) == len(known_migrations())
        assert await rollback(database, 1) == [known_migrations()[-1]]


async def test_migrations_go_on_where_no_setting_mentions_the_pooler(
    empty_database_url: str, open_folder: Path
) -> None:
    async with bouncer(open_folder, empty_database_url) as url, await Database.connect(url, schema="hw") as database:
        assert database.is_behind_pooler
        await migrate(database)
        assert not (await status(database)).pending


@pytest.mark.parametrize("more", ["", IGNORES])
@pytest.mark.parametrize("mode", ["transaction", "session"])
async def test_a_pooler_that_nobody_mentioned_is_noticed_and_its_limits_hold(
    database_url: str, open_folder: Path, mode: str, more: str
) -> None:
    """Whether it refuses the settings of a session or lets them fall."""
    async with (
        bouncer(open_folder, database_url, mode=mode, more=more) as url,
        await Database.connect(url, size=1, limits=IMPATIENT) as database,
    ):
        assert database.is_behind_pooler
        assert await database.fetchval("select current_setting('statement_timeout')") == "1s"


async def test_a_server_without_a_pooler_is_not_taken_for_one(database: Database) -> None:
    assert not database.is_behind_pooler


async def test_a_pooler_without_transactions_is_refused_with_what_to_set(database_url: str, open_folder: Path) -> None:
    async with bouncer(open_folder, database_url, mode="statement") as url:
        with pytest.raises(DatabaseDown, match="allows no transactions") as caught:
            await Database.connect(url, pooler=True)
    assert "pool_mode = transaction" in caught.value.fix


async def test_a_pooler_that_is_full_is_named_with_its_limit(database_url: str, open_folder: Path) -> None:
    async with bouncer(open_folder, database_url, more="max_client_conn = 1") as url:
        first = await asyncpg.connect(url, statement_cache_size=0)
        with pytest.raises(OutOfConnections) as caught:
            await Database.connect(url, pooler=True)
        await first.close()
    assert "max_client_conn of pgbouncer" in caught.value.fix
    assert "database.pool_size" in caught.value.fix


async def test_queries_that_run_long_are_cancelled_through_the_pooler(pooled: Database) -> None:
    """By the client: of a statement outside of a transaction the server knows no limit."""
    with pytest.raises(DatabaseDown):
        await pooled.execute_patiently("select pg_sleep(60)", 0.5)
    async with asyncio.timeout(30):
        assert await pooled.fetchval("select 1") == 1


@pytest.mark.parametrize("is_mentioned", [True, False])
async def test_a_reader_cannot_write_behind_a_pooler(pooled_url: str, is_mentioned: bool) -> None:
    limits = PoolLimits(is_read_only=True)
    async with await Database.connect(pooled_url, size=1, pooler=is_mentioned, limits=limits) as database:
        assert await database.fetchval("select 1") == 1
        with pytest.raises(QueryFailed, match="read-only"):
            await database.execute("delete from documents")
        async with database.transaction(readonly=True, snapshot=True) as connection:
            assert await connection.fetchval("select 2") == 2


async def test_a_reader_leaves_others_free_to_write(pooled_url: str, neighbour: asyncpg.Connection) -> None:
    async with await Database.connect(
        pooled_url, size=1, pooler=True, limits=PoolLimits(is_read_only=True)
    ) as database:
        await database.fetchval("select 1")
        assert await neighbour.fetchval("show default_transaction_read_only") == "off"
        assert await neighbour.execute("delete from documents") == "DELETE 0"
