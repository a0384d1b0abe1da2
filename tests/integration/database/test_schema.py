"""Headwater beside another system in one database: in a schema of its own, and never by mistake in somebody else's."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from headwater.chance import random_from
from headwater.database.days import HISTORY, ensure_days, keep_days
from headwater.database.installation import installation_of
from headwater.database.listen import Listener
from headwater.database.migrate import known_migrations, migrate, rollback, status
from headwater.database.pool import Database
from headwater.database.translate import with_schema
from headwater.errors import MigrationFailed, QueryFailed, SettingError
from headwater.frontier.maintain import vacuum_hot_tables
from headwater.reports.doctor import check_schema
from headwater.settings import Given, load

# Not the name of the tests' user: the server's usual path begins with a schema of that name.
OWN = "hw"
THEIRS = """
create table sources (id serial primary key, org_name text);
insert into sources (org_name) values ('theirs');
create table schema_migrations (version bigint primary key, dirty boolean not null);
insert into schema_migrations values (7, false);
"""
WHERE_THINGS_ARE = """
select n.nspname, count(*) from (
    select relnamespace as namespace from pg_class union all select pronamespace from pg_proc
    union all select typnamespace from pg_type
) things join pg_namespace n on n.oid = things.namespace
where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') group by 1
"""


@pytest.fixture
async def shared_url(empty_database_url: str) -> str:
    """A database in which another system has lived for long."""
    async with await Database.connect(empty_database_url, size=1) as theirs:
        await theirs.execute(THEIRS)
    return empty_database_url


@pytest.fixture(params=["session", "pooler"])
async def ours(request: pytest.FixtureRequest, shared_url: str) -> AsyncIterator[Database]:
    is_pooled = request.param == "pooler"
    async with await Database.connect(shared_url, size=4, pooler=is_pooled, schema=OWN) as database:
        await migrate(database)
        yield database


async def things(url: str) -> dict[str, int]:
    async with await Database.connect(url, size=1) as database:
        return {row["nspname"]: row["count"] for row in await database.fetch(WHERE_THINGS_ARE)}


async def test_tables_of_our_names_are_told_and_a_schema_is_offered(shared_url: str) -> None:
    before = await things(shared_url)
    async with await Database.connect(shared_url, size=1) as database:
        with pytest.raises(MigrationFailed) as caught:
            await migrate(database)
    assert "The schema public of this database holds names that Headwater needs" in caught.value.what
    assert "schema_migrations, sources" in caught.value.what
    assert "HEADWATER_DATABASE__SCHEMA=headwater" in caught.value.fix
    assert await things(shared_url) == before


async def test_a_function_of_our_name_is_told_and_a_schema_is_offered(empty_database_url: str) -> None:
    async with await Database.connect(empty_database_url, size=1) as database:
        await database.execute(
            "create function ensure_days(text, date, integer) returns integer language sql as 'select 1'"
        )
        with pytest.raises(MigrationFailed) as caught:
            await migrate(database)
    assert "HEADWATER_DATABASE__SCHEMA=headwater" in caught.value.fix


async def test_the_ledger_of_another_system_is_not_taken_for_ours(shared_url: str) -> None:
    async with await Database.connect(shared_url, size=1) as database:
        assert (await status(database)).pending == known_migrations()


async def test_a_schema_of_our_own_holds_everything_and_leaves_theirs_alone(shared_url: str, ours: Database) -> None:
    assert await ours.fetchval("select count(*) from sources") == 0
    assert (await installation_of(ours, "1.0")).created_by == "1.0"
    await ensure_days(ours)
    async with await Database.connect(shared_url, size=1) as theirs:
        assert await theirs.fetchval("select org_name from sources") == "theirs"
        assert await theirs.fetchval("select version from schema_migrations") == 7
        found = await things(shared_url)
        await theirs.execute("drop schema hw cascade")
        alone = await things(shared_url)
    assert found[OWN] > 300
    assert found["public"] == alone["public"]


@pytest.mark.long
async def test_it_goes_up_down_and_up_again_in_its_schema(ours: Database) -> None:
    await rollback(ours, len(known_migrations()))
    left = "select relname from pg_class where relnamespace = 'hw'::regnamespace and relkind in ('r', 'v', 'p')"
    assert {row["relname"] for row in await ours.fetch(left)} == {"schema_migrations", "schema_functions"}
    assert len(await migrate(ours)) == len(known_migrations())


@pytest.mark.long
async def test_work_that_no_transaction_may_surround_finds_its_tables(ours: Database) -> None:
    await vacuum_hot_tables(ours)
    old = "(now() at time zone 'utc')::date - 40"
    for table in HISTORY:
        await ours.fetchval(f"select ensure_days('{table}', {old}, 1)")
        assert len(await keep_days(ours, table, 30)) == 1


@pytest.mark.long
async def test_a_pooler_is_told_nothing_that_would_outlive_a_transaction(shared_url: str) -> None:
    async with await Database.connect(shared_url, size=1, pooler=True, schema=OWN) as database:
        await migrate(database)
        await database.fetchval("select count(*) from installation")
        async with database._borrowed_raw() as raw:
            assert await raw.fetchval("show search_path") == '"$user", public'


async def test_what_is_missing_in_ours_is_not_found_in_theirs(shared_url: str) -> None:
    async with await Database.connect(shared_url, size=1, schema=OWN) as database:
        with pytest.raises(QueryFailed, match="does not exist"):
            await database.fetchval("select count(*) from sources")


@pytest.mark.long
async def test_many_processes_may_begin_at_once(shared_url: str) -> None:
    async def begin() -> int:
        async with await Database.connect(shared_url, size=1, schema=OWN) as database:
            return len(await migrate(database))

    assert sum(await asyncio.gather(*(begin() for _ in range(4)))) == len(known_migrations())


async def test_whoever_has_the_address_of_a_schema_is_in_it(shared_url: str, ours: Database) -> None:
    address = with_schema(shared_url, OWN)
    async with (
        await Database.connect(address, size=1) as database,
        Listener(address, ["headwater_test"], random_from(1)) as listener,
    ):
        assert await database.fetchval("select current_schema()") == OWN
        assert await listener.wait(10) == {"headwater_test"}
        await ours.execute("select pg_notify('headwater_test', '')")
        assert await listener.wait(10) == {"headwater_test"}


async def test_options_that_an_address_had_are_kept(shared_url: str) -> None:
    mark = "&" if "?" in shared_url else "?"
    address = with_schema(f"{shared_url}{mark}options=-c%20geqo%3Doff", OWN)
    async with await Database.connect(address, size=1) as database:
        assert await database.fetchval("show geqo") == "off"
        assert await database.fetchval("show search_path") == OWN


async def test_without_the_right_to_make_tables_a_sentence_says_what_to_do(empty_database_url: str) -> None:
    async with await Database.connect(empty_database_url, size=1) as owner:
        guest = f"guest_{await owner.fetchval('select pg_backend_pid()')}"
        await owner.execute(f"create role {guest}")
        try:
            in_public = await _refusal(empty_database_url, guest, "")
            in_schema = await _refusal(empty_database_url, guest, OWN)
        finally:
            await owner.execute(f"drop role {guest}")
    assert "permission denied for schema public" in in_public.what
    assert "HEADWATER_DATABASE__SCHEMA=headwater" in in_public.fix
    assert "permission denied for database" in in_schema.what
    assert "CREATE SCHEMA hw AUTHORIZATION" in in_schema.fix


async def _refusal(url: str, role: str, schema: str) -> MigrationFailed:
    mark = "&" if "?" in url else "?"
    async with await Database.connect(f"{url}{mark}role={role}", size=1, schema=schema) as database:
        with pytest.raises(MigrationFailed) as caught:
            await migrate(database)
    return caught.value


async def test_our_sessions_compile_no_plans(database_url: str) -> None:
    async with await Database.connect(database_url, size=1) as database:
        assert await database.fetchval("show jit") == "off"


async def test_every_reserved_word_of_the_server_is_refused_as_a_schema(shared_url: str) -> None:
    async with await Database.connect(shared_url, size=1) as theirs:
        rows = await theirs.fetch("select word from pg_get_keywords() where catcode in ('R', 'T')")
    for row in rows:
        with pytest.raises(SettingError, match="is a word of SQL"):
            load(Given(environment={"HEADWATER_DATABASE__SCHEMA": row["word"]}))


READ_ONLY = (
    *("host_state", "domain_policies", "robots_cache", "crawl_sources", "feed_state", "crawl_logs", "job_executions"),
    *("crawl_locks", "source_pages", "source_profiles"),
)


@pytest.mark.parametrize("view", READ_ONLY)
async def test_nothing_is_written_through_a_view_of_another_system(database: Database, view: str) -> None:
    with pytest.raises(QueryFailed, match=f"{view} is a view for reading"):
        await database.execute(f"insert into {view} default values")


async def test_runs_and_sources_are_not_deleted_through_their_views(database: Database) -> None:
    await database.execute("insert into sources (name, url, url_hash) values ('a', 'https://a.example/', sha256('a'))")
    await database.execute(
        "insert into runs (at, id, source_id, channel_id, kind, trigger, status, duration_ms)"
        " select now(), gen_random_uuid(), id, gen_random_uuid(), 'feed', 'schedule', 'ok', 5 from sources"
    )
    for statement in (
        *("delete from crawl_logs", "delete from job_executions", "delete from source_profiles"),
        *("update crawl_logs set found = 9", "update source_profiles set name = 'b'"),
    ):
        with pytest.raises(QueryFailed, match="is a view for reading: nothing is written through it"):
            await database.execute(statement)
    assert await database.fetchval("select count(*) from runs") == 1
    assert await database.fetchval("select name from sources where url = 'https://a.example/'") == "a"


async def test_doctor_gives_the_fix_that_helps_among_tables_of_others(shared_url: str) -> None:
    async with await Database.connect(shared_url, size=1) as theirs:
        check = await check_schema(theirs)
    assert (check.level, "did not make" in check.says) == ("failure", True)
    assert "database.schema" in check.fix
    assert "db migrate" not in check.fix
