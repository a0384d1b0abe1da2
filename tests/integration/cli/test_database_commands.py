"""Commands on a database: an outside one where that is enough, an embedded one where its life is the point."""

import asyncio
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest
from tests.integration.cli.conftest import LIMIT_SECONDS, Person, Said, Starts
from tests.integration.database.bouncer import PROGRAM as BOUNCER
from tests.integration.database.bouncer import bouncer
from tests.integration.database.test_embedded import small_disk

from headwater.cli.launch import Launch, with_services
from headwater.database.migrate import known_migrations
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import MigrationFailed
from headwater.reports.doctor import check_disk
from headwater.reports.sizes import note_sizes
from headwater.services import Services

NAMES = [str(one) for one in known_migrations()]
queries = load_queries("headwater.database")


def test_the_first_look_sets_up_a_database_and_leaves_no_server_behind(person: Person) -> None:
    said = person.says("doctor", "--json", HEADWATER_FETCH__CONTACT="mailto:a@example.org")
    assert said.code == 0, said.err
    assert {check["level"] for check in said.json["checks"]} == {"ok"}
    assert not person.server_is_running()

    status = person.says("db", "status", "--json").json
    assert (status["applied"], status["pending"]) == (NAMES, [])


@pytest.mark.long
def test_doctor_warns_and_only_strict_minds(person: Person, database_url: str) -> None:
    calm = person.says("doctor", HEADWATER_DATABASE__URL=database_url)
    strict = person.says("doctor", "--strict", HEADWATER_DATABASE__URL=database_url)
    assert (calm.code, strict.code) == (0, 1)
    assert "1 warning " in calm.out
    assert "HEADWATER_FETCH__CONTACT" in calm.out


@pytest.mark.long
async def test_doctor_says_how_large_the_database_will_be(
    person: Person, database: Database, database_url: str
) -> None:
    here = {"HEADWATER_DATABASE__URL": database_url, "HEADWATER_KEEP__DOCUMENT_DAYS": "400d"}
    fresh = person.says("doctor", **here).out
    assert "it is too early to tell how it grows" in fresh
    await note_sizes(database)
    await database.execute(
        "update sizes set noted_at = noted_at - interval '2 days', bytes = greatest(0, bytes - 1000)"
    )
    await database.execute("update schema_migrations set applied_at = applied_at - interval '2 days'")
    said = person.says("doctor", **here).out
    assert re.search(r"The database takes [\d.]+ MB, [\d.]+ MB in 30 days, [\d.]+ MB in 365 days", said)
    assert re.search(
        r"documents +\d+ kB +\+\d+ (?:kB|bytes) a day +\d+ kB in 30 days +[\d.]+ .B in 365 days +kept 400 days", said
    )
    size = next(check for check in person.says("doctor", "--json", **here).json["checks"] if check["figures"])[
        "figures"
    ]
    assert size["parts"]["documents"]["bytes_per_day"] == 500
    assert size["parts"]["log of changes"]["keep_days"] == 30
    assert size["bytes"] == sum(part["bytes"] for part in size["parts"].values())


def test_doctor_does_not_migrate_a_database_of_yours(person: Person, empty_database_url: str) -> None:
    said = person.says("doctor", HEADWATER_DATABASE__URL=empty_database_url)
    assert said.code == 1
    assert f"{len(NAMES)} migrations are waiting" in said.out
    assert "headwater db migrate" in said.out


@pytest.mark.long
def test_the_schema_goes_up_down_and_up_again(person: Person, empty_database_url: str) -> None:
    here = {"HEADWATER_DATABASE__URL": empty_database_url}
    assert person.says("db", "migrate", "--to", "1", **here).out.splitlines() == [f"applied {NAMES[0]}"]
    assert person.says("db", "migrate", **here).out.splitlines() == [f"applied {name}" for name in NAMES[1:]]
    assert person.says("db", "migrate", **here).out == ""

    everything = str(len(NAMES))
    taken_back = person.says("db", "rollback", "--yes", "--steps", everything, **here)
    assert taken_back.out.splitlines() == [f"took back {name}" for name in reversed(NAMES)]
    assert person.says("db", "status", "--json", **here).json["pending"] == NAMES
    assert person.says("db", "migrate", **here).out.count("applied") == len(NAMES)


