"""A role for reports, by logging in as it: it reads what it may, and is refused everything else."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg
import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence

from headwater.chance import new_id
from headwater.database.embedded import EmbeddedServer
from headwater.database.migrate import known_migrations, migrate, rollback
from headwater.database.pool import Database
from headwater.database.report_roles import READABLE, let_read
from headwater.errors import HeadwaterError, Refused, UsageError


@pytest.fixture
def role(database_url: str) -> Iterator[str]:
    """The name of a role that is gone afterwards; with what has to be quoted in it."""
    name = f"Ann's \"{new_id().hex[:8]}"
    yield name
    Desk(database_url, Path()).execute(
        f"do $$ begin if exists (select from pg_roles where rolname = {literal(name)}) then"
        f" drop owned by {quoted(name)} cascade; drop role {quoted(name)}; end if; end $$"
    )


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def as_role(database_url: str, name: str, password: str = "") -> str:
    parts = urlsplit(database_url)
    place = parts.netloc.rpartition("@")[2]
    user = quote(name, safe="") + (f":{quote(password, safe='')}" if password else "")
    return urlunsplit(parts._replace(netloc=f"{user}@{place}"))


@pytest.fixture
async def reporter(database: Database, database_url: str, role: str) -> AsyncIterator[asyncpg.Connection]:
    assert await let_read(database, role, None) is True
    connection = await asyncpg.connect(as_role(database_url, role))
    # Only a habit of the role: what it may do does not hang on it.
    await connection.execute("set default_transaction_read_only = off")
    yield connection
    await connection.close()


async def test_it_reads_every_view_with_its_functions(database: Database, reporter: asyncpg.Connection) -> None:
    await database.execute(
        "insert into sources (name, url, url_hash) values ('Alpha', 'https://a.example/', sha256('a'))"
    )
    for name in READABLE:
        await reporter.fetch(f"select * from {name}")
    assert await reporter.fetchval("select org_name from crawl_sources") == "Alpha"


def test_the_page_names_what_it_reads() -> None:
    page = (Path(__file__).parents[3] / "docs" / "sql-views.md").read_text("utf-8")
    assert [name for name in READABLE if f"`{name}`" not in page] == []


async def test_it_is_refused_every_table_that_is_not_named(database: Database, reporter: asyncpg.Connection) -> None:
    tables = await database.fetch(
        "select relname from pg_class"
        " where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')"
    )
    others = {row["relname"] for row in tables} - {*READABLE}
    assert {"web_users", "web_tokens", "web_sessions", "sinks", "callbacks", "channels", "sources"} <= others
    for name in others:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await reporter.fetch(f"select * from {name}")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await reporter.fetchval("select password_hash from web_users")


async def test_it_writes_nothing(reporter: asyncpg.Connection) -> None:
    for statement in (
        "delete from crawl_logs",
        "update documents set title = ''",
        "insert into sources (name, url) values ('x', 'https://x.example/')",
        "truncate jobs",
        "drop view crawl_logs",
        "alter table documents add column mine text",
        "create table mine (a integer)",
        "create role another",
        "copy documents to program 'true'",
        "select pg_read_file('postgresql.conf')",
    ):
        with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.FeatureNotSupportedError)):
            await reporter.execute(statement)


async def test_a_long_report_holds_no_snapshot_for_hours(database: Database, database_url: str, role: str) -> None:
    await let_read(database, role, None)
    connection = await asyncpg.connect(as_role(database_url, role))
    held = [
        await connection.fetchval(f"show {one}") for one in ("statement_timeout", "idle_in_transaction_session_timeout")
    ]
    assert held == ["10min", "1min"]
    await connection.close()


async def test_a_view_made_anew_by_a_migration_is_still_read(database: Database, reporter: asyncpg.Connection) -> None:
    newest = known_migrations()[-1].number
    # Down to before a migration that drops a view and makes it again.
    await rollback(database, newest - 18)
    await migrate(database)
    for name in READABLE:
        await reporter.fetch(f"select * from {name} limit 1")


@pytest.mark.parametrize(
    ("grant", "said"),
    [
        ("grant insert on documents to {}", "insert on documents"),
        ("grant select on web_users to public; grant usage on schema {schema} to {}", "select on web_users"),
        ("grant create on schema {schema} to {}", "create on schema"),
    ],
)
async def test_a_role_that_may_do_more_is_refused_and_left_as_it_was(
    database: Database, role: str, grant: str, said: str
) -> None:
    await database.execute(f"create role {quoted(role)} login")
    schema = await database.fetchval("select current_schema()")
    await database.execute(grant.replace("{schema}", schema).format(quoted(role)))
    with pytest.raises(Refused, match=said):
        await let_read(database, role, "of ten letters")
    assert not await database.fetchval("select has_table_privilege($1, 'crawl_logs', 'select')", role)
    assert await database.fetchval("select rolpassword from pg_authid where rolname = $1", role) is None


async def test_who_can_do_everything_anyway_is_no_role_for_reports(database: Database, role: str) -> None:
    ours = await database.fetchval("select current_user")
    await database.execute(f"create role {quoted(role)} login in role pg_read_all_data")
    for name in (ours, role):
        with pytest.raises(Refused, match="more than read"):
            await let_read(database, name, None)


@pytest.mark.parametrize("name", ["", "pg_mine", "a\0b", "ä" * 40])
async def test_names_that_cannot_be(database: Database, name: str) -> None:
    with pytest.raises(UsageError):
        await let_read(database, name, None)


async def test_a_role_of_ours_that_may_make_none_is_told_what_to_ask_for(
    database: Database, database_url: str, role: str
) -> None:
    """As at a provider whose users make no roles."""
    await database.execute(f"create role {quoted(role)} login")
    async with await Database.connect(as_role(database_url, role), size=1) as weak:
        with pytest.raises(HeadwaterError) as refused:
            await let_read(weak, "reporter_of_nobody", "of ten letters")
    assert "CREATE ROLE" in refused.value.fix


@pytest.mark.long
async def test_the_password_that_was_set_is_the_one_that_is_asked(server: EmbeddedServer) -> None:
    dsn = await server.start()
    password = "p@ss/ w:rd'\"%"
    async with await Database.connect(dsn, size=1) as database:
        await migrate(database)
        await let_read(database, "reporter", password)
        # Whoever comes as this role has to know it from now on.
        file = Path(await database.fetchval("show hba_file"))
        file.write_text("local all reporter scram-sha-256\n" + file.read_text())
        await database.fetchval("select pg_reload_conf()")
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(as_role(dsn, "reporter", "another one"))
        connection = await asyncpg.connect(as_role(dsn, "reporter", password))
        assert await connection.fetch("select * from crawl_logs") == []
        await connection.close()
        assert await let_read(database, "reporter", "the next one") is False
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(as_role(dsn, "reporter", password))
        await (await asyncpg.connect(as_role(dsn, "reporter", "the next one"))).close()
        for unfit in ("", "pässwörd of some", "a\nb"):
            with pytest.raises(UsageError):
                await let_read(database, "reporter", unfit)


def test_the_command_makes_and_takes_back(database_url: str, open_folder: Path, role: str) -> None:
    desk = Desk(database_url, open_folder)
    file = desk.file("password", "a long enough password\n")
    said = desk.says("db", "reports-role", role, "--password-file", file)
    assert said.code == 0, said.err
    assert "may read the SQL views" in said.out
    assert "password" not in said.err
    stored = desk.value(f"select rolpassword from pg_authid where rolname = {literal(role)}")
    assert stored.startswith("SCRAM-SHA-256$4096:")
    assert desk.says("db", "reports-role", role).code == 0
    assert desk.value(f"select rolpassword from pg_authid where rolname = {literal(role)}") == stored
    assert desk.says("db", "reports-role", role, "--revoke").code == 0
    assert desk.value(f"select has_table_privilege({literal(role)}, 'crawl_logs', 'select')") is False
    both = desk.says("db", "reports-role", role, "--revoke", "--password-file", file)
    assert_a_sentence(both)
    assert both.code == 2
    nobody = desk.says("db", "reports-role", "nobody_of_that_name", "--revoke")
    assert_a_sentence(nobody)
