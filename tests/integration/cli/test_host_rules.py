"""`headwater hosts rules`: which URLs of a host are one page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk, assert_a_sentence

from headwater.urls.rules import use_rules


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Iterator[Desk]:
    yield Desk(database_url, open_folder)
    use_rules({})


def submitted(desk: Desk, *urls: str) -> list[str]:
    said = desk.says("frontier", "add", *urls, "--json")
    assert said.code == 0, said.err
    return [answer["outcome"] for answer in said.json["answers"]]


def test_without_rules_it_says_how_to_set_some(desk: Desk) -> None:
    said = desk.says("hosts", "rules", "list")
    assert (said.code, said.out) == (0, "")
    assert "headwater hosts rules set" in said.err


def test_rules_are_set_one_by_one_and_hold_for_the_next_command(desk: Desk) -> None:
    assert desk.says("hosts", "rules", "set", "Board.Example", "--keep", "ref", "--keep", "pos").code == 0
    said = desk.says("hosts", "rules", "set", "board.example", "--strip", "sid", "--keep-slash", "--json")
    [told] = said.json["rules"]
    assert told == {
        "host": "board.example",
        "keep_slash": True,
        "keep": ["pos", "ref"],
        "strip": ["sid"],
        "is_applied": False,
    }
    urls = [f"https://board.example/job{slash}?ref={n}&sid={n}" for n in (1, 2) for slash in ("", "/")]
    assert submitted(desk, *urls) == ["queued"] * 4
    assert submitted(desk, "https://board.example/job?ref=1&sid=9") == ["duplicate"]
    assert "are being keyed anew" in desk.says("hosts", "rules", "list").out
    assert desk.says("hosts", "rules", "clear", "board.example", "--json").json["rules"][0]["keep"] == []


def test_clearing_a_host_without_rules_is_refused_by_its_name(desk: Desk) -> None:
    desk.says("hosts", "rules", "set", "board.example", "--strip", "sid")
    said = desk.says("hosts", "rules", "clear", "bord.example")
    assert said.code == 4
    assert "No URL rules are set for bord.example." in said.err
    assert "headwater hosts rules list" in said.err
    assert "bord.example" not in desk.says("hosts", "rules", "list").out
    assert desk.says("hosts", "rules", "clear", "board.example").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("set", "not a host", "--strip", "sid"),
        ("set", "a.example", "--strip", "a=b"),
        ("set", "a.example", "--strip", "x", "--keep", "X"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(desk: Desk, words: tuple[str, ...]) -> None:
    said = desk.says("hosts", "rules", *words)
    assert said.code == 2
    assert_a_sentence(said)
