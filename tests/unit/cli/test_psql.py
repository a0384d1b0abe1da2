"""`db shell`: the password reaches psql whole, and nobody else."""

from pathlib import Path
from urllib.parse import quote

import pytest

from headwater.cli.psql import command_for
from headwater.database.translate import with_escapes

ODD = [
    *("pa/ss", "p@ss", "p:ss", "p%ss", "p?ss", "p#ss", "p ss", "p'ss", 'p"ss', "pässwörd", "p&a=b", "p+ss", "[p]", "%"),
    *("12/34", "a@b/c", "/", "@", "://", "p/a?b#c@d:e", "p@:%?# x", "пароль", "\\p"),
]


@pytest.mark.parametrize("password", ODD)
@pytest.mark.parametrize("place", ["h/db", "h:5433/db?sslmode=require", "[::1]:5432/db", "/db?host=/tmp/socket"])
def test_an_odd_password_reaches_psql_whole_and_only_in_the_environment(password: str, place: str) -> None:
    for written in (password, quote(password, safe="")):
        command, environment = command_for(Path("psql"), with_escapes(f"postgresql://us:{written}@{place}"))
        assert environment["PGPASSWORD"] == password
        assert command == ["psql", f"postgresql://us@{place.replace('/tmp/socket', '%2Ftmp%2Fsocket')}"] or (
            command == ["psql", f"postgresql://us@{place}"]
        )


def test_a_password_that_is_a_parameter_is_not_on_the_command_line_either() -> None:
    command, environment = command_for(Path("psql"), "postgresql://us@h/db?password=p%2Fss&sslmode=require")
    assert command == ["psql", "postgresql://us@h/db?sslmode=require"]
    assert environment["PGPASSWORD"] == "p/ss"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://h/db?application_name=a@b",
        "postgresql://h:5432/db?application_name=a@b",
        "postgresql:///db?host=/tmp&application_name=a@b",
        "postgresql://us@h/db",
        "postgresql://us:secret@h/db?application_name=a@b",
        "postgresql://us:p%2Fss@h/db",
        "host=h password=p/ss@x",
        "postgresql://us:secret@h:5432,[::1]:5433/db",
    ],
)
def test_an_address_that_is_written_well_stays_as_it_is(dsn: str) -> None:
    assert with_escapes(dsn) == dsn