def test_only_a_person_migrates_a_database_that_was_configured(person: Person, database_url: str) -> None:
    here = {"HEADWATER_DATABASE__URL": database_url}
    person.says("db", "rollback", "--yes", **here)
    for command in ("status", "up", "sources list", "run maintain --once"):
        said = person.says(*command.split(), **here)
        assert said.code == 1
        assert f"The database lacks 1 migration, beginning with {NAMES[-1]}." in said.err
        assert "headwater db migrate" in said.err
    assert person.says("db", "status", "--json", **here).json["pending"] == [NAMES[-1]]


def test_what_runs_ends_when_the_schema_becomes_newer(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.services.LOOKED_AT_SECONDS", 0.01)

    async def work(services: Services) -> None:
        await services.database.execute("insert into schema_migrations values (9999, 'later', 'x')")
        await asyncio.Event().wait()

    with pytest.raises(MigrationFailed, match="made by a newer Headwater"):
        with_services(Launch(overrides={"database.url": database_url}), work)


async def test_a_rollback_is_refused_while_roles_run(person: Person, database: Database, database_url: str) -> None:
    here = {"HEADWATER_DATABASE__URL": database_url}
    await database.execute(
        "insert into role_processes (id, owner, role, does, host, pid, version, beat_at, counts, failing)"
        " values (gen_random_uuid(), 'us', 'fetch', '{fetch}', 'harbour', 42, '1.0', now(), '{}', '{}')"
    )
    said = person.says("db", "rollback", "--yes", **here)
    assert said.code == 7
    assert "fetch (process 42 on harbour)" in said.err
    assert "Stop them first" in said.err
    assert person.says("db", "status", "--json", **here).json["applied"] == NAMES
    await database.execute("update role_processes set beat_at = now() - interval '1 minute'")
    assert person.says("db", "rollback", "--yes", **here).out == f"took back {NAMES[-1]}\n"


def test_doctor_without_its_database_says_so_and_checks_the_rest(person: Person) -> None:
    here = {"HEADWATER_DATABASE__URL": "postgresql://somebody:hush@127.0.0.1:1/news"}
    said = person.says("doctor", **here)
    assert said.code == 1
    assert "✗ The database postgresql://somebody:***@127.0.0.1:1/news does not answer" in said.out
    assert "what needs the database was not checked" in said.out
    assert "See that PostgreSQL is running" in said.out
    assert "HEADWATER_DATABASE__URL" in said.out
    for checked in ("✓ Python 3.", "✓ Data directory", "HEADWATER_FETCH__CONTACT", "✓ No file of secrets"):
        assert checked in said.out
    assert [one["level"] for one in person.says("doctor", "--json", **here).json["checks"]].count("failure") == 1


def test_a_rollback_has_to_be_meant(person: Person, database_url: str) -> None:
    said = person.says("db", "rollback", HEADWATER_DATABASE__URL=database_url)
    assert said.code == 2
    assert "--yes" in said.err
    assert person.says("db", "status", "--json", HEADWATER_DATABASE__URL=database_url).json["applied"] == NAMES


def test_a_rollback_of_more_than_there_is_takes_back_nothing(person: Person, database_url: str) -> None:
    here = {"HEADWATER_DATABASE__URL": database_url}
    said = person.says("db", "rollback", "--yes", "--steps", "99", **here)
    assert said.code == 2
    assert f"{len(NAMES)} migrations can be taken back, not 99." in said.err
    assert person.says("db", "status", "--json", **here).json["applied"] == NAMES


def test_the_shell_is_psql_and_answers_with_its_code(person: Person, database_url: str) -> None:
    fine = person.says("db", "shell", "--", "-Atc", "select 6 * 7", HEADWATER_DATABASE__URL=database_url)
    wrong = person.says("db", "shell", "--", "-Atc", "select nonsense", HEADWATER_DATABASE__URL=database_url)
    assert (fine.code, fine.out) == (0, "42\n")
    assert wrong.code == 1
    assert "nonsense" in wrong.err


@pytest.mark.parametrize("password", ["pa/ss", "p@:%?# '\"ss", "pässwörd"])
def test_the_shell_hands_on_an_odd_password_as_it_is(person: Person, database_url: str, password: str) -> None:
    address = database_url.replace("headwater@", f"headwater:{password}@", 1)
    asked = ("db", "shell", "--", "-Atc", r"\! printenv PGPASSWORD")
    said = person.says(*asked, HEADWATER_DATABASE__URL=address)
    assert (said.code, said.out) == (0, f"{password}\n")
    assert person.says("db", "status", HEADWATER_DATABASE__URL=address).code == 0


@pytest.mark.long
async def test_beside_another_system_a_schema_is_offered_and_then_used(person: Person, empty_database_url: str) -> None:
    theirs = await asyncpg.connect(empty_database_url)
    await theirs.execute("create table sources (org_name text); insert into sources values ('theirs')")
    password = empty_database_url.replace("headwater@", "headwater:p%20w@", 1)

    async def says(*words: str, **more: str) -> Said:
        return await asyncio.to_thread(person.says, *words, HEADWATER_DATABASE__URL=password, **more)

    for words in (("db", "migrate"), ("sources", "list")):
        refused = await says(*words)
        assert refused.code == 1
        assert "did not make: sources." in refused.err
        assert "HEADWATER_DATABASE__SCHEMA=headwater" in refused.err

    own = {"HEADWATER_DATABASE__SCHEMA": "hw"}
    assert "nothing of Headwater in this database yet" in (await says("sources", "list", **own)).err
    assert (await says("db", "migrate", **own)).code == 0
    added = await says("sources", "add", "https://example.org", "--no-discover", **own)
    assert added.code == 0, added.err
    asked = ("db", "shell", "--", "-Atc", "select url from sources")
    assert (await says(*asked, **own)).out == "https://example.org\n"
    assert (await says("db", "status", "--json", **own)).json["pending"] == []
    assert await theirs.fetchval("select string_agg(org_name, ',') from sources") == "theirs"
    await theirs.close()


@pytest.mark.long
def test_the_embedded_database_may_have_a_schema_too(person: Person) -> None:
    own = {"HEADWATER_DATABASE__SCHEMA": "hw"}
    assert person.says("sources", "add", "https://example.org", "--no-discover", **own).code == 0
    asked = ("db", "shell", "--", "-Atc", "select current_schema(), count(*) from sources")
    assert person.says(*asked, **own).out == "hw|1\n"


@pytest.mark.long
async def test_a_database_of_a_newer_headwater_is_left_alone(
    person: Person, database: Database, database_url: str
) -> None:
    await database.execute(queries.record_migration, 9999, "from_the_future", "0" * 64)
    here = {"HEADWATER_DATABASE__URL": database_url}
    for words in (("db", "migrate"), ("db", "rollback", "--yes")):
        said = await asyncio.to_thread(person.says, *words, **here)
        assert said.code == 1
        assert "newer Headwater" in said.err
        assert "Traceback" not in said.err
    status = await asyncio.to_thread(person.says, "db", "status", "--json", **here)
    assert (status.json["applied"], status.json["unknown"]) == (NAMES, ["9999_from_the_future"])
    assert (await asyncio.to_thread(person.says, "doctor", **here)).code == 1


@pytest.mark.long
async def test_a_migration_killed_half_way_is_done_again(
    person: Person, starts: Starts, empty_database_url: str
) -> None:
    here = {"HEADWATER_DATABASE__URL": empty_database_url}
    ours = await asyncpg.connect(empty_database_url)
    blockade = ours.transaction()
    await blockade.start()
    # A table in the middle of 0005: whoever creates it too has to wait for our transaction.
    await ours.execute("create table discoveries (id integer)")

    migrating = starts("db", "migrate", **here)
    await until_somebody_waits(empty_database_url)
    migrating.kill()
    migrating.wait(LIMIT_SECONDS)
    await blockade.rollback()
    await ours.close()

    again = await asyncio.to_thread(person.says, "db", "migrate", **here)
    assert again.code == 0, again.err
    assert again.out.splitlines() == [f"applied {name}" for name in NAMES[4:]]


@pytest.mark.long
def test_ended_by_sigterm_the_shell_leaves_no_server_behind(person: Person, starts: Starts) -> None:
    shell = open_shell(starts)
    assert person.server_is_running()
    shell.send_signal(signal.SIGTERM)
    assert shell.wait(LIMIT_SECONDS) == 130
    assert not person.server_is_running()
    assert "Traceback" not in shell.communicate(timeout=LIMIT_SECONDS)[1]


@pytest.mark.long
def test_ctrl_c_in_the_shell_is_psqls_and_keeps_the_database(person: Person, starts: Starts) -> None:
    shell = open_shell(starts)
    shell.send_signal(signal.SIGINT)
    assert shell.stdin
    assert shell.stdout
    print("select 'still open';", file=shell.stdin, flush=True)
    assert shell.stdout.readline() == "still open\n"
    shell.communicate(timeout=LIMIT_SECONDS)
    assert shell.returncode == 0
    assert not person.server_is_running()


@pytest.mark.long
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_role_leaves_no_server_behind(person: Person, starts: Starts, told: signal.Signals) -> None:
    role = starts("--set", "log.level=debug", "run", "maintain")
    until(person.server_is_running)
    role.send_signal(told)
    assert role.wait(LIMIT_SECONDS) == 130
    assert not person.server_is_running()
    assert "Traceback" not in role.communicate(timeout=LIMIT_SECONDS)[1]


def open_shell(starts: Starts) -> subprocess.Popen[str]:
    shell = starts("db", "shell", "--", "-At")
    assert shell.stdin
    assert shell.stdout
    print("select 'open';", file=shell.stdin, flush=True)
    assert shell.stdout.readline() == "open\n"
    return shell


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.long
def test_the_simulated_web_ends_when_told(starts: Starts) -> None:
    serving = starts("simweb", "serve", "--publishers", "1", "--port", "0")
    assert serving.stdout
    assert serving.stdout.readline().startswith("http://127.0.0.1:")
    serving.send_signal(signal.SIGTERM)
    assert serving.wait(LIMIT_SECONDS) == 130
    assert "Traceback" not in serving.communicate(timeout=LIMIT_SECONDS)[1]


async def until_somebody_waits(url: str) -> None:
    watching = await asyncpg.connect(url)
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    async with asyncio.timeout(300):
        while not await watching.fetchval(waiting):
            await asyncio.sleep(0.02)
    await watching.close()


async def sessions(database_url: str) -> set[str]:
    connection = await asyncpg.connect(database_url)
    try:
        asked = "select application_name from pg_stat_activity where datname = current_database() and pid <> $1"
        return {row[0] for row in await connection.fetch(asked, connection.get_server_pid())}
    finally:
        await connection.close()


@pytest.mark.long
@pytest.mark.parametrize("words", [("run", "poll"), ("run", "fetch"), ("up", "--quiet"), ("status", "--watch")])
async def test_sessions_are_called_by_the_command_that_opened_them(
    starts: Starts, database_url: str, words: tuple[str, ...]
) -> None:
    command = " ".join(word for word in words if not word.startswith("-"))
    beside = () if command == "status" else (" listener", " heartbeat")
    wanted = {f"headwater {command}{purpose}" for purpose in ("", *beside)}
    process = starts(*words, HEADWATER_DATABASE__URL=database_url)
    async with asyncio.timeout(LIMIT_SECONDS):
        while not wanted <= await sessions(database_url):
            assert process.poll() is None, process.communicate()
            await asyncio.sleep(0.1)
    assert await sessions(database_url) == wanted


@pytest.mark.skipif(BOUNCER is None, reason="pgbouncer is not installed")
async def test_doctor_says_that_a_pooler_is_in_between_and_what_it_lacks(
    person: Person, database_url: str, open_folder: Path
) -> None:
    async with bouncer(open_folder, database_url) as url:

        async def told(**settings: str) -> list[dict[str, str]]:
            given = {"HEADWATER_DATABASE__URL": url, "HEADWATER_FETCH__CONTACT": "mailto:a@example.org", **settings}
            said = await asyncio.to_thread(lambda: person.says("doctor", "--json", **given))
            return [check for check in said.json["checks"] if "pooler" in f"{check}" or "direct_url" in f"{check}"]

        unsaid, unheard = await told()
        assert (unsaid["level"], unheard["level"]) == ("warning", "warning")
        assert "database.pooler = true" in unsaid["fix"]
        assert "database.direct_url" in unheard["fix"]
        said = {"HEADWATER_DATABASE__POOLER": "true"}
        whole = await told(HEADWATER_DATABASE__DIRECT_URL=database_url, **said)
        assert [check["level"] for check in whole] == ["ok", "ok"]
        _, astray = await told(HEADWATER_DATABASE__DIRECT_URL=url, **said)
        assert (astray["level"], astray["says"]) == ("failure", "database.direct_url leads to a connection pooler")


def test_a_data_folder_on_a_full_disk_is_called_that(person: Person, open_folder: Path) -> None:
    with small_disk(open_folder / "disk") as disk:
        (disk / "filler").write_bytes(bytes(7 << 20))
        said = person.says("status", HEADWATER_SERVICE__DATA_DIR=str(disk / "data"))
        assert said.code == 5
        assert "is full" in said.err.splitlines()[0]
        assert "Make room on that disk" in said.err
        assert "Traceback" not in said.err
        check = check_disk(disk / "data")
        assert (check.level, check.says) == ("failure", f"The disk of the data directory {disk / 'data'} is full")


@pytest.mark.skipif(BOUNCER is None, reason="pgbouncer is not installed")
async def test_a_shell_opens_behind_a_pooler_that_nobody_mentioned(
    person: Person, empty_database_url: str, open_folder: Path
) -> None:
    async with bouncer(open_folder, empty_database_url) as url:
        here = {"HEADWATER_DATABASE__URL": url, "HEADWATER_DATABASE__SCHEMA": "hw"}
        said = await asyncio.to_thread(lambda: person.says("db", "shell", "--", "-Atc", "select 'in'", **here))
        past = {"HEADWATER_DATABASE__DIRECT_URL": empty_database_url, **here}
        direct = await asyncio.to_thread(lambda: person.says("db", "shell", "--", "-Atc", "show search_path", **past))
    assert (said.code, said.out) == (0, "in\n")
    assert "write hw.sources" in said.err
    assert direct.out == "hw\n"


@pytest.mark.long
async def test_functions_of_another_version_are_named_refused_and_made_again(
    person: Person, database: Database, database_url: str
) -> None:
    await database.execute("update schema_functions set checksum = 'another' where name in ('legible', 'submit_urls')")
    here = {"HEADWATER_DATABASE__URL": database_url}
    listed = await asyncio.to_thread(person.says, "db", "status", **here)
    assert listed.out.splitlines()[-1] == "stale    functions legible, submit_urls"
    refused = await asyncio.to_thread(person.says, "status", **here)
    assert (refused.code, "2 functions of another Headwater, such as legible" in refused.err) == (1, True)
    mended = await asyncio.to_thread(person.says, "db", "migrate", **here)
    assert (mended.code, "2 functions made." in mended.err) == (0, True)
    assert (await asyncio.to_thread(person.says, "db", "status", "--json", **here)).json["stale_functions"] == []
