"""What a person submits by hand is fetched, and they are told what it may do; a list from elsewhere is no such word."""

import json
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk

LOGOUT = "https://a.example/logout"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def test_a_person_who_submits_an_effect_is_told(desk: Desk) -> None:
    said = desk.says("frontier", "add", LOGOUT, "https://a.example/news/how-to-delete-your-account")
    assert said.code == 0
    assert f"queued     {LOGOUT}" in said.out
    assert f"Careful: {LOGOUT} looks as if it did something" in said.err
    assert "how-to-delete" not in said.err
    [told] = desk.says("frontier", "add", LOGOUT, "--json").json["answers"]
    assert told["has_effects"] is True


@pytest.mark.parametrize(
    "row",
    [
        {"url": LOGOUT},
        {"url": "https://a.example/", "feed_url": "https://b.example/posts/1/delete"},
        {"url": "https://a.example/", "sitemap_url": LOGOUT},
        {"url": "https://a.example/", "source_type": "api", "parser_hint": json.dumps({"v": 1, "base_url": LOGOUT})},
    ],
)
def test_an_imported_channel_with_effects_is_rejected(desk: Desk, row: dict[str, str]) -> None:
    file = desk.home / "list.jsonl"
    file.write_text(json.dumps(row))
    said = desk.says("sources", "import", str(file), "--json")
    [invalid] = said.json["invalid"]
    assert "did something when it is fetched" in invalid["reason"]
    assert desk.value("select count(*) from sources") == 0
