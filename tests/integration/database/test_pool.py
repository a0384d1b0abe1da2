import asyncio
import os
import signal
from collections.abc import AsyncIterator

import asyncpg
import pytest

from headwater.database.pool import Database, PoolLimits
from headwater.database.queries import load_queries
from headwater.errors import DatabaseDown, QueryFailed, SettingError, as_fields

# Short for what never ends, and still long enough for an honest statement on a busy machine.
IMPATIENT = PoolLimits(acquire=30, command=4, statement=2, lock=1, idle_in_transaction=2, close=1)
SOMEBODY_SLEEPS = "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"


@pytest.fixture
async def impatient(database_url: str) -> AsyncIterator[Database]:
    async with await Database.connect(database_url, size=2, limits=IMPATIENT) as connected:
        yield connected


@pytest.fixture
async def watcher(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Looks on from outside the pool."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def backends(database: Database) -> int:
    count: int = await database.fetchval(
        "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'client backend'"
    )
    return count


async def test_json_arrives_as_it_was_sent(database: Database) -> None:
    value = {"title": "Über", "tags": ["a", None, 1.5], "deep": {"x": True}}
    assert await database.fetchval("select $1::jsonb", value) == value


async def test_a_refused_statement_carries_its_sqlstate(database: Database) -> None:
    with pytest.raises(QueryFailed, match='relation "nowhere" does not exist') as caught:
        await database.fetch("select a from nowhere")
    assert caught.value.sqlstate == "42P01"
    assert caught.value.__cause__ is not None


async def test_a_refused_query_is_named(empty_database_url: str) -> None:
    queries = load_queries("headwater.frontier")
    async with await Database.connect(empty_database_url, size=1) as database:
        with pytest.raises(QueryFailed, match=r"^PostgreSQL refused frontier\.forget_sleepers: ") as caught:
            await database.execute(queries.forget_sleepers)
    said = as_fields(caught.value)
    assert (said["query"], said["sqlstate"]) == ("frontier.forget_sleepers", "42P01")


async def test_a_name_longer_than_the_server_keeps_is_cut(database_url: str) -> None:
    name = "headwater " + "ü" * 40 + "x" * 40
    async with await Database.connect(database_url, size=1, application_name=name) as database:
        kept = await database.fetchval("select current_setting('application_name')")
    assert kept == "headwater " + "?" * 40 + "x" * 13


async def test_a_wrong_number_of_arguments_is_our_mistake_not_a_lost_database(database: Database) -> None:
    with pytest.raises(QueryFailed):
        await database.fetch("select $1::int")


async def test_a_block_commits_as_one(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("create table kept (a int)")
        await connection.execute("insert into kept values (1), (2)")
    assert [row["a"] for row in await database.fetch("select a from kept order by a")] == [1, 2]


async def test_a_block_that_raises_leaves_nothing_and_its_error_untouched(database: Database) -> None:
    async def stumble() -> None:
        async with database.transaction() as connection:
            await connection.execute("create table lost (a int)")
            raise ConnectionResetError("of the web, not of the database")

    with pytest.raises(ConnectionResetError, match="of the web"):
        await stumble()
    assert await database.fetchval("select to_regclass('lost')") is None


async def test_a_cancelled_block_leaves_nothing_and_gives_its_connection_back(
    database_url: str, watcher: asyncpg.Connection
) -> None:
    async with await Database.connect(database_url, size=1) as database:
        inside = asyncio.Event()

        async def dawdle() -> None:
            async with database.transaction() as connection:
                await connection.execute("create table lost (a int)")
                inside.set()
                await connection.execute("select pg_sleep(30)")

        task = asyncio.create_task(dawdle())
        await inside.wait()
        # A cancellation that overtakes its statement is lost.
        while not await watcher.fetch(SOMEBODY_SLEEPS):
            pass
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await database.fetchval("select to_regclass('lost')") is None


async def test_limits_are_set_on_every_connection(database: Database) -> None:
    for setting, value in [("idle_in_transaction_session_timeout", "30s"), ("lock_timeout", "15s")]:
        assert await database.fetchval("select current_setting($1)", setting) == value
    assert await database.fetchval("select current_setting('application_name')") == "headwater"


async def test_a_slow_statement_is_stopped_by_the_server(impatient: Database) -> None:
    with pytest.raises(QueryFailed) as caught:
        await impatient.fetch("select pg_sleep(10)")
    assert caught.value.sqlstate == "57014"
    assert await impatient.fetchval("select 1") == 1


async def test_a_held_lock_is_not_waited_for_long(impatient: Database) -> None:
    await impatient.execute("create table held (a int)")
    async with impatient.transaction() as connection:
        await connection.execute("lock table held")
        with pytest.raises(QueryFailed) as caught:
            await impatient.fetch("select a from held")
    assert caught.value.sqlstate == "55P03"


async def test_an_exhausted_pool_says_so_instead_of_waiting_for_ever(database_url: str) -> None:
    async with await Database.connect(database_url, size=1, limits=PoolLimits(acquire=3)) as database:
        async with database.transaction():
            with pytest.raises(DatabaseDown, match="no free connection"):
                await database.fetchval("select 1")
        assert await database.fetchval("select 1") == 1


async def test_many_tasks_share_few_connections(database_url: str) -> None:
    async with await Database.connect(database_url, size=2) as database:
        answers = await asyncio.gather(*(database.fetchval("select $1::int", number) for number in range(50)))
        assert answers == list(range(50))
        assert await backends(database) <= 2


@pytest.mark.long
async def test_a_transaction_left_idle_is_ended_by_the_server(impatient: Database) -> None:
    async def idle() -> None:
        async with impatient.transaction() as connection:
            pid = await connection.fetchval("select pg_backend_pid()")
            while await impatient.fetchval("select exists (select from pg_stat_activity where pid = $1)", pid):
                pass
            await connection.fetchval("select 1")

    with pytest.raises(DatabaseDown):
        await idle()
    assert await impatient.fetchval("select 1") == 1


async def test_who_waits_is_served_before_a_connection_is_kept_at_hand(database_url: str) -> None:
    async with await Database.connect(database_url, size=1, limits=PoolLimits(acquire=10)) as database:
        async with database.borrowed() as connection:
            waiting = asyncio.create_task(database.fetchval("select 1"))
            assert await connection.fetchval("select 2") == 2
        assert await waiting == 1


async def test_closing_waits_for_nobody_where_all_connections_are_idle(database_url: str) -> None:
    database = await Database.connect(database_url, size=3, limits=PoolLimits(close=60))
    await asyncio.gather(*(database.fetchval("select pg_sleep(0.05)") for _ in range(3)))
    async with asyncio.timeout(20):
        await database.close()


async def test_ended_connections_are_replaced(database: Database, database_url: str) -> None:
    await asyncio.gather(*(database.fetchval("select pg_sleep(0.05)") for _ in range(5)))
    async with await Database.connect(database_url, size=1) as other:
        await other.fetch(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid() and application_name = 'headwater'"
        )
    assert await asyncio.gather(*(database.fetchval("select 1") for _ in range(5))) == [1] * 5


async def test_a_connection_ended_under_a_statement_is_a_lost_database(database: Database) -> None:
    with pytest.raises(DatabaseDown):
        await database.fetchval("select pg_terminate_backend(pg_backend_pid())")
    assert await database.fetchval("select 1") == 1


async def test_a_connection_ended_under_a_block_is_a_lost_database(database: Database) -> None:
    with pytest.raises(DatabaseDown):
        async with database.transaction() as connection:
            await connection.fetchval("select pg_terminate_backend(pg_backend_pid())")
    assert await database.fetchval("select 1") == 1


@pytest.mark.skipif("HEADWATER_TEST_DATABASE_URL" in os.environ, reason="needs to signal the server")
async def test_a_stalled_server_is_given_up_and_the_pool_recovers(database: Database, impatient: Database) -> None:
    async with database.transaction() as observer:
        pid = await impatient.fetchval("select pg_backend_pid()")
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(DatabaseDown, match="no reply"):
                await impatient.fetchval("select 1")
            assert await impatient.fetchval("select 1") == 1
        finally:
            os.kill(pid, signal.SIGCONT)
        assert await observer.fetchval("select 1") == 1


async def test_a_changed_table_does_not_break_statements_used_before(database_url: str) -> None:
    async with await Database.connect(database_url, size=1) as database:
        await database.execute("create table shifting (a int)")
        await database.execute("insert into shifting values (1)")
        assert await database.fetchval("select a from shifting where a > $1", 0) == 1
        async with await Database.connect(database_url, size=1) as other:
            await other.execute("alter table shifting alter a type text")
            await other.execute("alter table shifting alter a type bigint using a::bigint")
        assert await database.fetchval("select a from shifting where a > $1", 0) == 1


async def test_close_cuts_what_is_still_borrowed(database_url: str) -> None:
    other = await Database.connect(database_url, size=1, limits=IMPATIENT)

    async def close_inside() -> None:
        async with other.transaction() as connection:
            await other.close()
            await connection.fetchval("select 1")

    with pytest.raises(DatabaseDown):
        await close_inside()
    with pytest.raises(DatabaseDown):
        await other.fetchval("select 1")


async def test_no_error_of_a_connection_shows_the_password() -> None:
    with pytest.raises(DatabaseDown, match=r"ann:\*\*\*@127\.0\.0\.1:1/news does not answer") as caught:
        await Database.connect("postgresql://ann:s3cret@127.0.0.1:1/news")
    assert "s3cret" not in "".join(map(str, (caught.value.what, caught.value.fix, caught.value.__cause__)))


async def test_an_address_that_makes_no_sense_is_a_wrong_setting() -> None:
    for dsn in ("postgresql://ann:s3cret/x@db/news", "mysql://ann:s3cret@db/news"):
        with pytest.raises(SettingError, match="is not understood") as caught:
            await Database.connect(dsn)
        assert "s3cret" not in f"{caught.value}{caught.value.__cause__}"
        assert caught.value.__suppress_context__


async def test_a_database_that_does_not_exist_is_named(database_url: str) -> None:
    with pytest.raises(DatabaseDown, match=r"does not let us in.*_gone.*does not exist") as caught:
        await Database.connect(database_url.replace("?", "_gone?") if "?" in database_url else database_url + "_gone")
    assert "name of the database" in caught.value.fix
