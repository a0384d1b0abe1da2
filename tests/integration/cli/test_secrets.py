"""A list from elsewhere may name our secrets, but says nothing about where they go."""

import json
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence

CANARY = "canary-of-ours"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    file = open_folder / "secrets.txt"
    file.write_text(f"MINE@https://api.example={CANARY}\nLOOSE={CANARY}\n")
    file.chmod(0o600)
    return Desk(database_url, open_folder, {"poll.secrets_file": str(file)})


def recipe(base_url: str, name: str = "MINE") -> str:
    auth = {"type": "bearer", "token": f"{{{{SECRET:{name}}}}}"}
    return json.dumps({"v": 1, "base_url": base_url, "path": "/v1/jobs", "auth": auth})


def added(desk: Desk, base_url: str, name: str = "MINE") -> tuple[int, str]:
    hint = ("--no-discover", "--api", "--parser-hint", recipe(base_url, name))
    said = desk.says("sources", "add", "https://api.example/", *hint)
    assert CANARY not in said.out + said.err
    return said.code, said.err


REFUSED = [
    (
        "https://stranger.example",
        "MINE",
        "is bound to https://api.example, and is not sent to https://stranger.example",
    ),
    ("https://api.example:8443", "MINE", "not sent to https://api.example:8443"),
    ("http://api.example", "MINE", "secrets go over https only"),
    ("https://api.example", "LOOSE", "write LOOSE@https://api.example=… in poll.secrets_file"),
]


@pytest.mark.parametrize(("base_url", "name", "why"), REFUSED)
def test_a_source_whose_recipe_misuses_a_secret_is_not_added(desk: Desk, base_url: str, name: str, why: str) -> None:
    code, err = added(desk, base_url, name)
    assert code == 2
    assert why in err
    assert desk.value("select count(*) from sources") == 0


@pytest.mark.parametrize(("base_url", "name", "why"), REFUSED)
def test_an_imported_recipe_that_misuses_a_secret_is_rejected_with_the_reason(
    desk: Desk, base_url: str, name: str, why: str
) -> None:
    """Input 151."""
    row = {"url": "https://api.example/", "source_type": "api", "parser_hint": recipe(base_url, name)}
    file = desk.home / "from-elsewhere.jsonl"
    file.write_text(json.dumps(row))
    said = desk.says("sources", "import", str(file), "--json")
    assert said.code == 3
    [invalid] = said.json["invalid"]
    assert why in invalid["reason"]
    assert desk.value("select count(*) from sources") == 0


@pytest.mark.parametrize(("base_url", "name", "why"), REFUSED)
def test_a_recipe_cannot_be_edited_into_misusing_a_secret(desk: Desk, base_url: str, name: str, why: str) -> None:
    assert added(desk, "https://api.example")[0] == 0
    said = desk.says("sources", "edit", "https://api.example/", f"parser_hint={recipe(base_url, name)}")
    assert said.code == 2
    assert why in said.err
    assert "stranger" not in desk.value("select string_agg(recipe::text, '') from channels")


def test_a_file_of_secrets_that_is_not_understood_stops_the_command_without_its_values(desk: Desk) -> None:
    Path(desk.settings["poll.secrets_file"]).write_text(f"MINE@api.example={CANARY}\n")
    said = desk.says("sources", "add", "https://api.example/", "--api", "--parser-hint", recipe("https://api.example"))
    assert said.code == 2
    assert "line 1" in said.err
    assert CANARY not in said.err
    assert_a_sentence(said)


def test_a_file_of_secrets_that_is_missing_is_told_as_such(desk: Desk) -> None:
    desk.settings["poll.secrets_file"] = str(desk.home / "gone.txt")
    for words in (("config", "check"), ("sources", "add", "https://api.example/", "--api", "--parser-hint", "{}")):
        said = desk.says(*words)
        assert said.code == 2
        assert "gone.txt cannot be read: No such file or directory." in said.err
        assert "correct poll.secrets_file" in said.err
        assert_a_sentence(said)
