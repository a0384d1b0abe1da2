"""`headwater changes`: the log in a terminal and for programs."""

import json
from pathlib import Path

import pytest
from tests.integration.archive.shelf import OTHER
from tests.integration.cli.conftest import Starts
from tests.integration.cli.delivery_desk import DeliveryDesk

A, B = "https://a.example/1", "https://b.example/2"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> DeliveryDesk:
    desk = DeliveryDesk(database_url, open_folder)
    desk.source()
    return desk


def test_an_empty_log_says_who_fills_it(desk: DeliveryDesk) -> None:
    said = desk.says("changes")
    assert (said.code, said.out) == (0, "")
    assert "Nothing has changed yet: the log is empty." in said.err


def test_the_log_is_told_in_lines_and_as_objects(desk: DeliveryDesk) -> None:
    desk.keep(A, "First")
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    desk.on_shelf(lambda shelf: shelf.tombstone(B))
    desk.deliver()
    first, second, third = desk.says("changes").out.splitlines()
    assert first.split()[0] == "1"
    assert first.endswith(f"v1  First  {A}")
    assert "remove" in second
    assert third.split()[0] == "3"
    told = [json.loads(line) for line in desk.says("changes", "--after", "0", "--json").out.splitlines()]
    assert [(one["position"], one["op"]) for one in told] == [(1, "upsert"), (2, "remove"), (3, "remove")]
    assert told[0]["record"]["title"] == "First"
    assert "text" not in told[0]["record"]
    whole = desk.says("changes", "--after", "0", "--limit", "1", "--json", "--text")
    assert "text" in json.loads(whole.out)["record"]
    assert "More: add --after 1" in whole.err
    assert "Nothing has changed after position 3." in desk.says("changes", "--after", "3").err


def test_a_lost_position_leads_to_a_full_export(desk: DeliveryDesk) -> None:
    said = desk.says("changes", "--after", "7")
    assert said.code == 4
    assert "`headwater docs export` and `headwater jobs export` write all that there is." in said.err
    assert desk.says("changes", "--view", "nothing").code == 4


@pytest.mark.long
def test_follow_prints_what_comes_until_it_is_interrupted(desk: DeliveryDesk, starts: Starts) -> None:
    desk.keep(A, "First")
    desk.deliver()
    process = starts("--set", f"database.url={desk.database_url}", "changes", "--follow", "--json")
    assert process.stdout
    assert json.loads(process.stdout.readline())["position"] == 1
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    assert json.loads(process.stdout.readline())["record"]["title"] == "Second"
    process.terminate()
    assert process.wait(20) == 130
    assert process.stdout.read() == ""
