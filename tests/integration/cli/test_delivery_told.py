"""What other commands tell of delivery: status, doctor, problems, explain and takedown show."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.archive.shelf import OTHER
from tests.integration.cli.delivery_desk import DeliveryDesk
from tests.integration.cli.file_sink import installed_kinds

A, B = "https://a.example/1", "https://b.example/2"


@pytest.fixture
def desk(database_url: str, open_folder: Path, tmp_path: Path) -> Iterator[DeliveryDesk]:
    place = "tests.integration.cli.file_sink"
    with installed_kinds(tmp_path / "site", filed=f"{place}:FILED", told=f"{place}:TOLD"):
        desk = DeliveryDesk(database_url, open_folder)
        desk.source()
        yield desk


def test_status_tells_the_log_and_every_sink(desk: DeliveryDesk) -> None:
    assert "Delivery  log at 0\n" in desk.says("status").out
    desk.add()
    desk.keep(A, "First")
    desk.deliver()
    desk.beside("index", "down", "Connection refused.")
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    out = desk.says("status").out
    assert "Delivery  log at 2, " in out
    assert "index (filed): retrying, 1 behind for " in out
    assert out.rstrip().count("Connection refused.") == 1
    told = desk.says("status", "--json").json["delivery"]
    assert (told["position"], told["sinks"][0]["standing"], told["sinks"][0]["behind"]) == (2, "retrying", 1)


def test_a_sink_that_is_down_parked_or_disabled_is_a_problem_with_one_action(desk: DeliveryDesk) -> None:
    desk.add()
    desk.beside("index", "refused", "First")
    desk.keep(A, "First")
    desk.deliver()
    desk.execute("UPDATE delivery_failures SET next_try_at = NULL")
    desk.execute("UPDATE sinks SET failures = 3, last_error = 'Connection refused.'")
    told = {one["kind"]: one for one in desk.says("problems", "--json").json["problems"]}
    assert told["sink_down"]["grade"] == "error"
    assert told["sink_down"]["about"] == "sink index"
    assert told["sink_down"]["fix"].endswith("headwater sinks resume index")
    assert told["sink_parked"]["what"].startswith("1 record is parked")
    checks = {one["says"]: one for one in desk.says("doctor", "--json").json["checks"]}
    assert "The log of changes is at position 1; sinks: index down (0 behind)" in checks
    assert any(says.startswith("The sink index takes nothing: Connection refused.") for says in checks)
    desk.execute("UPDATE sinks SET state = 'disabled', state_reason = '410: gone'")
    told = {one["kind"]: one for one in desk.says("problems", "--json").json["problems"]}
    assert told["sink_disabled"]["fix"].endswith("headwater sinks resume index")
    assert "sink_down" not in told


def test_a_paused_sink_that_the_log_left_behind_is_a_problem(desk: DeliveryDesk) -> None:
    desk.add()
    desk.says("sinks", "pause", "index")
    assert not [one for one in desk.says("problems", "--json").json["problems"] if one["about"] == "sink index"]
    desk.keep(A, "First")
    desk.deliver()
    desk.execute("DELETE FROM changes")
    desk.execute("UPDATE change_counter SET oldest_position = 2")
    told = [one["kind"] for one in desk.says("problems", "--json").json["problems"] if one["about"] == "sink index"]
    assert told == ["sink_left_behind"]


def test_changes_that_wait_without_a_role_to_deliver_them_are_an_error(desk: DeliveryDesk) -> None:
    desk.add()
    desk.keep(A, "First")
    assert "nobody delivers" not in desk.says("problems").out, "it may be started in a moment"
    desk.execute("UPDATE outbox SET at = now() - interval '1 hour'")
    said = desk.says("problems").out
    assert "Changes wait for the log and nobody delivers." in said
    assert "run deliver" in said
    assert "Missing   Changes wait for the log and nobody delivers." in desk.says("status").out


@pytest.mark.long
def test_explain_tells_the_way_into_each_sink(desk: DeliveryDesk) -> None:
    desk.says("views", "add", "trains", "--query", "train")
    desk.add("index")
    desk.add("other", "filed", "--view", "trains")
    desk.add("strict")
    desk.add("stopped")
    desk.says("sinks", "pause", "stopped", "--reason", "moving")
    desk.beside("strict", "refused", "First")
    desk.keep(A, "First")
    desk.deliver()
    out = desk.says("explain", A).out
    assert "delivery: in the log at position 1 (version 1), " in out
    assert "delivery: index: delivered as version 1 at " in out
    assert "delivery: other: not for this sink: it is not in the view trains" in out
    assert "delivery: strict: sent, its acknowledgement is not known; refused: mapper_parsing_exception" in out
    assert "delivery: stopped: its last change waits: the sink is paused, moving" in out
    assert desk.says("explain", A, "--json").json["delivery"][0].startswith("in the log at position 1")


def test_a_takedown_is_confirmed_for_each_sink(desk: DeliveryDesk) -> None:
    desk.says("frontier", "add", A, B)
    for name, kind in (("index", "filed"), ("hook", "told"), ("slow", "filed")):
        desk.add(name, kind)
    desk.keep(A, "First")
    desk.keep(B, "Second", OTHER)
    desk.deliver()
    desk.says("sinks", "pause", "slow")
    assert desk.says("takedown", "show", "a.example").code == 4
    desk.says("takedown", "add", "a.example", "--yes", "--reason", "asked by its owner")
    waiting = {one["name"]: one for one in desk.says("takedown", "show", "a.example", "--json").json["sinks"]}
    assert {name: one["held"] for name, one in waiting.items()} == {"index": 1, "hook": 1, "slow": 1}
    desk.deliver()
    out = desk.says("takedown", "show", "a.example").out
    assert ": asked by its owner\n  archive: applied at " in out
    assert "  sink index: it holds nothing of it\n" in out
    assert "  sink hook: every removal was delivered; it was told, but cannot take back: What was told stays" in out
    assert "  sink slow: 1 record of it may still be there; the sink is paused, 1 change behind" in out
    assert desk.titles("index") == {"Second": 1}
