"""Everything into a file and out of it again: by the commands that the docs name."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from tests.integration.archive.shelf import LONG, OTHER, page
from tests.integration.cli.desk import Desk, assert_a_sentence
from tests.integration.cli.test_docs import kept, of_source

PROCESS = """
insert into role_processes (id, owner, role, does, host, pid, version, beat_at, counts, failing)
values (gen_random_uuid(), 'poll@here', 'poll', '{poll}', 'here', 1, '0.1.0', now(), '{}', '{}')
"""
A, B = "https://a.example/1", "https://b.example/2"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def beside(desk: Desk) -> Desk:
    """Another database, with nothing in it."""
    name = f"{desk.value('select current_database()')}_restored"
    desk.execute(f'create database "{name}"')
    return Desk(urlunsplit(urlsplit(desk.database_url)._replace(path=f"/{name}")), desk.home)


@pytest.mark.long
def test_what_was_backed_up_is_restored_into_an_empty_database(desk: Desk) -> None:
    source = of_source(desk, "Alpha")
    kept(desk, page(A, LONG, title="Tides", source_id=source), page(B, OTHER))
    desk.says("frontier", "add", A, B, "https://c.example/3")
    desk.execute(PROCESS)
    file = str(desk.home / "headwater.dump")
    said = desk.says("db", "backup", file)
    assert (said.code, "headwater db restore" in said.err) == (0, True), said.err
    restored = beside(desk)
    try:
        said = restored.says("db", "restore", file)
        assert said.code == 0, said.err
        assert restored.says("db", "migrate").code == 0
        for question in (("frontier", "stats"), ("docs", "list"), ("sources", "list"), ("docs", "show", A)):
            told = [one.says(*question, "--json").json for one in (desk, restored)]
            for one in told:
                one.pop("took_ms", None)
            assert told[0] == told[1]
        assert restored.says("audit", "conservation").code == 0
        assert restored.value("select count(*) from role_processes") == 0
        again = restored.says("db", "restore", file)
        assert_a_sentence(again)
        assert again.code == 2
        assert [one.name for one in desk.home.glob("*.dump*")] == ["headwater.dump"]
    finally:
        desk.execute(f'drop database "{urlsplit(restored.database_url).path[1:]}" with (force)')


def test_a_backup_that_cannot_be_written_leaves_nothing(desk: Desk) -> None:
    said = desk.says("db", "backup", str(desk.home / "none" / "headwater.dump"))
    assert (said.code, said.out) == (5, "")
    assert said.err.startswith("headwater: pg_dump failed: ")
    assert not (desk.home / "none").exists()


@pytest.mark.long
def test_a_backup_that_was_cut_off_changes_nothing(desk: Desk) -> None:
    kept(desk, *(page(f"https://a.example/{number}", f"{LONG} {number}") for number in range(50)))
    file = desk.home / "headwater.dump"
    desk.says("db", "backup", str(file))
    (desk.home / "cut.dump").write_bytes(file.read_bytes()[:-5_000])
    empty = beside(desk)
    try:
        said = empty.says("db", "restore", str(desk.home / "cut.dump"))
        assert (said.code, "failed: " in said.err) == (5, True), said.err
        assert empty.value("select count(*) from pg_tables where schemaname = 'public'") == 0
    finally:
        desk.execute(f'drop database "{urlsplit(empty.database_url).path[1:]}" with (force)')


def test_a_file_that_is_not_there_is_refused(desk: Desk) -> None:
    said = desk.says("db", "restore", str(desk.home / "none"))
    assert_a_sentence(said)
    assert said.code == 2


@pytest.mark.long
def test_a_file_that_is_no_backup_changes_nothing(desk: Desk) -> None:
    empty = beside(desk)
    try:
        (desk.home / "nonsense").write_text("select 1;")
        said = empty.says("db", "restore", str(desk.home / "nonsense"))
        assert said.code == 5
        assert "pg_restore failed" in said.err
        assert empty.value("select count(*) from pg_tables where schemaname = 'public'") == 0
    finally:
        desk.execute(f'drop database "{urlsplit(empty.database_url).path[1:]}" with (force)')
