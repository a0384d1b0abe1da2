import pytest

from headwater.database.applied import Applied
from headwater.database.migrate import (
    Migration,
    compare,
    known_migrations,
    parse_migrations,
    require_understood,
)
from headwater.errors import MigrationFailed

ONE = Migration(1, "one", up="create table one ()", down="drop table one")
TWO = Migration(2, "two", up="create table two ()", down="drop table two")


def applied(migration: Migration) -> Applied:
    return Applied(migration.number, migration.name, migration.checksum)


def test_files_become_migrations_in_order_of_their_numbers() -> None:
    files = {"0010_b.up.sql": "B", "0010_b.down.sql": "-B", "0002_a.down.sql": "-A", "0002_a.up.sql": "A"}
    assert parse_migrations(files) == (Migration(2, "a", "A", "-A"), Migration(10, "b", "B", "-B"))


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["0001_a.up.sql"], "0001_a needs both"),
        (["0001_a.up.sql", "0001_b.down.sql"], "Two migrations have the number 0001"),
        (["1_a.up.sql"], "not named like a migration"),
        (["notes.sql"], "not named like a migration"),
    ],
)
def test_badly_named_files_are_refused(names: list[str], complaint: str) -> None:
    with pytest.raises(MigrationFailed, match=complaint):
        parse_migrations(dict.fromkeys(names, ""))


def test_line_endings_do_not_change_a_checksum() -> None:
    (unix,) = parse_migrations({"0001_a.up.sql": "a;\nb;\n", "0001_a.down.sql": ""})
    (windows,) = parse_migrations({"0001_a.up.sql": "a;\r\nb;\r\n", "0001_a.down.sql": ""})
    assert unix.checksum == windows.checksum


def test_what_is_not_in_the_ledger_is_pending() -> None:
    found = compare([ONE, TWO], [applied(ONE)])
    assert (found.applied, found.pending, found.unknown, found.changed) == ((ONE,), (TWO,), (), ())
    require_understood(found)


def test_a_database_of_a_newer_headwater_is_refused() -> None:
    found = compare([ONE], [applied(ONE), applied(TWO)])
    with pytest.raises(MigrationFailed, match=r"made by a newer Headwater: its migration 0002_two"):
        require_understood(found)


def test_a_migration_changed_after_it_was_applied_is_refused() -> None:
    found = compare([ONE], [Applied(1, "one", "another checksum")])
    with pytest.raises(MigrationFailed, match="0001_one was changed after it was applied"):
        require_understood(found)


def test_our_own_numbers_have_no_gap() -> None:
    assert [one.number for one in known_migrations()] == list(range(1, len(known_migrations()) + 1))
