"""`headwater admin`: users, tokens and the audit log from the command line, and passwords that nobody sees."""

import io
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence

CANARY = "canary of a long password"
OTHER = "another canary password"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def test_a_user_is_made_listed_changed_and_removed(desk: Desk) -> None:
    file = desk.file("password.txt", f"{CANARY}\nnot read\n")
    assert "headwater admin create ann" in desk.says("admin", "list").err
    made = desk.says("admin", "create", "ann", "--password-file", file, "--json")
    assert (made.json["name"], made.json["role"], made.json["created_by"]) == ("ann", "admin", "command line")
    said = desk.says("admin", "create", "ben", "--role", "viewer", "--password-file", file)
    assert said.out == "ben may log in as viewer.\n"
    assert desk.says("admin", "edit", "ben", "--role", "operator").out == "ben is operator.\n"
    assert desk.says("admin", "edit", "ben", "--disable").out == "ben is disabled.\n"
    assert desk.says("admin", "edit", "ben", "--enable").out == "ben is operator.\n"
    assert desk.says("admin", "edit", "ben").code == 2
    before = desk.value("select password_hash from web_users where name = 'ben'")
    other = desk.file("other.txt", OTHER)
    assert desk.says("admin", "reset-password", "ben", "--password-file", other).code == 0
    assert desk.value("select password_hash from web_users where name = 'ben'") != before
    page = desk.says("admin", "list", "--limit", "1", "--json").json
    assert ([one["name"] for one in page["users"]], page["cursor"]) == (["ann"], "ann")
    assert "ben   operator" in desk.says("admin", "list").out
    last = desk.says("admin", "rm", "ann")
    assert (last.code, "ann is the last admin." in last.err) == (6, True)
    assert_a_sentence(last)
    assert desk.says("admin", "rm", "ben").code == 0
    assert desk.says("admin", "rm", "ben").code == 4
    lines = desk.says("admin", "audit", "--json").json["audit"]
    assert [one["action"] for one in lines] == [
        "remove_user",
        *["change_user"] * 4,
        "add_user",
        "add_user",
    ]
    assert {one["actor"] for one in lines} == {"command line"}
    everything = desk.says("admin", "audit").out + desk.says("admin", "list").out + str(lines)
    assert CANARY not in everything
    assert OTHER not in everything


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("elevenletter"[:11], "too short"),
        ("", "too short"),
        ("x" * 1_025, "cannot be used"),
        ("twelve\0letters", "cannot be used"),
    ],
)
def test_a_password_that_cannot_be_is_refused_without_being_told(desk: Desk, password: str, why: str) -> None:
    said = desk.says("admin", "create", "ann", "--password-file", desk.file("password.txt", password))
    assert said.code == 2
    assert why in said.err
    assert not password or password not in said.err
    assert_a_sentence(said)


def test_a_file_that_is_none_is_told(desk: Desk) -> None:
    (desk.home / "binary").write_bytes(b"\xff\xfe\xff")
    for name, why in (("gone.txt", "No such file or directory"), ("binary", "it is no text")):
        said = desk.says("admin", "create", "ann", "--password-file", str(desk.home / name))
        assert said.code == 2
        assert why in said.err
        assert_a_sentence(said)


@pytest.mark.parametrize("words", [(), ("--password-file", "-")])
def test_a_password_comes_by_a_pipe(desk: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CANARY}\n"))
    assert desk.says("admin", "create", "ann", *words).code == 0


def test_a_password_is_no_argument(desk: Desk) -> None:
    assert desk.says("admin", "create", "ann", "--password", CANARY).code == 2


def test_a_token_is_printed_once_and_alone(desk: Desk) -> None:
    said = desk.says("admin", "token", "create", "ci", "--role", "operator")
    token = said.out.strip()
    assert token.startswith("hw_")
    assert "until 20" in said.err
    assert "never" not in said.err
    assert desk.says("admin", "token", "create", "ci").code == 2
    forever = desk.says("admin", "token", "create", "backup", "--expires", "never", "--json").json
    assert forever["expires_at"] is None
    assert desk.says("admin", "token", "create", "x", "--expires", "soon").code == 2
    listed = desk.says("admin", "token", "list")
    assert token[:9] in listed.out
    assert token not in listed.out
    assert desk.says("admin", "token", "revoke", "ci").out == "The token ci is revoked.\n"
    assert desk.says("admin", "token", "revoke", forever["id"]).code == 0
    pasted = desk.says("admin", "token", "revoke", token)
    assert pasted.code == 4
    assert token not in pasted.err + pasted.out
    assert [one["revoked_at"] is None for one in desk.says("admin", "token", "list", "--json").json["tokens"]] == [
        False
    ] * 2
    assert token not in str(desk.says("admin", "audit", "--action", "add_token", "--json").json)


def test_the_doctor_says_how_the_web_role_is_protected(desk: Desk) -> None:
    def line() -> str:
        return next(one for one in desk.says("doctor").out.splitlines() if "web role" in one)

    assert line() == "✓ The web role listens on this machine alone (127.0.0.1), and nobody has to log in"
    desk.settings["web.host"] = "0.0.0.0"
    assert line().startswith("✗ The web role does not start: The web role at 0.0.0.0 can be reached by others")
    desk.says("admin", "create", "ann", "--password-file", desk.file("password.txt", CANARY))
    assert line().startswith("! The web role asks everybody to log in: 1 users and 0 tokens hold, 1 of them as admin")
    desk.settings["web.public_url"] = "https://headwater.example"
    assert line().startswith("✓ The web role asks everybody to log in")


def test_the_web_role_does_not_start_for_others_without_an_admin(desk: Desk) -> None:
    said = desk.says("--set", "web.host=0.0.0.0", "--set", "web.port=0", "run", "web")
    assert said.code == 2
    assert "headwater admin create ann" in said.err
    assert_a_sentence(said)
